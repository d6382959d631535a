// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/lane_forms.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "simt/emit/runtime_call.h"

namespace strata::simt {
namespace {

using llvm::CallInst;
using llvm::IRBuilder;
using llvm::StringRef;
using llvm::Value;

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
  // Through the table, by the row.
  Value *runtime(IRBuilder<> &b, const IntrinsicRow &row, CallInst &call);
  void yield(IRBuilder<> &b) { callRuntime(b, warp_, offsetof(Runtime, yield), b.getVoidTy(), {warp_}); }
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

Value *LaneForms::runtime(IRBuilder<> &b, const IntrinsicRow &row, CallInst &call) {
  return callRuntime(b, warp_, row, call.getType(), [&](char letter) -> Value * {
    switch (letter) {
      case 'n': return lane(b);
      case 'l': return b.CreateShl(b.getInt32(1), lane(b));
      case 'p': return b.CreateShl(b.CreateZExt(call.getArgOperand(2), b.getInt32Ty()), lane(b));
      default: return call.getArgOperand(static_cast<unsigned>(letter - '0'));
    }
  });
}

void LaneForms::fault(IRBuilder<> &b, FaultKind kind, Value *address) {
  Value *lanes = b.CreateShl(b.getInt32(1), lane(b));
  CallInst *call = callRuntime(b, warp_, offsetof(Runtime, fault), b.getVoidTy(),
                               {warp_, b.getInt32(static_cast<std::uint32_t>(kind)), lanes, address});
  call->addFnAttr(llvm::Attribute::NoReturn);
  call->addFnAttr(llvm::Attribute::Cold);
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
  const IntrinsicRow *row = rowOf(std::string_view(name));
  if (!row) return false;
  IRBuilder<> b(&call);
  Value *v = nullptr;
  if (row->kind >= 0) {
    v = collective(b, static_cast<unsigned>(row->kind), call);
  } else if (row->slot >= 0) {
    v = runtime(b, *row, call);
  } else {
    switch (row->id) {
      case LaneIntrinsic::lane: v = lane(b); break;
      case LaneIntrinsic::tidX: v = threadIndex(b, 0); break;
      case LaneIntrinsic::tidY: v = threadIndex(b, 1); break;
      case LaneIntrinsic::tidZ: v = threadIndex(b, 2); break;
      case LaneIntrinsic::clock: v = b.CreateIntrinsic(llvm::Intrinsic::readcyclecounter, {}, {}); break;
      case LaneIntrinsic::checkAligned: checkAligned(call); break;
      case LaneIntrinsic::trap: fault(b, FaultKind::trap, b.getInt64(0)); break;
      case LaneIntrinsic::fault:
        fault(b, static_cast<FaultKind>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue()),
              b.getInt64(0));
        break;
      case LaneIntrinsic::exit: exit(call); break;
      default: return false;
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
      yield(b);
    }
  }
}

// Warps that run in step pass a fence only when all their lanes have done what comes before it, and programs rely on
// it: all lanes write, and after a fence one of them releases the lock. So the others get to come here first.
void LaneForms::gatherAtFences() {
  for (llvm::Instruction &i : llvm::instructions(function_)) {
    if (!llvm::isa<llvm::FenceInst>(i)) continue;
    IRBuilder<> b(&i);
    yield(b);
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
    if (!declaration.isDeclaration() || !name.consume_front("strata.") ||
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
