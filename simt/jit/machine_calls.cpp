// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/machine_calls.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

namespace strata::simt {

using llvm::Value;

llvm::CallInst *callRuntime(llvm::IRBuilder<> &b, Value *warp, std::size_t slot, llvm::Type *result,
                            llvm::ArrayRef<Value *> args) {
  const auto loadPointer = [&](Value *base, std::size_t offset) {
    llvm::LoadInst *load = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    return load;
  };
  Value *block = loadPointer(warp, offsetof(Warp, block));
  Value *launch = loadPointer(block, offsetof(Block, launch));
  Value *table = loadPointer(launch, offsetof(LaunchState, runtime));
  llvm::SmallVector<llvm::Type *, 8> types;
  for (Value *a : args) types.push_back(a->getType());
  llvm::CallInst *call = b.CreateCall(llvm::FunctionType::get(result, types, false), loadPointer(table, slot), args);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

namespace {

// The value of strata.w.<name>(warp, lanes, operands…), or null if there is no such.
Value *expandOne(llvm::IRBuilder<> &b, llvm::StringRef name, llvm::CallInst &call) {
  Value *warp = call.getArgOperand(0), *lanes = call.getArgOperand(1);
  const auto arg = [&](unsigned i) { return call.getArgOperand(i + 2); };
  llvm::Type *none = b.getVoidTy(), *i32 = b.getInt32Ty();
  const auto reduce = [&](unsigned op) {
    return callRuntime(b, warp, offsetof(Runtime, barrierReduce), i32,
                       {warp, arg(0), arg(1), lanes, arg(2), b.getInt32(op)});
  };
  if (name == "barrier") return callRuntime(b, warp, offsetof(Runtime, barrier), none, {warp, arg(0), arg(1), lanes});
  if (name == "barrier.arrive")
    return callRuntime(b, warp, offsetof(Runtime, barrierArrive), none, {warp, arg(0), arg(1), lanes});
  if (name == "barrier.red.popc") return reduce(0);
  if (name == "barrier.red.and") return reduce(1);
  if (name == "barrier.red.or") return reduce(2);
  if (name == "cluster.arrive") return callRuntime(b, warp, offsetof(Runtime, clusterArrive), none, {warp, lanes});
  if (name == "cluster.wait") return callRuntime(b, warp, offsetof(Runtime, clusterWait), none, {warp, lanes});
  if (name == "yield") return callRuntime(b, warp, offsetof(Runtime, yield), none, {warp});
  if (name == "nanosleep") return callRuntime(b, warp, offsetof(Runtime, nanosleep), none, {warp, arg(0)});
  if (name == "clock") return b.CreateIntrinsic(llvm::Intrinsic::readcyclecounter, {}, {});
  if (name == "globaltimer") return callRuntime(b, warp, offsetof(Runtime, globaltimer), b.getInt64Ty(), {});
  if (name == "rt.vprintf") return callRuntime(b, warp, offsetof(Runtime, vprintf), i32, {warp, lanes, arg(0), arg(1)});
  if (name == "rt.assertfail")
    return callRuntime(b, warp, offsetof(Runtime, assertFail), none,
                       {warp, lanes, arg(0), arg(1), arg(2), arg(3), arg(4)});
  if (name == "rt.malloc") return callRuntime(b, warp, offsetof(Runtime, malloc), b.getPtrTy(), {warp, arg(0)});
  if (name == "rt.free") return callRuntime(b, warp, offsetof(Runtime, free), none, {warp, arg(0)});
  if (name != "fault") return nullptr;
  llvm::CallInst *fault = callRuntime(b, warp, offsetof(Runtime, fault), none, {warp, arg(0), lanes, arg(1)});
  fault->addFnAttr(llvm::Attribute::NoReturn);
  fault->addFnAttr(llvm::Attribute::Cold);
  return fault;
}

}  // namespace

Result<void> expandMachineCalls(llvm::Module &module) {
  for (llvm::Function &f : llvm::make_early_inc_range(module)) {
    llvm::StringRef name = f.getName();
    if (!f.isDeclaration() || !name.consume_front("strata.w.")) continue;
    for (llvm::User *user : llvm::make_early_inc_range(f.users())) {
      auto *call = llvm::cast<llvm::CallInst>(user);
      llvm::IRBuilder<> b(call);
      Value *v = expandOne(b, name, *call);
      if (!v) return internalError("no expansion of strata.w." + name.str());
      if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(v);
      call->eraseFromParent();
    }
    f.eraseFromParent();
  }
  return {};
}

void lowerKernelExits(llvm::Module &module) {
  llvm::Function *exit = module.getFunction("strata.exit");
  if (!exit) return;
  for (llvm::User *user : llvm::make_early_inc_range(exit->users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    if (!call->getFunction()->hasFnAttribute("strata.kernel")) continue;
    llvm::BasicBlock *block = call->getParent();
    llvm::changeToUnreachable(call);
    llvm::Instruction *end = block->getTerminator();
    llvm::ReturnInst::Create(module.getContext(), nullptr, end->getIterator())->setDebugLoc(end->getDebugLoc());
    end->eraseFromParent();
  }
}

}  // namespace strata::simt
