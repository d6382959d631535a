// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: calls through the runtime table, and the thread's place in its block.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "simt/abi.h"
#include "simt/emit/function_emitter.h"
#include "simt/emit/kernel_entry.h"
#include "simt/emit/runtime_call.h"
#include "simt/passes/warp/split_at_barriers.h"

namespace strata::simt {

using llvm::BasicBlock;

llvm::Value *FunctionEmitter::warpField(unsigned offset, llvm::Type *type, bool invariant) {
  Value *at = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), vector_.getArg(0), offset);
  llvm::LoadInst *load = builder_.CreateLoad(type, at);
  if (invariant) load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(lane_.getContext(), {}));
  return load;
}

llvm::Value *FunctionEmitter::launchField(unsigned offset, llvm::Type *type) {
  llvm::MDNode *invariant = llvm::MDNode::get(lane_.getContext(), {});
  auto follow = [&](Value *base, unsigned by, llvm::Type *as) {
    llvm::LoadInst *load = builder_.CreateLoad(as, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, by));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, invariant);
    return load;
  };
  Value *block = warpField(offsetof(Warp, block), builder_.getPtrTy());
  return follow(follow(block, offsetof(Block, launch), builder_.getPtrTy()), offset, type);
}

llvm::Value *FunctionEmitter::callRuntime(unsigned offset, llvm::Type *result, llvm::ArrayRef<Value *> arguments) {
  return simt::callRuntime(builder_, vector_.getArg(0), offset, result, arguments);
}

// Ends the launch; what follows is unreachable, but emission may go on.
void FunctionEmitter::raiseFault(Value *kind, Value *lanes, Value *address) {
  auto *call = llvm::cast<llvm::CallInst>(
      callRuntime(offsetof(Runtime, fault), builder_.getVoidTy(), {vector_.getArg(0), kind, lanes, address}));
  call->setDoesNotReturn();
  builder_.CreateUnreachable();
  builder_.SetInsertPoint(newBlock("after.fault"));
}

// The first active lane's operand, where lanes differ though they should not.
llvm::Value *FunctionEmitter::oneOperand(llvm::CallBase &call, unsigned i) {
  Value *operand = call.getArgOperand(i);
  return shape(operand).isUniform() ? scalar(operand) : builder_.CreateExtractElement(vector(operand), firstLane());
}

void FunctionEmitter::callTable(llvm::CallBase &call, const IntrinsicRow &row) {
  if (row.id == LaneIntrinsic::barrier && context_.splitsAtBarriers) {
    builder_.CreateCall(context_.module.getOrInsertFunction(kSuspend, builder_.getVoidTy()));
    return;
  }
  Value *lanes = maskBits(mask());
  Value *result = simt::callRuntime(builder_, vector_.getArg(0), row, call.getType(), [&](char letter) -> Value * {
    if (letter == 'l') return lanes;
    if (letter == 'p') return maskBits(maskAnd(mask(), vector(call.getArgOperand(2))));
    return oneOperand(call, static_cast<unsigned>(letter - '0'));
  });
  if (!call.getType()->isVoidTy()) define(call, result);
}

// What has its meaning here and not in a row.
void FunctionEmitter::emitMachine(llvm::CallBase &call, LaneIntrinsic id) {
  Value *warp = vector_.getArg(0);
  llvm::Type *none = builder_.getVoidTy(), *i32 = builder_.getInt32Ty();
  Value *lanes = maskBits(mask());
  switch (id) {
    case LaneIntrinsic::clock: return define(call, builder_.CreateIntrinsic(llvm::Intrinsic::readcyclecounter, {}, {}));
    case LaneIntrinsic::trap:
      return raiseFault(builder_.getInt32(static_cast<std::uint32_t>(FaultKind::trap)), lanes, builder_.getInt64(0));
    case LaneIntrinsic::fault: return raiseFault(oneOperand(call, 0), lanes, builder_.getInt64(0));
    case LaneIntrinsic::exit: {
      Value *at = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), warp, offsetof(Warp, exited));
      builder_.CreateStore(builder_.CreateOr(builder_.CreateLoad(i32, at), lanes), at);
      return;
    }
    case LaneIntrinsic::turn:
      if (context_.splitsAtBarriers) builder_.CreateCall(context_.module.getOrInsertFunction(kTurn, none));
      return;
    case LaneIntrinsic::exited:
      return define(call,
                    builder_.CreateBitCast(warpField(offsetof(Warp, exited), i32, /*invariant=*/false), maskType_));
    default: fail(call, "call of " + call.getCalledFunction()->getName().str());
  }
}

llvm::Value *FunctionEmitter::laneNumbers() {
  std::vector<llvm::Constant *> numbers;
  for (unsigned l = 0; l < kLanes; ++l) numbers.push_back(builder_.getInt32(l));
  return llvm::ConstantVector::get(numbers);
}

// Component `dimension` of thread number `first`: by shifts where the extents x and y are powers of two, as they mostly
// are, else by divisions. `result` gets it on the edges into its block.
void FunctionEmitter::divideThreads(Value *first, Value *x, Value *y, unsigned dimension, llvm::PHINode &result) {
  BasicBlock *shift = newBlock("shift"), *divide = newBlock("divide");
  auto isPower = [&](Value *value) {
    return builder_.CreateICmpEQ(builder_.CreateAnd(value, builder_.CreateSub(value, builder_.getInt32(1))),
                                 builder_.getInt32(0));
  };
  auto bits = [&](Value *power) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, power, builder_.getTrue());
  };
  auto low = [&](Value *value, Value *power) {
    return builder_.CreateAnd(value, builder_.CreateSub(power, builder_.getInt32(1)));
  };
  auto end = [&](Value *component) {
    result.addIncoming(component, builder_.GetInsertBlock());
    builder_.CreateBr(result.getParent());
  };
  builder_.CreateCondBr(isPower(dimension == 0 ? x : builder_.CreateMul(x, y)), shift, divide);
  builder_.SetInsertPoint(shift);
  if (dimension == 0) end(low(first, x));
  if (dimension == 1) end(low(builder_.CreateLShr(first, bits(x)), y));
  if (dimension == 2) end(builder_.CreateLShr(first, builder_.CreateAdd(bits(x), bits(y))));
  builder_.SetInsertPoint(divide);
  if (dimension == 0) end(builder_.CreateURem(first, x));
  if (dimension == 1) end(builder_.CreateURem(builder_.CreateUDiv(first, x), y));
  if (dimension == 2) end(builder_.CreateUDiv(first, builder_.CreateMul(x, y)));
}

// tid.x/.y/.z. Affine: u from the warp's number. Varying: from the thread's number in the block by two
// divisions; these are done in float, exact for numbers below 2^10 (n + 0.5 is 0.5/d away from a multiple of d).
void FunctionEmitter::emitThreadIndex(llvm::CallBase &call, unsigned dimension) {
  llvm::Type *i32 = builder_.getInt32Ty();
  if (context_.countsThreads && shape(&call).isAffine()) {
    llvm::FunctionCallee first =
        context_.module.getOrInsertFunction(kFirstThread[dimension], llvm::FunctionType::get(i32, false));
    auto *marker = llvm::cast<llvm::Function>(first.getCallee());
    marker->setDoesNotAccessMemory();
    marker->setDoesNotThrow();
    marker->setWillReturn();
    return define(call, builder_.CreateCall(first));
  }
  auto extent = [&](unsigned d) -> Value * {
    if (context_.threads.exact()) return builder_.getInt32(context_.threads.blockDim(d));
    return launchField(static_cast<unsigned>(offsetof(LaunchState, blockDim) + 4 * d), i32);
  };
  Value *index = warpField(offsetof(Warp, index), i32, /*invariant=*/false);
  Value *first = builder_.CreateShl(index, builder_.getInt32(5), "", /*HasNUW=*/true, /*HasNSW=*/true);
  if (shape(&call).isAffine()) {
    // In the first row (that is: always, in a block of one dimension) there is nothing to divide.
    BasicBlock *here = builder_.GetInsertBlock(), *beyond = newBlock("beyond.row"), *merge = newBlock("thread.index");
    builder_.CreateCondBr(builder_.CreateICmpULT(first, extent(0)), merge, beyond);
    builder_.SetInsertPoint(merge);
    llvm::PHINode *index = builder_.CreatePHI(i32, 3);
    index->addIncoming(dimension == 0 ? first : builder_.getInt32(0), here);
    builder_.SetInsertPoint(beyond);
    divideThreads(first, extent(0), extent(1), dimension, *index);
    builder_.SetInsertPoint(merge);
    return define(call, index);
  }
  Value *number = builder_.CreateAdd(splat(first), laneNumbers());
  auto divide = [&](Value *numbers, Value *by) {
    Value *reciprocal = builder_.CreateFDiv(llvm::ConstantFP::get(builder_.getFloatTy(), 1.0),
                                            builder_.CreateUIToFP(by, builder_.getFloatTy()));
    Value *shifted = builder_.CreateFAdd(builder_.CreateSIToFP(numbers, widen(builder_.getFloatTy())),
                                         splat(llvm::ConstantFP::get(builder_.getFloatTy(), 0.5)));
    return builder_.CreateFPToSI(builder_.CreateFMul(shifted, splat(reciprocal)), widen(i32));
  };
  Value *row = divide(number, extent(0));
  if (dimension == 0) return define(call, builder_.CreateSub(number, builder_.CreateMul(row, splat(extent(0)))));
  Value *plane = divide(row, extent(1));
  if (dimension == 2) return define(call, plane);
  define(call, builder_.CreateSub(row, builder_.CreateMul(plane, splat(extent(1)))));
}

}  // namespace strata::simt
