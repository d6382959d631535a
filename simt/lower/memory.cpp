// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics, fences, address spaces. Every space but shared is addressed by host addresses;
// a shared address is an offset from the block's base.
#include <llvm/Analysis/ValueTracking.h>

#include <bit>

#include "simt/lower/lane_ir_builder.h"

namespace strata::simt {

using ptx::Order;
using ptx::Space;

static llvm::AtomicOrdering loadOrdering(Order o) {
  switch (o) {
    case Order::acquire:
    case Order::acqRel: return llvm::AtomicOrdering::Acquire;
    case Order::seqCst: return llvm::AtomicOrdering::SequentiallyConsistent;
    default: return llvm::AtomicOrdering::Monotonic;
  }
}
static llvm::AtomicOrdering storeOrdering(Order o) {
  switch (o) {
    case Order::release:
    case Order::acqRel: return llvm::AtomicOrdering::Release;
    case Order::seqCst: return llvm::AtomicOrdering::SequentiallyConsistent;
    default: return llvm::AtomicOrdering::Monotonic;
  }
}
static llvm::AtomicOrdering updateOrdering(Order o) {
  switch (o) {
    case Order::acquire: return llvm::AtomicOrdering::Acquire;
    case Order::release: return llvm::AtomicOrdering::Release;
    case Order::acqRel: return llvm::AtomicOrdering::AcquireRelease;
    case Order::seqCst: return llvm::AtomicOrdering::SequentiallyConsistent;
    default: return llvm::AtomicOrdering::Monotonic;
  }
}
static bool isAtomic(Order o) { return o != Order::weak && o != Order::volatile_; }

// p + constant as a GEP, so that SROA and alias analysis see through integer addresses.
static llvm::Value *pointerOf(llvm::IRBuilder<> &ir, llvm::Value *address) {
  std::int64_t offset = 0;
  llvm::Value *base = address;
  while (auto *add = llvm::dyn_cast<llvm::BinaryOperator>(base)) {
    auto *constant = llvm::dyn_cast<llvm::ConstantInt>(add->getOperand(1));
    if (add->getOpcode() != llvm::Instruction::Add || !constant) break;
    offset += constant->getSExtValue();
    base = add->getOperand(0);
  }
  if (auto *cast = llvm::dyn_cast<llvm::PtrToIntInst>(base)) {
    llvm::Value *p = cast->getPointerOperand();
    return offset ? ir.CreateConstGEP1_64(ir.getInt8Ty(), p, static_cast<std::uint64_t>(offset)) : p;
  }
  return ir.CreateIntToPtr(address, ir.getPtrTy());
}

llvm::Value *LaneIrBuilder::pointer(Space space, llvm::Value *address) {
  if (space == Space::shared) return ir.CreateGEP(ir.getInt8Ty(), sharedBase(), address);
  return pointerOf(ir, address);
}

// simt/lower/alignment_checks.cpp removes what later turns out to be proven.
void LaneIrBuilder::checkAligned(Space space, llvm::Value *address, unsigned bytes) {
  if (bytes == 1) return;
  const llvm::KnownBits known = llvm::computeKnownBits(address, function_.getParent()->getDataLayout());
  if (known.countMinTrailingZeros() >= static_cast<unsigned>(std::countr_zero(bytes))) return;
  llvm::FunctionCallee check = module_.intrinsic("check.aligned", ir.getVoidTy(), {ir.getInt64Ty(), ir.getInt32Ty()});
  ir.CreateCall(check, {address, ir.getInt32(bytes)});
}

// --- loads and stores -------------------------------------------------------------------------------------

std::vector<ptx::Value> LaneIrBuilder::load(const ptx::Access &access, ScalarType scalar, unsigned count, Value where) {
  llvm::Value *address = get(where);
  llvm::Type *element = type(scalar);
  const unsigned bytes = std::max(1u, element->getScalarSizeInBits() / 8);
  checkAligned(access.space, address, bytes * count);
  llvm::Value *p = pointer(access.space, address);
  std::vector<Value> out;
  if (isAtomic(access.order)) {  // PTX makes no promise that a vector is one access
    for (unsigned e = 0; e < count; ++e) {
      llvm::LoadInst *l = ir.CreateAlignedLoad(
          ir.getIntNTy(bytes * 8), e ? ir.CreateConstGEP1_64(ir.getInt8Ty(), p, e * bytes) : p, llvm::Align(bytes));
      l->setAtomic(loadOrdering(access.order));
      out.push_back(put(ir.CreateBitCast(l, element)));
    }
    return out;
  }
  llvm::Type *whole = count == 1 ? element : llvm::FixedVectorType::get(element, count);
  llvm::LoadInst *l = ir.CreateAlignedLoad(whole, p, llvm::Align(bytes), access.order == Order::volatile_);
  // .param in a kernel is the parameter buffer, or memory of a call's arguments and results.
  const bool kernelParam =
      access.space == Space::param && source_.isKernel &&
      llvm::getUnderlyingObject(p) == launchField(offsetof(LaunchState, params), ir.getPtrTy(), "params");
  const bool constant = access.readOnly && access.space != Space::param && access.space != Space::local;
  if (kernelParam || (constant && access.order == Order::weak))
    l->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(l->getContext(), {}));
  if (access.nonTemporal) l->setMetadata("strata.streaming", llvm::MDNode::get(l->getContext(), {}));
  if (count == 1) return {put(l)};
  for (unsigned e = 0; e < count; ++e) out.push_back(put(ir.CreateExtractElement(l, e)));
  return out;
}

void LaneIrBuilder::store(const ptx::Access &access, Value where, const std::vector<Value> &values) {
  llvm::Value *address = get(where);
  const unsigned count = static_cast<unsigned>(values.size());
  llvm::Type *element = get(values[0])->getType();
  const unsigned bytes = std::max(1u, element->getScalarSizeInBits() / 8);
  checkAligned(access.space, address, bytes * count);
  llvm::Value *p = pointer(access.space, address);
  if (isAtomic(access.order)) {
    for (unsigned e = 0; e < count; ++e) {
      llvm::Value *v = ir.CreateBitCast(get(values[e]), ir.getIntNTy(bytes * 8));
      llvm::StoreInst *s =
          ir.CreateAlignedStore(v, e ? ir.CreateConstGEP1_64(ir.getInt8Ty(), p, e * bytes) : p, llvm::Align(bytes));
      s->setAtomic(storeOrdering(access.order));
    }
    return;
  }
  llvm::Value *whole = get(values[0]);
  if (count > 1) {
    whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, count));
    for (unsigned e = 0; e < count; ++e) whole = ir.CreateInsertElement(whole, get(values[e]), e);
  }
  ir.CreateAlignedStore(whole, p, llvm::Align(bytes), access.order == Order::volatile_);
}

void LaneIrBuilder::copy(Space dstSpace, Value dst, Space srcSpace, Value src, Value bytes) {
  llvm::Value *to = pointer(dstSpace, get(dst)), *from = pointer(srcSpace, get(src));
  auto *size = llvm::dyn_cast<llvm::ConstantInt>(get(bytes));
  const std::uint64_t n = size ? size->getZExtValue() : 0;
  if (n == 4 || n == 8 || n == 16) {  // cp.async: an ordinary access
    checkAligned(dstSpace, get(dst), static_cast<unsigned>(n));
    checkAligned(srcSpace, get(src), static_cast<unsigned>(n));
    llvm::Type *whole =
        n == 4 ? ir.getInt32Ty() : static_cast<llvm::Type *>(llvm::FixedVectorType::get(ir.getInt32Ty(), n / 4));
    ir.CreateAlignedStore(ir.CreateAlignedLoad(whole, from, llvm::Align(4)), to, llvm::Align(4));
    return;
  }
  ir.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), ir.CreateZExt(get(bytes), ir.getInt64Ty()));
}

// --- atomics ------------------------------------------------------------------------------------------------

static llvm::AtomicRMWInst::BinOp rmwOperation(ptx::AtomicOp op) {
  using Rmw = llvm::AtomicRMWInst;
  switch (op) {
    case ptx::AtomicOp::exch: return Rmw::Xchg;
    case ptx::AtomicOp::add: return Rmw::Add;
    case ptx::AtomicOp::sub: return Rmw::Sub;
    case ptx::AtomicOp::and_: return Rmw::And;
    case ptx::AtomicOp::or_: return Rmw::Or;
    case ptx::AtomicOp::xor_: return Rmw::Xor;
    case ptx::AtomicOp::smin: return Rmw::Min;
    case ptx::AtomicOp::smax: return Rmw::Max;
    case ptx::AtomicOp::umin: return Rmw::UMin;
    case ptx::AtomicOp::umax: return Rmw::UMax;
    case ptx::AtomicOp::inc: return Rmw::UIncWrap;
    case ptx::AtomicOp::dec: return Rmw::UDecWrap;
    case ptx::AtomicOp::fadd: return Rmw::FAdd;
    case ptx::AtomicOp::fmin: return Rmw::FMin;
    case ptx::AtomicOp::fmax: return Rmw::FMax;
  }
  __builtin_unreachable();
}

// Code generation would turn half's atomics into library calls: a loop of comparisons on the bits instead.
ptx::Value LaneIrBuilder::atomicHalf(ptx::AtomicOp op, llvm::Value *p, llvm::Value *operand,
                                     llvm::AtomicOrdering ordering) {
  llvm::Type *element = operand->getType(), *bits = ir.getInt16Ty();
  llvm::Value *start = ir.CreateAlignedLoad(bits, p, llvm::Align(2), true);
  llvm::BasicBlock *before = ir.GetInsertBlock();
  auto *loop = llvm::BasicBlock::Create(ir.getContext(), "atomic", &function_);
  auto *done = llvm::BasicBlock::Create(ir.getContext(), "atomic.done", &function_);
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode *seen = ir.CreatePHI(bits, 2);
  seen->addIncoming(start, before);
  Value old = put(ir.CreateBitCast(seen, element));
  Value next = op == ptx::AtomicOp::fadd   ? put(ir.CreateFAdd(get(old), operand))
               : op == ptx::AtomicOp::fmin ? fmin(old, put(operand))
                                           : fmax(old, put(operand));
  llvm::Value *exchange = ir.CreateAtomicCmpXchg(p, seen, ir.CreateBitCast(get(next), bits), llvm::Align(2), ordering,
                                                 llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering));
  seen->addIncoming(ir.CreateExtractValue(exchange, 0), loop);
  ir.CreateCondBr(ir.CreateExtractValue(exchange, 1), done, loop);
  ir.SetInsertPoint(done);
  return old;
}

ptx::Value LaneIrBuilder::atomic(ptx::AtomicOp op, const ptx::Access &access, Value where, Value operand) {
  llvm::Value *v = get(operand), *address = get(where);
  const unsigned bytes = v->getType()->getScalarSizeInBits() / 8;
  checkAligned(access.space, address, bytes);
  llvm::Value *p = pointer(access.space, address);
  const llvm::AtomicOrdering ordering = updateOrdering(access.order);
  const bool isFloat = op == ptx::AtomicOp::fadd || op == ptx::AtomicOp::fmin || op == ptx::AtomicOp::fmax;
  if (isFloat && bytes == 2) return atomicHalf(op, p, v, ordering);
  if (!isFloat && v->getType()->isFloatingPointTy()) {
    Value bits = put(ir.CreateBitCast(v, ir.getIntNTy(bytes * 8)));
    return put(ir.CreateBitCast(ir.CreateAtomicRMW(rmwOperation(op), p, get(bits), llvm::Align(bytes), ordering),
                                v->getType()));
  }
  return put(ir.CreateAtomicRMW(rmwOperation(op), p, v, llvm::Align(bytes), ordering));
}

ptx::Value LaneIrBuilder::compareExchange(const ptx::Access &access, Value where, Value expected, Value desired) {
  llvm::Value *address = get(where);
  llvm::Type *want = get(expected)->getType();
  const unsigned bytes = want->getScalarSizeInBits() / 8;
  checkAligned(access.space, address, bytes);
  const llvm::AtomicOrdering ordering = updateOrdering(access.order);
  llvm::Type *bits = ir.getIntNTy(bytes * 8);
  llvm::Value *pair = ir.CreateAtomicCmpXchg(pointer(access.space, address), ir.CreateBitCast(get(expected), bits),
                                             ir.CreateBitCast(get(desired), bits), llvm::Align(bytes), ordering,
                                             llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering));
  return put(ir.CreateBitCast(ir.CreateExtractValue(pair, 0), want));
}

void LaneIrBuilder::fence(Order order, ptx::Scope) {
  switch (order) {
    case Order::acquire: ir.CreateFence(llvm::AtomicOrdering::Acquire); break;
    case Order::release: ir.CreateFence(llvm::AtomicOrdering::Release); break;
    case Order::seqCst: ir.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent); break;
    default: ir.CreateFence(llvm::AtomicOrdering::AcquireRelease); break;
  }
}

// --- windows ------------------------------------------------------------------------------------------------

ptx::Value LaneIrBuilder::toGeneric(Space from, Value address) {
  if (from != Space::shared) return address;
  return put(ir.CreateAdd(ir.CreatePtrToInt(sharedBase(), ir.getInt64Ty()), get(address)));
}

ptx::Value LaneIrBuilder::fromGeneric(Space to, Value address) {
  if (to != Space::shared) return address;
  return put(ir.CreateSub(get(address), ir.CreatePtrToInt(sharedBase(), ir.getInt64Ty())));
}

// Local memory is the lane's stack; only its extent (the executor's stacks are no larger) tells it apart.
ptx::Value LaneIrBuilder::isSpace(Space space, Value generic) {
  llvm::Value *a = get(generic);
  if (space == Space::shared) {
    llvm::Value *offset = get(fromGeneric(Space::shared, generic));
    llvm::Value *size = launchField(offsetof(LaunchState, totalShared), ir.getInt32Ty(), "totalShared");
    return put(ir.CreateICmpULT(offset, ir.CreateZExt(size, ir.getInt64Ty())));
  }
  if (space == Space::param && source_.isKernel) {
    llvm::Value *params = launchField(offsetof(LaunchState, params), ir.getPtrTy(), "params");
    return put(ir.CreateICmpULT(ir.CreateSub(a, ir.CreatePtrToInt(params, ir.getInt64Ty())), ir.getInt64(paramBytes_)));
  }
  if (space == Space::const_) {
    llvm::Value *globals = launchField(offsetof(LaunchState, globals), ir.getPtrTy(), "globals");
    llvm::Value *offset = ir.CreateSub(a, ir.CreatePtrToInt(globals, ir.getInt64Ty()));
    llvm::Value *inside = ir.getFalse();
    for (std::size_t v = 0; v < module_.ptx.variables.size(); ++v) {
      const ptx::Variable &variable = module_.ptx.variables[v];
      if (variable.space != Space::const_ || module_.globals.offset[v] == GlobalsLayout::kNone) continue;
      llvm::Value *within = ir.CreateSub(offset, ir.getInt64(module_.globals.offset[v]));
      inside = ir.CreateOr(inside, ir.CreateICmpULT(within, ir.getInt64(variable.size)));
    }
    return put(inside);
  }
  if (space == Space::global || space == Space::local) {
    // A stack slot of this function marks the stack; no CUDA stack is larger than 512 KiB a thread.
    llvm::Value *mark = ir.CreatePtrToInt(entryAlloca(ir.getInt8Ty(), 1, "stack.mark"), ir.getInt64Ty());
    llvm::Value *distance = ir.CreateAdd(ir.CreateSub(a, mark), ir.getInt64(512 << 10));
    llvm::Value *local = ir.CreateICmpULT(distance, ir.getInt64(1 << 20));
    if (space == Space::local) return put(local);
    return put(ir.CreateNot(ir.CreateOr(local, get(isSpace(Space::shared, generic)))));
  }
  fail(unsupported("isspacep." + std::string(ptx::name(space)) + " in " + source_.name));
  return put(ir.getFalse());
}

}  // namespace strata::simt
