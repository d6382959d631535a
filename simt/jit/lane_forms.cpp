// SPDX-License-Identifier: Apache-2.0
// Lane mode: what lane IR leaves open becomes code for one lane on its own fiber.
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "simt/jit/machine_calls.h"

namespace strata::simt {
namespace {

using llvm::CallInst;
using llvm::IRBuilder;
using llvm::StringRef;
using llvm::Value;

// Kind in the table of collectives (lane_ir.md), or -1.
int collectiveKind(StringRef name) {
  return llvm::StringSwitch<int>(name)
      .Case("shfl.idx", 0)
      .Case("shfl.up", 1)
      .Case("shfl.down", 2)
      .Case("shfl.bfly", 3)
      .Case("vote.all", 4)
      .Case("vote.any", 5)
      .Case("vote.uni", 6)
      .Case("vote.ballot", 7)
      .Cases("match.any.i32", "match.any.i64", 8)
      .Cases("match.all.i32", "match.all.i64", 9)
      .Case("redux.add", 10)
      .Case("redux.umin", 11)
      .Case("redux.umax", 12)
      .Case("redux.smin", 13)
      .Case("redux.smax", 14)
      .Case("redux.and", 15)
      .Case("redux.or", 16)
      .Case("redux.xor", 17)
      .Case("warpsync", 18)
      .Case("elect", 19)
      .Case("activemask", 20)
      .Default(-1);
}

class LaneForms {
public:
  explicit LaneForms(llvm::Function &f) : function_(f), warp_(f.getArg(0)) {}
  // False: unknown name.
  bool expand(StringRef name, CallInst &call);
  void leaveAfterCalls();
  void yieldInWaitingLoops();
  void gatherAtFences();

private:
  Value *field(IRBuilder<> &b, Value *base, std::uint64_t offset, llvm::Type *type);
  Value *lane(IRBuilder<> &b);
  Value *threadIndex(IRBuilder<> &b, unsigned dimension);
  Value *collective(IRBuilder<> &b, unsigned kind, CallInst &call);
  void checkAligned(CallInst &call);
  void exit(CallInst &call);
  // The same call as strata.w.<name>(warp, lanes, operands…).
  Value *machine(IRBuilder<> &b, StringRef name, Value *lanes, llvm::ArrayRef<Value *> operands, llvm::Type *type);
  void fault(IRBuilder<> &b, FaultKind kind, Value *address);

  llvm::Function &function_;
  Value *warp_;
};

Value *LaneForms::field(IRBuilder<> &b, Value *base, std::uint64_t offset, llvm::Type *type) {
  llvm::LoadInst *load = b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  return load;
}

Value *LaneForms::lane(IRBuilder<> &b) {
  auto *load = llvm::cast<llvm::LoadInst>(field(b, warp_, offsetof(Warp, lane), b.getInt32Ty()));
  load->setMetadata(llvm::LLVMContext::MD_range,
                    llvm::MDBuilder(b.getContext()).createRange(llvm::APInt(32, 0), llvm::APInt(32, kWarpSize)));
  return load;
}

Value *LaneForms::threadIndex(IRBuilder<> &b, unsigned dimension) {
  Value *launch = field(b, field(b, warp_, offsetof(Warp, block), b.getPtrTy()), offsetof(Block, launch), b.getPtrTy());
  const auto extent = [&](unsigned d) {
    return field(b, launch, offsetof(LaunchState, blockDim) + 4 * d, b.getInt32Ty());
  };
  Value *warpIndex = field(b, warp_, offsetof(Warp, index), b.getInt32Ty());
  Value *rest = b.CreateAdd(b.CreateMul(warpIndex, b.getInt32(kWarpSize)), lane(b));
  if (dimension == 0) return b.CreateURem(rest, extent(0));
  rest = b.CreateUDiv(rest, extent(0));
  return dimension == 1 ? b.CreateURem(rest, extent(1)) : b.CreateUDiv(rest, extent(1));
}

// laneCollective(warp, kind, mask, value, b, c, &predicate)
Value *LaneForms::collective(IRBuilder<> &b, unsigned kind, CallInst &call) {
  llvm::Type *i32 = b.getInt32Ty();
  const auto operand = [&](unsigned i, llvm::Type *type) -> Value * {
    return i < call.arg_size() ? b.CreateZExt(call.getArgOperand(i), type) : llvm::Constant::getNullValue(type);
  };
  IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  Value *predicate = entry.CreateAlloca(i32);
  b.CreateStore(b.getInt32(0), predicate);
  Value *r = callRuntime(b, warp_, offsetof(Runtime, laneCollective), b.getInt64Ty(),
                         {warp_, b.getInt32(kind), operand(0, i32), operand(1, b.getInt64Ty()), operand(2, i32),
                          operand(3, i32), predicate});
  llvm::Type *type = call.getType();
  if (type->isVoidTy()) return nullptr;
  if (type->isIntegerTy(1)) return b.CreateICmpNE(r, b.getInt64(0));
  if (type->isIntegerTy()) return b.CreateTrunc(r, type);
  Value *pair = b.CreateInsertValue(llvm::PoisonValue::get(type), b.CreateTrunc(r, i32), 0);
  return b.CreateInsertValue(pair, b.CreateICmpNE(b.CreateLoad(i32, predicate), b.getInt32(0)), 1);
}

Value *LaneForms::machine(IRBuilder<> &b, StringRef name, Value *lanes, llvm::ArrayRef<Value *> operands,
                          llvm::Type *type) {
  llvm::SmallVector<Value *, 8> args{warp_, lanes};
  args.append(operands.begin(), operands.end());
  llvm::SmallVector<llvm::Type *, 8> types;
  for (Value *a : args) types.push_back(a->getType());
  llvm::Module &module = *function_.getParent();
  return b.CreateCall(
      module.getOrInsertFunction(("strata.w." + name).str(), llvm::FunctionType::get(type, types, false)), args);
}

void LaneForms::fault(IRBuilder<> &b, FaultKind kind, Value *address) {
  Value *lanes = b.CreateShl(b.getInt32(1), lane(b));
  machine(b, "fault", lanes, {b.getInt32(static_cast<std::uint32_t>(kind)), address}, b.getVoidTy());
}

void LaneForms::checkAligned(CallInst &call) {
  IRBuilder<> b(&call);
  Value *address = call.getArgOperand(0);
  Value *mask = b.CreateZExt(b.CreateSub(call.getArgOperand(1), b.getInt32(1)), b.getInt64Ty());
  Value *misaligned = b.CreateICmpNE(b.CreateAnd(address, mask), b.getInt64(0));
  llvm::MDNode *weights = llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights();
  llvm::Instruction *then = llvm::SplitBlockAndInsertIfThen(misaligned, &call, true, weights);
  IRBuilder<> cold(then);
  cold.SetCurrentDebugLocation(call.getDebugLoc());
  fault(cold, FaultKind::misalignedAddress, address);
}

// In a function that is not inlined: note that the lane is gone, and return; callers look at the note.
void LaneForms::exit(CallInst &call) {
  IRBuilder<> b(&call);
  b.CreateStore(b.getInt32(1), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), warp_, offsetof(Warp, exited)));
  llvm::BasicBlock *block = call.getParent();
  block->splitBasicBlock(call.getNextNode());
  block->getTerminator()->eraseFromParent();
  b.SetInsertPoint(block);
  llvm::Type *type = function_.getReturnType();
  if (type->isVoidTy()) b.CreateRetVoid();
  else b.CreateRet(llvm::Constant::getNullValue(type));
}

bool LaneForms::expand(StringRef name, CallInst &call) {
  IRBuilder<> b(&call);
  Value *v = nullptr;
  const int kind = collectiveKind(name);
  if (kind >= 0) v = collective(b, static_cast<unsigned>(kind), call);
  else if (name == "lane") v = lane(b);
  else if (name == "tid.x" || name == "tid.y" || name == "tid.z")
    v = threadIndex(b, static_cast<unsigned>(name.back() - 'x'));
  else if (name == "check.aligned") checkAligned(call);
  else if (name == "trap") fault(b, FaultKind::trap, b.getInt64(0));
  else if (name == "fault")
    fault(b, static_cast<FaultKind>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue()),
          b.getInt64(0));
  else if (name == "exit") exit(call);
  else {  // the rest has the same operands in both forms
    llvm::SmallVector<Value *, 6> operands(call.args());
    Value *lanes = name.starts_with("rt.") ? lane(b) : b.CreateShl(b.getInt32(1), lane(b));
    llvm::Type *type = call.getType();
    if (name.starts_with("barrier.red.")) {
      operands[2] = b.CreateShl(b.CreateZExt(operands[2], b.getInt32Ty()), lane(b));
      Value *r = machine(b, name, lanes, operands, b.getInt32Ty());
      v = type->isIntegerTy(1) ? b.CreateICmpNE(r, b.getInt32(0)) : r;
    } else {
      static const StringRef known[] = {"barrier",    "barrier.arrive", "cluster.arrive", "cluster.wait",
                                        "nanosleep",  "yield",          "clock",          "globaltimer",
                                        "rt.vprintf", "rt.assertfail",  "rt.malloc",      "rt.free"};
      if (!llvm::is_contained(known, name)) return false;
      v = machine(b, name, lanes, operands, type);
    }
  }
  if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(v);
  call.eraseFromParent();
  return true;
}

// After a call of a lane function: if the lane has exited in it, return.
void LaneForms::leaveAfterCalls() {
  std::vector<CallInst *> calls;
  for (llvm::Instruction &i : llvm::instructions(function_))
    if (auto *call = llvm::dyn_cast<CallInst>(&i))
      if (call->getCalledFunction() && call->getCalledFunction()->hasFnAttribute("strata.function"))
        calls.push_back(call);
  for (CallInst *call : calls) {
    IRBuilder<> b(call->getNextNode());
    Value *exited =
        b.CreateLoad(b.getInt32Ty(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), warp_, offsetof(Warp, exited)));
    llvm::Instruction *then =
        llvm::SplitBlockAndInsertIfThen(b.CreateICmpNE(exited, b.getInt32(0)), &*b.GetInsertPoint(), true);
    IRBuilder<> leave(then);
    if (function_.getReturnType()->isVoidTy()) leave.CreateRetVoid();
    else leave.CreateRet(llvm::Constant::getNullValue(function_.getReturnType()));
    then->eraseFromParent();
  }
}

// Lanes are fibers that only switch in calls: a loop that looks at memory others write must let them run.
void LaneForms::yieldInWaitingLoops() {
  llvm::DominatorTree dominators(function_);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    const auto waits = [](llvm::Instruction &i) {
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) return load->isVolatile() || load->isAtomic();
      return llvm::isa<llvm::AtomicRMWInst>(i) || llvm::isa<llvm::AtomicCmpXchgInst>(i);
    };
    const bool looks =
        llvm::any_of(loop->blocks(), [&](llvm::BasicBlock *block) { return llvm::any_of(*block, waits); });
    if (!looks) continue;
    llvm::SmallVector<llvm::BasicBlock *, 4> latches;
    loop->getLoopLatches(latches);
    for (llvm::BasicBlock *latch : latches) {
      IRBuilder<> b(latch->getTerminator());
      machine(b, "yield", b.CreateShl(b.getInt32(1), lane(b)), {}, b.getVoidTy());
    }
  }
}

// Warps that run in step pass a fence only when all their lanes have done what comes before it, and programs rely on
// it: all lanes write, and after a fence one of them releases the lock. So the others get to come here first.
void LaneForms::gatherAtFences() {
  for (llvm::Instruction &i : llvm::instructions(function_)) {
    if (!llvm::isa<llvm::FenceInst>(i)) continue;
    IRBuilder<> b(&i);
    machine(b, "yield", b.CreateShl(b.getInt32(1), lane(b)), {}, b.getVoidTy());
  }
}

}  // namespace

Result<void> expandLaneForms(llvm::Module &module) {
  for (llvm::Function &f : module) {
    if (f.isDeclaration()) continue;
    LaneForms forms(f);
    forms.yieldInWaitingLoops();
    forms.gatherAtFences();
    if (module.getFunction("strata.exit")) forms.leaveAfterCalls();
  }
  for (llvm::Function &declaration : llvm::make_early_inc_range(module)) {
    StringRef name = declaration.getName();
    if (!declaration.isDeclaration() || !name.consume_front("strata.") || name.starts_with("w.") ||
        declaration.hasFnAttribute("strata.elementwise"))
      continue;
    for (llvm::User *user : llvm::make_early_inc_range(declaration.users())) {
      auto *call = llvm::cast<CallInst>(user);
      if (!LaneForms(*call->getFunction()).expand(name, *call))
        return internalError("no lane form of strata." + name.str());
    }
    declaration.eraseFromParent();
  }
  return {};
}

}  // namespace strata::simt
