// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: calls of LLVM's intrinsics, of maths, of lane functions, and calls made once per active lane.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "simt/abi.h"
#include "simt/emit/function_emitter.h"
#include "simt/emit/runtime_call.h"

namespace strata::simt {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

void FunctionEmitter::emitCall(llvm::CallBase &call) {
  llvm::Function *callee = call.getCalledFunction();
  if (!callee) return fail(call, "call through a pointer (lane IR calls strata.call.<n>)");
  if (callee->isIntrinsic()) return callIntrinsic(call);
  LaneIntrinsic id = laneIntrinsic(*callee);
  if (const IntrinsicRow *row = rowOf(id)) {
    if (row->kind >= 0) return emitCollective(call, id);
    if (row->group == IntrinsicRow::Group::device) return callDevice(call, *row);
    if (row->slot >= 0) return callTable(call, *row);
  }
  switch (id) {
    case LaneIntrinsic::lane: return define(call, builder_.getInt32(0));
    case LaneIntrinsic::tidX: return emitThreadIndex(call, 0);
    case LaneIntrinsic::tidY: return emitThreadIndex(call, 1);
    case LaneIntrinsic::tidZ: return emitThreadIndex(call, 2);
    case LaneIntrinsic::checkAligned: return checkAligned(call);
    case LaneIntrinsic::clock:
    case LaneIntrinsic::trap:
    case LaneIntrinsic::fault:
    case LaneIntrinsic::exit:
    case LaneIntrinsic::exited:
    case LaneIntrinsic::turn: return emitMachine(call, id);
    case LaneIntrinsic::warpFull: return emitCollective(call, id);
    case LaneIntrinsic::elementwise: return callMaths(call);
    case LaneIntrinsic::laneFunction: return callLaneFunction(call);
    default: fail(call, "call of " + callee->getName().str());
  }
}

void FunctionEmitter::callDevice(llvm::CallBase &call, const IntrinsicRow &row) {
  callEachLane(call, [&](Value *lane, llvm::ArrayRef<Value *> operands) {
    return simt::callRuntime(builder_, vector_.getArg(0), row, call.getType(), [&](char letter) {
      return letter == 'n' ? lane : operands[static_cast<std::size_t>(letter - '0')];
    });
  });
}

void FunctionEmitter::callEachLane(llvm::CallBase &call,
                                   const std::function<Value *(Value *, llvm::ArrayRef<Value *>)> &one) {
  bool wanted = !call.use_empty();
  llvm::AllocaInst *results = wanted ? laneArray(call.getType()) : nullptr;
  std::vector<PerLane> operands;
  for (Value *argument : call.args()) operands.emplace_back(*this, argument);
  forEachLane([&](Value *lane) {
    std::vector<Value *> arguments;
    for (const PerLane &operand : operands) arguments.push_back(operand.get(lane));
    Value *result = one(lane, arguments);
    if (!wanted) return;
    bool bit = result->getType()->isIntegerTy(1);
    if (bit) result = builder_.CreateZExt(result, builder_.getInt8Ty());
    builder_.CreateStore(result, builder_.CreateInBoundsGEP(result->getType(), results,
                                                            builder_.CreateZExt(lane, builder_.getInt64Ty())));
  });
  if (!wanted) return;
  bool bit = call.getType()->isIntegerTy(1);
  Value *all = builder_.CreateLoad(widen(bit ? builder_.getInt8Ty() : call.getType()), results);
  define(call, bit ? builder_.CreateICmpNE(all, splat(builder_.getInt8(0))) : all);
}

// A lane function's vector form: (warp, active lanes, argument vectors) -> result vector.
void FunctionEmitter::callLaneFunction(llvm::CallBase &call) {
  llvm::Function *target = context_.vectorFunction(*call.getCalledFunction());
  std::vector<Value *> arguments = {vector_.getArg(0), maskBits(mask())};
  for (unsigned i = 1; i < call.arg_size(); ++i) arguments.push_back(vector(call.getArgOperand(i)));
  llvm::CallInst *made = builder_.CreateCall(target, arguments);
  if (!call.getType()->isVoidTy()) define(call, made);
}

void FunctionEmitter::callMaths(llvm::CallBase &call) {
  if (shape(&call).isUniform()) return emitScalar(call);
  std::vector<Value *> arguments;
  std::vector<llvm::Type *> types;
  for (Value *argument : call.args()) {
    arguments.push_back(vector(argument));
    types.push_back(arguments.back()->getType());
  }
  llvm::Function *callee = call.getCalledFunction();
  auto *type = llvm::FunctionType::get(widen(call.getType()), types, false);
  llvm::FunctionCallee wide = context_.module.getOrInsertFunction((callee->getName() + ".v32").str(), type);
  if (auto *function = dyn_cast<llvm::Function>(wide.getCallee())) function->setAttributes(callee->getAttributes());
  define(call, builder_.CreateCall(wide, arguments));
}

void FunctionEmitter::callIntrinsic(llvm::CallBase &call) {
  llvm::Function *callee = call.getCalledFunction();
  llvm::Intrinsic::ID id = callee->getIntrinsicID();
  if (isa<llvm::DbgInfoIntrinsic, llvm::AssumeInst, llvm::LifetimeIntrinsic>(call)) return;
  if (id == llvm::Intrinsic::prefetch || id == llvm::Intrinsic::experimental_noalias_scope_decl) return;
  bool uniformResult = !call.getType()->isVoidTy() && shape(&call).isUniform();
  if (uniformResult) return emitScalar(call);
  bool overflow = isa<llvm::WithOverflowInst>(call);
  if (!call.getType()->isVoidTy() && (llvm::isTriviallyVectorizable(id) || overflow)) {
    std::vector<Value *> arguments;
    std::vector<llvm::Type *> overloads;
    llvm::Type *result = widen(call.getType());
    if (!overflow && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) overloads.push_back(result);
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      Value *argument = call.getArgOperand(i);
      bool scalarOperand = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i);
      if (scalarOperand && !shape(argument).isUniform()) return fail(call, "call of " + callee->getName().str());
      arguments.push_back(scalarOperand ? scalar(argument) : vector(argument));
      if (overflow ? i == 0 : llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i)))
        overloads.push_back(arguments.back()->getType());
    }
    llvm::CallInst *made = builder_.CreateIntrinsic(id, overloads, arguments);
    made->copyIRFlags(&call);
    return define(call, made);
  }
  // No vector form: once per active lane, or once for all if nothing differs between the lanes.
  context_.report.note(call, "one call per lane", callee->getName().str() + " has no vector form");
  bool allUniform = true;
  for (Value *argument : call.args()) allUniform = allUniform && shape(argument).isUniform();
  auto one = [&](llvm::ArrayRef<Value *> arguments) {
    auto *copy = cast<llvm::CallBase>(call.clone());
    for (unsigned i = 0; i < arguments.size(); ++i) copy->setArgOperand(i, arguments[i]);
    return builder_.Insert(copy);
  };
  if (allUniform && call.getType()->isVoidTy()) {
    std::vector<Value *> arguments;
    for (Value *argument : call.args()) arguments.push_back(scalar(argument));
    one(arguments);
    return;
  }
  if (call.getType()->isAggregateType() || call.getType()->isVectorTy())
    return fail(call, "call of " + callee->getName().str());
  callEachLane(call, [&](Value *, llvm::ArrayRef<Value *> arguments) { return one(arguments); });
}

}  // namespace strata::simt
