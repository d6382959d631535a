// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/math/narrow_storage.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "simt/analysis/masked_access.h"

namespace strata::simt {
namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

class NarrowStorage {
public:
  NarrowStorage(llvm::Function &f, const CpuFeatures &cpu) : function_(f), cpu_(cpu), ir_(f.getContext()) {}
  void run();

private:
  bool isNarrow(Type *type) const {
    Type *element = type->getScalarType();
    return element->isBFloatTy() || (element->isHalfTy() && !cpu_.computesHalf);
  }
  Type *integerOf(Type *type) const { return type->getWithNewType(ir_.getInt16Ty()); }
  // The 16-bit integers that stand for a narrow value; other values are themselves.
  Value *mapped(Value *v);
  Value *moved(Instruction &i);  // `i` on integers, if it only moves values; else null
  llvm::CallInst *integerAccess(llvm::IntrinsicInst &call);
  void rewrite(Instruction &i);

  llvm::Function &function_;
  const CpuFeatures &cpu_;
  mutable llvm::IRBuilder<> ir_;
  llvm::DenseMap<Value *, Value *> integers_;
  std::vector<std::pair<llvm::PHINode *, llvm::PHINode *>> phis_;
  std::vector<Instruction *> dead_;
};

Value *NarrowStorage::mapped(Value *v) {
  if (!isNarrow(v->getType())) return v;
  if (auto *c = llvm::dyn_cast<llvm::Constant>(v)) return llvm::ConstantExpr::getBitCast(c, integerOf(v->getType()));
  auto known = integers_.find(v);
  return known != integers_.end() ? known->second : ir_.CreateBitCast(v, integerOf(v->getType()));
}

Value *NarrowStorage::moved(Instruction &i) {
  if (llvm::isa<llvm::BitCastInst>(i)) return mapped(i.getOperand(0));  // from integers of any shape
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
    llvm::PHINode *twin = ir_.CreatePHI(integerOf(i.getType()), phi->getNumIncomingValues());
    phis_.emplace_back(phi, twin);
    return twin;
  }
  if (auto *s = llvm::dyn_cast<llvm::SelectInst>(&i))
    return ir_.CreateSelect(s->getCondition(), mapped(s->getTrueValue()), mapped(s->getFalseValue()));
  if (llvm::isa<llvm::FreezeInst>(i)) return ir_.CreateFreeze(mapped(i.getOperand(0)));
  if (llvm::isa<llvm::ExtractElementInst>(i)) return ir_.CreateExtractElement(mapped(i.getOperand(0)), i.getOperand(1));
  if (llvm::isa<llvm::InsertElementInst>(i))
    return ir_.CreateInsertElement(mapped(i.getOperand(0)), mapped(i.getOperand(1)), i.getOperand(2));
  if (auto *s = llvm::dyn_cast<llvm::ShuffleVectorInst>(&i))
    return ir_.CreateShuffleVector(mapped(s->getOperand(0)), mapped(s->getOperand(1)), s->getShuffleMask());
  if (auto *l = llvm::dyn_cast<llvm::LoadInst>(&i); l && !l->isAtomic()) {
    llvm::LoadInst *twin =
        ir_.CreateAlignedLoad(integerOf(i.getType()), l->getPointerOperand(), l->getAlign(), l->isVolatile());
    twin->copyMetadata(*l);
    return twin;
  }
  return nullptr;
}

// The same masked access on integers; null for other calls.
llvm::CallInst *NarrowStorage::integerAccess(llvm::IntrinsicInst &call) {
  const std::optional<MaskedAccess> access = maskedAccess(call);
  if (!access) return nullptr;
  llvm::SmallVector<Value *, 4> args;
  for (Value *a : call.args()) args.push_back(mapped(a));
  llvm::CallInst *twin =
      ir_.CreateIntrinsic(call.getIntrinsicID(), {integerOf(access->type), access->address->getType()}, args);
  twin->copyMetadata(call);
  return twin;
}

void NarrowStorage::rewrite(Instruction &i) {
  ir_.SetInsertPoint(&i);
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      call && (isNarrow(i.getType()) || (call->arg_size() && isNarrow(call->getArgOperand(0)->getType())))) {
    if (llvm::CallInst *twin = integerAccess(*call)) {
      integers_[&i] = twin;
      return dead_.push_back(&i);
    }
  }
  if (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(&i);
      cast && isNarrow(cast->getSrcTy()) && !isNarrow(cast->getDestTy())) {
    i.replaceAllUsesWith(ir_.CreateBitCast(mapped(cast->getOperand(0)), cast->getDestTy()));
    return dead_.push_back(&i);
  }
  if (auto *s = llvm::dyn_cast<llvm::StoreInst>(&i); s && isNarrow(s->getValueOperand()->getType())) {
    s->setOperand(0, mapped(s->getValueOperand()));
    return;
  }
  if (!isNarrow(i.getType())) {
    for (llvm::Use &use : i.operands())  // computes with narrow values: goes through a bitcast
      if (isNarrow(use->getType()) && !llvm::isa<llvm::Constant>(use))
        use = ir_.CreateBitCast(mapped(use), use->getType());
    return;
  }
  if (Value *twin = moved(i)) {
    if (twin->getType() != integerOf(i.getType())) twin = ir_.CreateBitCast(twin, integerOf(i.getType()));
    integers_[&i] = twin;
    return dead_.push_back(&i);
  }
  for (llvm::Use &use : i.operands())
    if (isNarrow(use->getType()) && !llvm::isa<llvm::Constant>(use))
      use = ir_.CreateBitCast(mapped(use), use->getType());
}

void NarrowStorage::run() {
  llvm::ReversePostOrderTraversal<llvm::Function *> order(&function_);
  for (llvm::BasicBlock *block : order)
    for (Instruction &i : llvm::make_early_inc_range(*block))
      if (!integers_.contains(&i)) rewrite(i);
  for (auto [phi, twin] : phis_)
    for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k) {
      ir_.SetInsertPoint(phi->getIncomingBlock(k)->getTerminator());
      twin->addIncoming(mapped(phi->getIncomingValue(k)), phi->getIncomingBlock(k));
    }
  for (Instruction *i : llvm::reverse(dead_)) {
    if (!i->use_empty()) i->replaceAllUsesWith(llvm::PoisonValue::get(i->getType()));
    i->eraseFromParent();
  }
}

}  // namespace

void storeNarrowFloatsAsIntegers(llvm::Module &module, const CpuFeatures &cpu) {
  for (llvm::Function &f : module) {
    if (f.isDeclaration()) continue;
    const bool any = llvm::any_of(llvm::instructions(f),
                                  [](const Instruction &i) { return i.getType()->getScalarType()->is16bitFPTy(); });
    if (any) NarrowStorage(f, cpu).run();
  }
}

}  // namespace strata::simt
