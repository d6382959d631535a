// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/meeting_lanes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace strata::simt {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Loop;
using llvm::Value;

namespace {

constexpr unsigned kMostDepth = 6;

// Kinds that wait for each other: the width of what is compared does not part them.
LaneIntrinsic kindOf(LaneIntrinsic id) {
  if (id == LaneIntrinsic::matchAny32) return LaneIntrinsic::matchAny64;
  if (id == LaneIntrinsic::matchAll32) return LaneIntrinsic::matchAll64;
  return id;
}

bool collectives(const llvm::Function &function, llvm::SmallPtrSetImpl<const llvm::Function *> &seen) {
  if (!seen.insert(&function).second) return false;
  return llvm::any_of(llvm::instructions(function), [&](const Instruction &i) {
    const LaneIntrinsic id = calledIntrinsic(i);
    if (id == LaneIntrinsic::laneFunction) return collectives(*llvm::cast<llvm::CallBase>(i).getCalledFunction(), seen);
    return isCollective(id);
  });
}

// The callee has ended these lanes.
bool branchesOnExit(const BasicBlock &block) {
  auto *condition = dyn_cast<Instruction>(llvm::cast<llvm::BranchInst>(block.getTerminator())->getCondition());
  return condition && calledIntrinsic(*condition) == LaneIntrinsic::exited;
}

// What a branch's condition says on one of its sides.
class Known {
public:
  Known(Value *condition, unsigned way) { add(Term(condition, /*inverted=*/way == 1)); }

  // The side that a branch takes, or 2.
  unsigned sideOf(const llvm::BranchInst &branch) const {
    if (!branch.isConditional()) return 0;
    if (holds(Term(branch.getCondition(), false), 0)) return 0;
    return holds(Term(branch.getCondition(), true), 0) ? 1 : 2;
  }
  bool holds(Term term, unsigned depth) const {
    if (terms_.contains(term)) return true;
    if (auto *compare = dyn_cast<llvm::ICmpInst>(term.getPointer()))
      for (Term known : terms_)
        if (auto *other = dyn_cast<llvm::ICmpInst>(known.getPointer());
            other && sameSense(*compare, term, *other, known))
          return true;
    const llvm::SmallVector<Term, 2> parts = conjuncts(term);
    return depth < kMostDepth && !parts.empty() &&
           llvm::all_of(parts, [&](Term part) { return holds(part, depth + 1); });
  }

private:
  static bool sameSense(const llvm::ICmpInst &a, Term asked, const llvm::ICmpInst &b, Term known) {
    const auto predicate = [](const llvm::ICmpInst &i, Term t) {
      return t.getInt() ? i.getInversePredicate() : i.getPredicate();
    };
    return a.getOperand(0) == b.getOperand(0) && a.getOperand(1) == b.getOperand(1) &&
           predicate(a, asked) == predicate(b, known);
  }
  void add(Term term) {
    if (terms_.insert(term))
      for (Term part : conjuncts(term)) add(part);
  }
  llvm::SetVector<Term> terms_;
};

}  // namespace

bool hasCollectives(const llvm::Function &function) {
  llvm::SmallPtrSet<const llvm::Function *, 8> seen;
  return collectives(function, seen);
}

MeetingLanes::MeetingLanes(llvm::Function &function, const llvm::LoopInfo &loops, const BlockOrder &order,
                           const Uniformity &uniformity)
    : loops_(loops), order_(order), uniformity_(uniformity), postDominators_(loops, order) {
  const bool isKernel = function.hasFnAttribute("strata.kernel");
  for (BasicBlock *block : order.blocks())
    for (Instruction &i : *block) {
      const LaneIntrinsic id = calledIntrinsic(i);
      if (isCollective(id)) places_.push_back({&i, kindOf(id), llvm::cast<llvm::CallBase>(i).getArgOperand(0)});
      else if ((id == LaneIntrinsic::laneFunction &&
                hasCollectives(*llvm::cast<llvm::CallBase>(i).getCalledFunction())) ||
               (llvm::isa<llvm::ReturnInst>(i) && !isKernel))
        places_.push_back({&i, LaneIntrinsic::laneFunction, nullptr});
    }
  for (const Place &place : places_) placeOf_[place.instruction] = &place;
}

// A ballot that lanes from elsewhere may take part in names them: what rested on it is looked at again.
std::vector<Meeting> MeetingLanes::find() {
  std::vector<Meeting> found;
  for (bool again = true; again;) {
    found.clear();
    for (BasicBlock *split : order_.blocks())
      if (parts(*split)) findAt(*split, found);
    again = false;
    for (const Meeting &meeting : found) {
      again |= unsure_.insert(meeting.collective).second;
      again |= unsure_.insert(meeting.other).second;
    }
  }
  return found;
}

bool MeetingLanes::parts(const BasicBlock &block) const {
  if (!uniformity_.control().divergentBranch(&block) || branchesOnExit(block)) return false;
  std::set<const Value *> assumed;
  return !isSameInAll(llvm::cast<llvm::BranchInst>(block.getTerminator())->getCondition(), assumed);
}

// All lanes get the one value that a lane has given them all (nothing is defined if that lane is missing), or what is
// computed from such.
bool MeetingLanes::isSameInAll(const Value *value, std::set<const Value *> &assumed) const {
  const auto isSame = [&](const Value *operand) { return isSameInAll(operand, assumed); };
  auto *i = dyn_cast<Instruction>(value);
  if (!i || uniformity_.shape(value).isUniform() || !assumed.insert(value).second) return true;
  if (calledIntrinsic(*i) == LaneIntrinsic::shflIdx) {
    auto *call = llvm::cast<llvm::CallBase>(i);
    auto *segment = dyn_cast<llvm::ConstantInt>(call->getArgOperand(3));
    return gathersWarp(*i) && uniformity_.shape(call->getArgOperand(2)).isUniform() && segment &&
           (segment->getZExtValue() >> 8 & 31) == 0;
  }
  if (auto *phi = dyn_cast<llvm::PHINode>(i))
    return !uniformity_.control().isJoin(phi->getParent()) && llvm::all_of(phi->incoming_values(), isSame);
  const bool computes = llvm::isa<llvm::BinaryOperator, llvm::CmpInst, llvm::CastInst, llvm::SelectInst,
                                  llvm::FreezeInst, llvm::ExtractValueInst>(i);
  return computes && llvm::all_of(i->operands(), isSame);
}

void MeetingLanes::findAt(BasicBlock &split, std::vector<Meeting> &found) {
  std::map<std::pair<unsigned, const BasicBlock *>, Blocks> reached;
  for (const Place &place : places_) {
    if (llvm::isa<llvm::ReturnInst>(place.instruction)) continue;
    BasicBlock *block = place.instruction->getParent();
    const BasicBlock *meeting = meetingOf(split, *block);
    if (meeting == block) continue;
    for (unsigned way = 0; way < 2; ++way) {
      auto [at, isNew] = reached.try_emplace({way, meeting});
      if (isNew) at->second = reach(*split.getTerminator()->getSuccessor(way), meeting, nullptr);
      if (!at->second.contains(block)) continue;
      const Parting parting = {&split, way, meeting};
      if (place.mask && excludes(place.mask, place, parting, 0)) continue;
      for (const Place *other : othersAt(parting, place))
        found.push_back({&split, way, place.instruction, other->instruction});
    }
  }
}

// Where all lanes that part at `split` meet again. Those that stay in a loop with the collective need not meet the
// others.
const BasicBlock *MeetingLanes::meetingOf(const BasicBlock &split, const BasicBlock &collective) const {
  const BasicBlock *node = &split;
  for (const Loop *frame = loops_.getLoopFor(node);; frame = frame->getParentLoop()) {
    if (const BasicBlock *next = postDominators_.next(frame, node)) return next;
    if (!frame || frame->contains(&collective)) return nullptr;
    node = frame->getHeader();
  }
}

// Blocks that lanes come to from `start` before `end`, without going through `avoided`.
MeetingLanes::Blocks MeetingLanes::reach(BasicBlock &start, const BasicBlock *end, const BasicBlock *avoided) {
  Blocks reached;
  std::vector<BasicBlock *> todo;
  const auto go = [&](BasicBlock *to) {
    if (to != end && to != avoided && reached.insert(to).second) todo.push_back(to);
  };
  go(&start);
  while (!todo.empty()) {
    BasicBlock *block = todo.back();
    todo.pop_back();
    for (BasicBlock *to : llvm::successors(block)) go(to);
  }
  return reached;
}

// Where they come together to the collective, if they come there in the same round.
const BasicBlock *MeetingLanes::entryOf(const BasicBlock &split, const BasicBlock &collective) const {
  const BasicBlock *entry = &collective;
  for (const Loop *loop = loops_.getLoopFor(&collective); loop && !loop->contains(&split); loop = loop->getParentLoop())
    entry = loop->getHeader();
  return entry;
}

// Where the lanes that go the other way may meet those that wait at `waiting`, now or later, but for those that come
// there with them.
std::vector<const MeetingLanes::Place *> MeetingLanes::othersAt(const Parting &parting, const Place &waiting) const {
  auto *branch = llvm::cast<llvm::BranchInst>(parting.split->getTerminator());
  const Known known(branch->getCondition(), 1 - parting.way);
  auto *condition = dyn_cast<Instruction>(branch->getCondition());
  const Loop *home = condition ? loops_.getLoopFor(condition->getParent()) : nullptr;
  const BasicBlock *entry = entryOf(*parting.split, *waiting.instruction->getParent());
  std::vector<const Place *> found;
  struct Way {
    BasicBlock *to;
    bool holds, sameRound;  // what is known; of all loops around both
  };
  std::set<std::tuple<BasicBlock *, bool, bool>> reached;
  std::vector<Way> todo;
  const auto go = [&](BasicBlock *from, BasicBlock *to, bool holds, bool sameRound) {
    if (const Loop *ended = loops_.getLoopFor(to); ended && order_.index(to) <= order_.index(from)) {
      holds &= !ended->contains(home);
      sameRound &= !(ended->contains(parting.split) && ended->contains(waiting.instruction));
    }
    if (sameRound && to == entry) return;
    if (reached.insert({to, holds, sameRound}).second) todo.push_back({to, holds, sameRound});
  };
  go(parting.split, branch->getSuccessor(1 - parting.way), true, true);
  while (!todo.empty()) {
    const auto [block, holds, sameRound] = todo.back();
    todo.pop_back();
    bool stopped = false;
    for (const Instruction &i : *block) {
      if (const Place *place = placeOf_.lookup(&i)) {
        const bool any = place->kind == LaneIntrinsic::laneFunction || waiting.kind == LaneIntrinsic::laneFunction;
        const bool sameKind = place->kind == waiting.kind,
                   otherMask = place->mask && waiting.mask && place->mask != waiting.mask &&
                               llvm::isa<llvm::Constant>(place->mask) && llvm::isa<llvm::Constant>(waiting.mask);
        if ((any || (sameKind && !otherMask)) && !llvm::is_contained(found, place)) found.push_back(place);
      }
      if ((stopped = stops(i, waiting))) break;
    }
    if (stopped) continue;
    auto *end = dyn_cast<llvm::BranchInst>(block->getTerminator());
    const unsigned side = end && holds ? known.sideOf(*end) : 2;
    for (unsigned s = 0; end && s < end->getNumSuccessors(); ++s)
      if (side == 2 || side == s) go(block, end->getSuccessor(s), holds, sameRound);
  }
  return found;
}

// Lanes that come here wait for those that wait at `waiting`.
bool MeetingLanes::stops(const Instruction &i, const Place &waiting) const {
  if (gathersBlock(i)) return true;
  const Place *place = placeOf_.lookup(&i);
  return place && waiting.kind != LaneIntrinsic::laneFunction && place->kind != LaneIntrinsic::laneFunction &&
         place->kind != waiting.kind && gathersWarp(i);
}

// Whether the mask, in lanes that went the parting's way and came to `place`, names none that went the other way.
bool MeetingLanes::excludes(Value *mask, const Place &place, const Parting &parting, unsigned depth) const {
  using namespace llvm::PatternMatch;
  auto *i = dyn_cast<Instruction>(mask);
  if (!i || depth > kMostDepth) return false;
  Value *a = nullptr, *b = nullptr;
  if (match(i, m_And(m_Value(a), m_Value(b))))
    return excludes(a, place, parting, depth + 1) || excludes(b, place, parting, depth + 1);
  if (match(i, m_Shl(m_One(), m_Value(a))))  // itself alone
    return llvm::isa<Instruction>(a) && calledIntrinsic(*llvm::cast<Instruction>(a)) == LaneIntrinsic::lane;
  if (auto *extract = dyn_cast<llvm::ExtractValueInst>(i)) i = dyn_cast<Instruction>(extract->getAggregateOperand());
  if (!i || !isActiveLanes(*i)) return false;
  // Those who parted before are not there; those who part later are.
  const Blocks around =
      reach(*parting.split->getTerminator()->getSuccessor(parting.way), parting.meeting, i->getParent());
  if (!around.contains(place.instruction->getParent())) return true;
  auto *call = llvm::cast<llvm::CallBase>(i);
  if (calledIntrinsic(*i) == LaneIntrinsic::voteBallot &&
      Known(llvm::cast<llvm::BranchInst>(parting.split->getTerminator())->getCondition(), parting.way)
          .holds(Term(call->getArgOperand(1), false), 0))
    return true;
  return calledIntrinsic(*i) != LaneIntrinsic::activemask &&
         excludes(call->getArgOperand(0), place, parting, depth + 1);
}

// The result names only lanes that are there together.
bool MeetingLanes::isActiveLanes(const Instruction &mask) const {
  switch (calledIntrinsic(mask)) {
    case LaneIntrinsic::activemask: return true;
    case LaneIntrinsic::voteBallot:
    case LaneIntrinsic::matchAny32:
    case LaneIntrinsic::matchAny64:
    case LaneIntrinsic::matchAll32:
    case LaneIntrinsic::matchAll64: return !unsure_.contains(&mask);
    default: return false;
  }
}

}  // namespace strata::simt
