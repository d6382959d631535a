// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/idle_blocks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

#include "simt/analysis/lane_intrinsics.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Value;
using Predicate = llvm::CmpInst::Predicate;

constexpr unsigned kMostDepth = 12;

// Goes nowhere but to the end.
bool onlyReturns(const BasicBlock *block) {
  const Instruction &first = *block->getFirstNonPHIOrDbg();
  if (llvm::isa<llvm::ReturnInst>(first)) return true;
  auto *branch = dyn_cast<llvm::BranchInst>(&first);
  return branch && branch->isUnconditional() && branch->getSuccessor(0) != block &&
         onlyReturns(branch->getSuccessor(0));
}

// Terms that must all hold; `inverted`: that none of which may hold.
void addTerms(Value *condition, bool inverted, std::vector<std::pair<llvm::ICmpInst *, Predicate>> &terms) {
  using namespace llvm::PatternMatch;
  Value *a = nullptr, *b = nullptr;
  if (inverted ? match(condition, m_LogicalOr(m_Value(a), m_Value(b)))
               : match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))) {
    addTerms(a, inverted, terms);
    addTerms(b, inverted, terms);
  } else if (match(condition, m_Not(m_Value(a)))) {
    addTerms(a, !inverted, terms);
  } else if (auto *compare = dyn_cast<llvm::ICmpInst>(condition)) {
    terms.push_back({compare, inverted ? compare->getInversePredicate() : compare->getPredicate()});
  }
}

class IdleTestWriter {
public:
  explicit IdleTestWriter(llvm::Function &kernel) : kernel_(kernel), builder_(kernel.getContext()) {}

  llvm::Function *run() {
    BasicBlock &entry = kernel_.getEntryBlock();
    auto *branch = dyn_cast<llvm::BranchInst>(entry.getTerminator());
    if (!branch || !branch->isConditional()) return nullptr;
    const bool leavesIfTrue = onlyReturns(branch->getSuccessor(0));
    if (leavesIfTrue == onlyReturns(branch->getSuccessor(1))) return nullptr;
    for (Instruction &i : entry)
      if (i.mayHaveSideEffects() && !llvm::isa<llvm::DbgInfoIntrinsic>(i)) return nullptr;
    std::vector<std::pair<llvm::ICmpInst *, Predicate>> terms;
    addTerms(branch->getCondition(), leavesIfTrue, terms);
    start();
    Value *idle = nullptr;
    for (auto [compare, predicate] : terms)
      if (Value *fails = failsInAll(compare->getOperand(0), predicate, compare->getOperand(1)))
        idle = idle ? builder_.CreateOr(idle, fails) : fails;
    if (!idle) {
      test_->eraseFromParent();
      return nullptr;
    }
    builder_.CreateRet(idle);
    return test_;
  }

private:
  void start() {
    auto *type = llvm::FunctionType::get(builder_.getInt1Ty(), {builder_.getPtrTy()}, false);
    test_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "strata.idle", kernel_.getParent());
    builder_.SetInsertPoint(BasicBlock::Create(kernel_.getContext(), "entry", test_));
    copies_[kernel_.getArg(0)] = test_->getArg(0);
  }

  // i1: no thread of the block has `a predicate b`; null if that cannot be said.
  Value *failsInAll(Value *a, Predicate predicate, Value *b) {
    const bool ascends = predicate == Predicate::ICMP_SLT || predicate == Predicate::ICMP_SLE ||
                         predicate == Predicate::ICMP_ULT || predicate == Predicate::ICMP_ULE;
    const bool descends = predicate == Predicate::ICMP_SGT || predicate == Predicate::ICMP_SGE ||
                          predicate == Predicate::ICMP_UGT || predicate == Predicate::ICMP_UGE;
    if (descends) return failsInAll(b, llvm::CmpInst::getSwappedPredicate(predicate), a);
    if (!ascends || !a->getType()->isIntegerTy() || !spread(b, 0) || *spread(b, 0)) return nullptr;
    auto *extension = dyn_cast<llvm::CastInst>(a);
    if (extension && !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension)) extension = nullptr;
    const bool isSigned = extension ? llvm::isa<llvm::SExtInst>(extension) : llvm::CmpInst::isSigned(predicate);
    if (isSigned && llvm::CmpInst::isUnsigned(predicate)) return nullptr;
    Value *inner = extension ? extension->getOperand(0) : a;
    const std::optional<std::uint64_t> by = spread(inner, 0);
    if (!by || !*by) return nullptr;
    const unsigned bits = inner->getType()->getIntegerBitWidth();
    const llvm::APInt highest = isSigned ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    if (bits < 32 || highest.ult(*by)) return nullptr;
    Value *least = copy(inner), *bound = copy(b);
    Value *stays = builder_.CreateICmp(isSigned ? Predicate::ICMP_SLE : Predicate::ICMP_ULE, least,
                                       builder_.getInt(highest - *by));
    if (extension) least = builder_.CreateCast(extension->getOpcode(), least, a->getType());
    Value *fails = builder_.CreateICmp(llvm::CmpInst::getInversePredicate(predicate), least, bound);
    return builder_.CreateAnd(fails, stays);
  }

  // By how much a value may exceed that of tid 0 in the block, which it is never below, modulo its width: it is a sum
  // of multiples of tid and of what is the same in the block. None: it is something else.
  std::optional<std::uint64_t> spread(Value *value, unsigned depth) const {
    constexpr std::uint64_t kMostTid = 1023, kMostScale = 1 << 16;
    if (llvm::isa<llvm::Constant>(value)) return 0;
    if (value == kernel_.getArg(0)) return 0;
    auto *i = dyn_cast<Instruction>(value);
    if (!i || depth > kMostDepth || i->getParent() != &kernel_.getEntryBlock()) return std::nullopt;
    switch (calledIntrinsic(*i)) {
      case LaneIntrinsic::tidX:
      case LaneIntrinsic::tidY:
      case LaneIntrinsic::tidZ: return kMostTid;
      default: break;
    }
    if (llvm::isa<llvm::CallBase, llvm::PHINode, llvm::AllocaInst>(i)) return std::nullopt;
    auto *load = dyn_cast<llvm::LoadInst>(i);
    if (load && !load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) return std::nullopt;
    if (!load && i->mayReadOrWriteMemory()) return std::nullopt;
    std::uint64_t sum = 0;
    for (Value *operand : i->operands()) {
      const auto own = spread(operand, depth + 1);
      if (!own) return std::nullopt;
      sum += *own;
    }
    if (!sum) return i->isIntDivRem() ? std::nullopt : std::optional<std::uint64_t>(0);
    const bool adds = i->getOpcode() == Instruction::Add ||
                      (i->getOpcode() == Instruction::Or && llvm::cast<llvm::PossiblyDisjointInst>(i)->isDisjoint());
    if (adds) return sum;
    auto *factor = i->getNumOperands() == 2 ? dyn_cast<llvm::ConstantInt>(i->getOperand(1)) : nullptr;
    if (!factor || factor->getBitWidth() > 64 || factor->getValue().uge(kMostScale)) return std::nullopt;
    if (i->getOpcode() == Instruction::Mul) return sum * factor->getZExtValue();
    if (i->getOpcode() == Instruction::Shl && factor->getZExtValue() < 16) return sum << factor->getZExtValue();
    return std::nullopt;
  }

  // The value of tid 0. It need not be that of any thread's: what is promised of threads need not hold for it.
  Value *copy(Value *value) {
    if (llvm::isa<llvm::Constant>(value)) return value;
    Value *&known = copies_[value];
    if (known) return known;
    auto *i = llvm::cast<Instruction>(value);
    if (llvm::isa<llvm::CallBase>(i)) return known = llvm::Constant::getNullValue(i->getType());
    std::vector<Value *> operands;
    for (Value *operand : i->operands()) operands.push_back(copy(operand));
    Instruction *made = i->clone();
    made->setDebugLoc({});
    if (!llvm::isa<llvm::LoadInst>(made)) made->dropPoisonGeneratingFlags();
    for (unsigned n = 0; n < operands.size(); ++n) made->setOperand(n, operands[n]);
    return copies_[value] = builder_.Insert(made);
  }

  llvm::Function &kernel_;
  llvm::IRBuilder<> builder_;
  llvm::Function *test_ = nullptr;
  llvm::DenseMap<Value *, Value *> copies_;
};

}  // namespace

llvm::Function *writeIdleTest(llvm::Function &kernel) { return IdleTestWriter(kernel).run(); }

}  // namespace strata::simt
