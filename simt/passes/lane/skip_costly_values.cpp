// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/skip_costly_values.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "simt/analysis/conditions.h"
#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/uniformity.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Value;

using Terms = llvm::SmallSetVector<Term, 8>;

constexpr unsigned kMostTerms = 16, kMostDepth = 6, kMostTries = 32,
                   kMostBranches = 16;  // tries: in a block; branches: in a function

bool isPure(const Instruction &i) {
  if (i.isTerminator() || llvm::isa<llvm::PHINode, llvm::AllocaInst>(i) || i.mayReadOrWriteMemory() ||
      i.mayHaveSideEffects())
    return false;
  auto *call = dyn_cast<llvm::CallBase>(&i);
  return !call || !call->isConvergent();
}

// Adds the term and what follows from it.
void addImplied(Term term, Terms &terms, unsigned depth = 0) {
  if (llvm::isa<llvm::Constant>(term.getPointer()) || terms.size() >= kMostTerms || !terms.insert(term) ||
      depth == kMostDepth)
    return;
  for (Term part : conjuncts(term)) addImplied(part, terms, depth + 1);
}

// That two values differ, or that a number is one.
bool nearlyAlwaysHolds(Term term) {
  auto *compare = dyn_cast<llvm::CmpInst>(term.getPointer());
  if (!compare) return false;
  switch (term.getInt() ? compare->getInversePredicate() : compare->getPredicate()) {
    case llvm::CmpInst::ICMP_NE:
    case llvm::CmpInst::FCMP_ONE:
    case llvm::CmpInst::FCMP_UNE:
    case llvm::CmpInst::FCMP_ORD: return true;
    default: return false;
  }
}

// What moves behind one branch of a block.
struct Region {
  Term term;                                   // taken where it holds
  llvm::SetVector<Instruction *> moved;        // in their order
  llvm::DenseMap<Value *, Value *> otherwise;  // what values are where the term does not hold
  llvm::SetVector<Instruction *> after;        // in the block, need what moves
};

class Skipper {
public:
  Skipper(BasicBlock &block, const Uniformity &uniformity) : block_(block), uniformity_(uniformity) {}

  // The block behind a new branch, whose other side is the rest of this one; or null if there is nothing to do.
  BasicBlock *run();

private:
  void findTerms();
  void addTermsOf(const llvm::Use &use, Terms &terms) const;
  bool isNeededOnlyIf(Term term, Instruction &i) const;
  bool find(Term term, Region &region) const;
  Value *valueOtherwise(Instruction &i, const Region &region) const;
  bool makeRoom(const Region &region) const;
  BasicBlock *branch(const Region &region) const;
  bool usesAny(const Instruction &i, const llvm::SetVector<Instruction *> &of) const;

  BasicBlock &block_;
  const Uniformity &uniformity_;
  llvm::DenseMap<Instruction *, Terms> terms_;  // without one of which a value does not matter
};

// Terms without which this use does not matter: select %c, %used, %x matters only if %c holds.
void Skipper::addTermsOf(const llvm::Use &use, Terms &terms) const {
  using namespace llvm::PatternMatch;
  auto *user = llvm::cast<Instruction>(use.getUser());
  if (user->getParent() != &block_ || !isPure(*user)) return;
  if (auto known = terms_.find(user); known != terms_.end())
    for (Term term : known->second) terms.insert(term);
  Value *a = nullptr, *b = nullptr;
  if (auto *select = dyn_cast<llvm::SelectInst>(user); select && use.getOperandNo() > 0)
    addImplied(Term(select->getCondition(), use.getOperandNo() == 2), terms);
  const bool all = match(user, m_LogicalAnd(m_Value(a), m_Value(b)));
  if (all || match(user, m_LogicalOr(m_Value(a), m_Value(b)))) addImplied(Term(use.get() == a ? b : a, !all), terms);
}

void Skipper::findTerms() {
  for (Instruction &i : llvm::reverse(block_)) {
    if (!isPure(i) || i.use_empty()) continue;
    Terms all;
    for (const llvm::Use &use : i.uses()) {
      Terms one;
      addTermsOf(use, one);
      if (&use == &*i.use_begin()) all = one;
      else all.remove_if([&](Term term) { return !one.contains(term); });
      if (all.empty()) break;
    }
    if (!all.empty()) terms_[&i] = all;
  }
}

bool Skipper::isNeededOnlyIf(Term term, Instruction &i) const {
  auto known = terms_.find(&i);
  return known != terms_.end() && known->second.contains(term);
}

bool Skipper::usesAny(const Instruction &i, const llvm::SetVector<Instruction *> &of) const {
  return llvm::any_of(i.operands(), [&](const llvm::Use &operand) {
    auto *from = dyn_cast<Instruction>(operand);
    return from && of.contains(from);
  });
}

// What `i` is where the term does not hold, if it is a constant or a value that is there then; or null.
Value *Skipper::valueOtherwise(Instruction &i, const Region &region) const {
  using namespace llvm::PatternMatch;
  const auto value = [&](Value *of) -> Value * {
    if (Value *known = region.otherwise.lookup(of)) return known;
    auto *made = dyn_cast<Instruction>(of);
    return made && (region.moved.contains(made) || region.after.contains(made)) ? nullptr : of;
  };
  const auto is = [&](Value *of, bool what) {
    auto *constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(value(of));
    return constant && constant->getType()->isIntegerTy(1) && constant->isOne() == what;
  };
  Value *a = nullptr, *b = nullptr;
  if (match(&i, m_Not(m_Value(a)))) {
    if (is(a, true)) return llvm::ConstantInt::getFalse(i.getContext());
    return is(a, false) ? llvm::ConstantInt::getTrue(i.getContext()) : nullptr;
  }
  if (match(&i, m_LogicalAnd(m_Value(a), m_Value(b))) && (is(a, false) || is(b, false)))
    return llvm::ConstantInt::getFalse(i.getContext());
  if (match(&i, m_LogicalOr(m_Value(a), m_Value(b))) && (is(a, true) || is(b, true)))
    return llvm::ConstantInt::getTrue(i.getContext());
  auto *select = dyn_cast<llvm::SelectInst>(&i);
  if (!select) return nullptr;
  if (is(select->getCondition(), true)) return value(select->getTrueValue());
  return is(select->getCondition(), false) ? value(select->getFalseValue()) : nullptr;
}

// False if what moves cannot be told from what it needs.
bool Skipper::find(Term term, Region &region) const {
  region.term = term;
  if (auto *made = dyn_cast<Instruction>(term.getPointer()); made && isNeededOnlyIf(term, *made)) return false;
  region.otherwise[term.getPointer()] = llvm::ConstantInt::getBool(block_.getContext(), term.getInt());
  for (Instruction &i : block_) {
    if (isPure(i) && isNeededOnlyIf(term, i)) {
      if (usesAny(i, region.after)) return false;
      region.moved.insert(&i);
      continue;
    }
    const bool uses = !llvm::isa<llvm::PHINode>(i) && usesAny(i, region.moved);
    Value *known = isPure(i) && &i != term.getPointer() ? valueOtherwise(i, region) : nullptr;
    if (known) region.otherwise[&i] = known;
    if (known && uses && !usesAny(i, region.after)) region.moved.insert(&i);
    else if (uses || usesAny(i, region.after)) region.after.insert(&i);
  }
  // Each user of what moves moves too, or can take what it is otherwise.
  const auto moves = [&](llvm::User *user) { return region.moved.contains(llvm::cast<Instruction>(user)); };
  return llvm::all_of(region.moved,
                      [&](Instruction *i) { return region.otherwise.contains(i) || llvm::all_of(i->users(), moves); });
}

// Moves what the region and its branch need to before all that needs the region. Returns whether it could be.
bool Skipper::makeRoom(const Region &region) const {
  llvm::SetVector<Instruction *> needed;
  const auto need = [&](Value *value) {
    auto *i = dyn_cast<Instruction>(value);
    if (i && i->getParent() == &block_ && !region.moved.contains(i)) needed.insert(i);
  };
  need(region.term.getPointer());
  for (Instruction *i : region.moved) {
    for (Value *operand : i->operands()) need(operand);
    if (Value *otherwise = region.otherwise.lookup(i)) need(otherwise);
  }
  for (unsigned n = 0; n < needed.size(); ++n)
    for (Value *operand : needed[n]->operands()) need(operand);
  if (llvm::any_of(needed, [&](Instruction *i) { return region.after.contains(i); })) return false;
  Instruction *first = region.after.empty() ? block_.getTerminator() : region.after[0];
  llvm::SmallVector<Instruction *, 8> late;
  for (Instruction &i : llvm::make_range(first->getIterator(), block_.end()))
    if (needed.contains(&i)) late.push_back(&i);
  if (!llvm::all_of(late, [](Instruction *i) { return isPure(*i); })) return false;
  for (Instruction *i : late) i->moveBefore(first);
  return true;
}

BasicBlock *Skipper::branch(const Region &region) const {
  Instruction *first = region.after.empty() ? block_.getTerminator() : region.after[0];
  const llvm::DebugLoc where = region.moved.front()->getDebugLoc();
  BasicBlock *rest = block_.splitBasicBlock(first, "skipped");
  BasicBlock *costly = BasicBlock::Create(block_.getContext(), "costly", block_.getParent(), rest);
  llvm::BranchInst::Create(rest, costly)->setDebugLoc(where);
  for (Instruction *i : region.moved) i->moveBefore(costly->getTerminator());
  block_.getTerminator()->eraseFromParent();
  const bool inverted = region.term.getInt();
  llvm::BranchInst::Create(inverted ? rest : costly, inverted ? costly : rest, region.term.getPointer(), &block_)
      ->setDebugLoc(where);
  const auto isOutside = [&](llvm::Use &use) { return llvm::cast<Instruction>(use.getUser())->getParent() != costly; };
  for (Instruction *i : region.moved) {
    if (llvm::none_of(i->uses(), isOutside)) continue;
    llvm::PHINode *phi = llvm::PHINode::Create(i->getType(), 2, i->getName() + ".or", rest->begin());
    phi->setDebugLoc(i->getDebugLoc());
    i->replaceUsesWithIf(phi, isOutside);
    phi->addIncoming(i, costly);
    phi->addIncoming(region.otherwise.lookup(i), &block_);
  }
  // All that the term says holds there.
  Terms implied;
  addImplied(region.term, implied);
  for (Term term : implied)
    term.getPointer()->replaceUsesWithIf(llvm::ConstantInt::getBool(block_.getContext(), !term.getInt()),
                                         [&](llvm::Use &use) { return !isOutside(use); });
  return costly;
}

BasicBlock *Skipper::run() {
  findTerms();
  unsigned tries = 0;
  for (Instruction &i : block_) {
    if (!isSlow(i) || !isPure(i) || !uniformity_.shape(&i).isVarying()) continue;
    auto known = terms_.find(&i);
    if (known == terms_.end()) continue;
    for (Term term : known->second) {
      if (nearlyAlwaysHolds(term)) continue;
      if (++tries > kMostTries) return nullptr;
      Region region;
      if (find(term, region) && makeRoom(region)) return branch(region);
    }
  }
  return nullptr;
}

}  // namespace

bool isSlow(const Instruction &i) {
  if (i.getOpcode() == Instruction::FDiv || i.getOpcode() == Instruction::FRem || i.isIntDivRem()) return true;
  auto *call = dyn_cast<llvm::CallBase>(&i);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee) return false;
  if (callee->isIntrinsic()) return callee->getIntrinsicID() == llvm::Intrinsic::sqrt;
  return laneIntrinsic(*callee) == LaneIntrinsic::elementwise && callee->getName().starts_with("strata.approx.");
}

bool skipCostlyValues(llvm::Function &function, const ThreadIndex &threads) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  BlockOrder order(function, loops);
  Uniformity uniformity(function, loops, order, threads);
  std::vector<BasicBlock *> blocks;
  for (BasicBlock &block : function) blocks.push_back(&block);
  unsigned branches = 0;
  while (!blocks.empty() && branches < kMostBranches) {
    BasicBlock *costly = Skipper(*blocks.back(), uniformity).run();
    if (!costly) {
      blocks.pop_back();
      continue;
    }
    ++branches;
    blocks.back() = costly->getSingleSuccessor();
    blocks.push_back(costly);
  }
  return branches != 0;
}

}  // namespace strata::simt
