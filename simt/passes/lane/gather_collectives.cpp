// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/gather_collectives.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <vector>

#include "simt/analysis/meeting_lanes.h"
#include "simt/analysis/uniformity.h"
#include "simt/passes/lane/prepare.h"

namespace strata::simt {
namespace {

using llvm::AllocaInst;
using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Instruction;
using llvm::Loop;
using llvm::Value;

constexpr std::size_t kMostCollectives = 100, kMostInstructions = 8000;  // of a region

std::string lineOf(const Instruction &i) {
  const llvm::DebugLoc &at = i.getDebugLoc();
  return at && at.getLine() ? " (line " + std::to_string(at.getLine()) + ")" : "";
}

bool isGathered(const Instruction &i) {
  const LaneIntrinsic id = calledIntrinsic(i);
  return isCollective(id) || id == LaneIntrinsic::activemask;
}

struct Region {
  const Loop *frame = nullptr;  // directly in it are all blocks, or headers of loops of which all blocks are
  BasicBlock *entry = nullptr;
  llvm::SetVector<BasicBlock *> blocks;

  // Else lanes come to the first block once, together.
  bool startsAgain() const {
    return llvm::any_of(llvm::predecessors(entry), [&](BasicBlock *from) { return blocks.contains(from); });
  }
};

// What in the region keeps lanes from being gathered, or null.
const Instruction *obstacle(const Region &region, std::string &what) {
  std::size_t collectives = 0, instructions = 0;
  const bool startsOnce = !region.startsAgain();
  for (BasicBlock *block : region.blocks)
    for (Instruction &i : *block) {
      if (block == region.entry && startsOnce && !i.isTerminator()) continue;
      ++instructions;
      collectives += isGathered(i);
      const bool calls = calledIntrinsic(i) == LaneIntrinsic::laneFunction &&
                         hasCollectives(*llvm::cast<llvm::CallBase>(i).getCalledFunction());
      what = isBarrier(calledIntrinsic(i)) ? "a barrier between them" : calls ? "a call between them" : "";
      if (!what.empty()) return &i;
      if (collectives <= kMostCollectives && instructions <= kMostInstructions) continue;
      what = "too much code between them";
      return &i;
    }
  return nullptr;
}

// --- which regions ---------------------------------------------------------------------------------------------

class RegionFinder {
public:
  RegionFinder(const llvm::DominatorTree &dominators, const llvm::LoopInfo &loops, const BlockOrder &order)
      : dominators_(dominators), loops_(loops), order_(order), postDominators_(loops, order) {}

  // Disjoint regions in which all lanes that meet stay until they have.
  std::vector<Region> find(const std::vector<Meeting> &meetings) const {
    std::vector<Region> regions;
    for (const Meeting &meeting : meetings) {
      const bool isIn = llvm::any_of(regions, [&](const Region &region) {
        const auto comes = [&](unsigned way, const Instruction &to) {
          return comesWithin(region, meeting.split->getTerminator()->getSuccessor(way), to.getParent());
        };
        return region.blocks.contains(meeting.split) && comes(meeting.way, *meeting.collective) &&
               comes(1 - meeting.way, *meeting.other);
      });
      if (!isIn) add(regions, around(meeting));
    }
    return regions;
  }

private:
  using Blocks = llvm::SetVector<BasicBlock *>;

  void add(std::vector<Region> &regions, Region region) const {
    for (std::size_t i = 0; i < regions.size();) {
      if (llvm::none_of(regions[i].blocks, [&](BasicBlock *block) { return region.blocks.contains(block); })) {
        ++i;
        continue;
      }
      Blocks both = region.blocks;
      both.insert(regions[i].blocks.begin(), regions[i].blocks.end());
      const bool known = both.size() == regions[i].blocks.size();
      if (known) return;
      region = cover(commonLoop(region.frame, regions[i].frame), both);
      regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
    regions.push_back(std::move(region));
  }

  static const Loop *commonLoop(const Loop *a, const Loop *b) {
    while (a && !(b && a->contains(b))) a = a->getParentLoop();
    return a;
  }

  Region around(const Meeting &meeting) const {
    Blocks blocks;
    blocks.insert(meeting.split);
    blocks.insert(meeting.collective->getParent());
    blocks.insert(meeting.other->getParent());
    const Loop *frame = loops_.getLoopFor(meeting.split);
    for (BasicBlock *block : blocks) frame = commonLoop(frame, loops_.getLoopFor(block));
    const auto *branch = meeting.split->getTerminator();
    for (; frame; frame = frame->getParentLoop()) {
      if (comesInRound(*frame, branch->getSuccessor(meeting.way), meeting.collective->getParent()) &&
          comesInRound(*frame, branch->getSuccessor(1 - meeting.way), meeting.other->getParent()))
        break;
      blocks.insert(frame->getHeader());
      blocks.insert(frame->block_begin(), frame->block_end());
    }
    return cover(frame, blocks);
  }

  // A way leads there that does not leave the region.
  static bool comesWithin(const Region &region, BasicBlock *from, const BasicBlock *to) {
    Blocks reached;
    reached.insert(from);
    for (std::size_t n = 0; n < reached.size(); ++n)
      for (BasicBlock *next : llvm::successors(reached[n]))
        if (region.blocks.contains(next)) reached.insert(next);
    return region.blocks.contains(from) && reached.contains(const_cast<BasicBlock *>(to));
  }

  // A way leads there within one round of the loop.
  static bool comesInRound(const Loop &loop, BasicBlock *from, const BasicBlock *to) {
    Blocks reached;
    const auto go = [&](BasicBlock *block) {
      if (loop.contains(block) && block != loop.getHeader()) reached.insert(block);
    };
    go(from);
    for (std::size_t n = 0; n < reached.size(); ++n)
      for (BasicBlock *next : llvm::successors(reached[n])) go(next);
    return reached.contains(const_cast<BasicBlock *>(to));
  }

  // The header of the outermost loop within `frame` around the block, or the block.
  BasicBlock *lift(const Loop *frame, BasicBlock *block) const {
    const Loop *loop = loops_.getLoopFor(block);
    if (loop == frame) return block;
    while (loop->getParentLoop() != frame) loop = loop->getParentLoop();
    return loop->getHeader();
  }

  // The smallest region of the frame, or of one around, that has these blocks, is entered in one place and left for
  // one.
  Region cover(const Loop *frame, Blocks blocks) const {
    for (;;) {
      Region region;
      region.frame = frame;
      Blocks nodes;
      for (BasicBlock *block : blocks) nodes.insert(lift(frame, block));
      region.entry = nodes[0];
      for (BasicBlock *node : nodes)
        region.entry = lift(frame, dominators_.findNearestCommonDominator(region.entry, node));
      const BasicBlock *end = endAfter(frame, region.entry, nodes);
      std::string what;
      if (end || !frame) collect(region, end);
      if ((!end || obstacle(region, what)) && !collectUpToQuietEnd(region, nodes) && !end && frame) {
        blocks.insert(frame->block_begin(), frame->block_end());
        frame = frame->getParentLoop();
        continue;
      }
      const std::size_t known = blocks.size();
      for (BasicBlock *block : region.blocks)
        if (block != region.entry)
          for (BasicBlock *from : llvm::predecessors(block))
            if (!region.blocks.contains(from)) blocks.insert(from);
      if (blocks.size() == known) return region;
      const Loop *outer = frame;
      for (BasicBlock *block : blocks) outer = commonLoop(outer, loops_.getLoopFor(block));
      frame = outer;
    }
  }

  // Up to the first block that all lanes come to after all nodes but for those that end before, without a collective or
  // a barrier.
  bool collectUpToQuietEnd(Region &region, const Blocks &nodes) const {
    unsigned last = 0;
    for (const BasicBlock *node : nodes) last = std::max(last, order_.index(node));
    for (const BasicBlock *end : llvm::drop_begin(order_.blocks(), last + 1)) {
      if (region.frame && !region.frame->contains(end)) continue;
      if (lift(region.frame, const_cast<BasicBlock *>(end)) != end) continue;
      Region all;
      all.entry = region.entry;
      collect(all, end);
      if (region.frame && all.blocks.contains(region.frame->getHeader()) && region.entry != region.frame->getHeader())
        continue;
      const Blocks before = leadingTo(nodes, end);
      Blocks quiet;
      for (BasicBlock *block : all.blocks)
        if (order_.index(block) > last && !before.contains(block)) quiet.insert(block);
      const bool isQuiet = llvm::none_of(quiet, [](const BasicBlock *block) {
        return llvm::any_of(*block, [](const Instruction &i) {
          return isGathered(i) || isBarrier(calledIntrinsic(i)) || calledIntrinsic(i) == LaneIntrinsic::laneFunction;
        });
      });
      if (!isQuiet) continue;
      Region found = region;
      found.blocks.clear();
      for (BasicBlock *block : all.blocks)
        if (!quiet.contains(block)) found.blocks.insert(block);
      std::string what;
      if (obstacle(found, what)) return false;  // later ends only have more
      region = found;
      return true;
    }
    return false;
  }

  static Blocks leadingTo(const Blocks &nodes, const BasicBlock *end) {
    Blocks before = nodes;
    for (std::size_t n = 0; n < before.size(); ++n)
      for (BasicBlock *from : llvm::predecessors(before[n]))
        if (from != end) before.insert(from);
    return before;
  }

  // Where all lanes that start at `entry` come to after all nodes.
  const BasicBlock *endAfter(const Loop *frame, const BasicBlock *entry, const Blocks &nodes) const {
    const BasicBlock *end = entry;
    const auto passed = [&](BasicBlock *node) { return end != node && order_.index(end) > order_.index(node); };
    while (end && !llvm::all_of(nodes, passed)) end = postDominators_.next(frame, end);
    return end;
  }

  static void collect(Region &region, const BasicBlock *end) {
    region.blocks.clear();
    region.blocks.insert(region.entry);
    for (std::size_t n = 0; n < region.blocks.size(); ++n)
      for (BasicBlock *to : llvm::successors(region.blocks[n]))
        if (to != end) region.blocks.insert(to);
  }

  const llvm::DominatorTree &dominators_;
  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  FramePostDominators postDominators_;
};

// What all lanes come to together in the region's first block stays outside, before it.
void trim(llvm::Function &function, Region &region, llvm::DominatorTree &dominators, llvm::LoopInfo &loops) {
  BasicBlock *entry = region.entry;
  if (region.startsAgain()) return;
  if (entry == &function.getEntryBlock()) {
    std::vector<Instruction *> allocas;
    for (Instruction &i : *entry)
      if (llvm::isa<AllocaInst>(i)) allocas.push_back(&i);
    for (Instruction *alloca : llvm::reverse(allocas)) alloca->moveBefore(*entry, entry->begin());
  }
  region.entry = llvm::SplitBlock(entry, entry->getTerminator(), &dominators, &loops);
  region.blocks.remove(entry);
  region.blocks.insert(region.entry);
}

// --- the loop in place of a region -----------------------------------------------------------------------------

class Gatherer {
public:
  Gatherer(llvm::Function &function, Region &region, const Uniformity &uniformity, llvm::DominatorTree &dominators,
           llvm::LoopInfo &loops)
      : function_(function),
        region_(region),
        uniformity_(uniformity),
        dominators_(dominators),
        loops_(loops),
        builder_(function.getContext()) {}

  void run() {
    state_ = slot(builder_.getInt32Ty(), "state");
    collectClasses();
    place_ = classes_[0].places[0].call->getDebugLoc();
    for (Class &kind : classes_)
      for (Place &place : kind.places) split(kind, place);
    for (Class &kind : classes_)  // blocks were split again and again
      for (Place &place : kind.places) place.before = place.after->getSinglePredecessor();
    collectStarts();
    demoteValues();
    gather_ = newBlock("gather");
    again_ = newBlock("again");
    llvm::BranchInst::Create(gather_, again_);
    builder_.SetCurrentDebugLocation(place_);
    for (Class &kind : classes_)
      for (Place &place : kind.places) leaveFor(place);
    for (Start &start : starts_) startThrough(start);
    writeGather();
    llvm::DominatorTree dominators(function_);
    llvm::erase_if(slots_, [](AllocaInst *slot) {
      if (!slot->use_empty()) return false;
      slot->eraseFromParent();
      return true;
    });
    llvm::PromoteMemToReg(slots_, dominators);
  }

private:
  // A collective; its number is the state of lanes that wait there.
  struct Place {
    CallInst *call;
    BasicBlock *before = nullptr, *after = nullptr;
    std::uint32_t number = 0;
  };
  // Collectives of one kind: one call for all. What is the same in all places needs no slot.
  struct Class {
    LaneIntrinsic kind;
    llvm::Function *callee;
    std::vector<Place> places;
    std::vector<Value *> operands;
    llvm::SmallVector<AllocaInst *, 2> results;
    std::uint32_t number(std::size_t i) const { return places[i].number; }
    bool isActivemask() const { return kind == LaneIntrinsic::activemask; }
  };
  // A block that lanes are sent to without waiting: where the region starts, and loops of it which lanes may go round
  // without a collective.
  struct Start {
    BasicBlock *block;
    std::uint32_t number = 0;
  };

  BasicBlock *newBlock(const llvm::Twine &name) {
    return BasicBlock::Create(function_.getContext(), name, &function_, region_.entry);
  }
  AllocaInst *slot(llvm::Type *type, const llvm::Twine &name) {
    BasicBlock &entry = function_.getEntryBlock();
    slots_.push_back(new AllocaInst(type, 0, name, entry.begin()));
    return slots_.back();
  }

  static LaneIntrinsic classOf(const Instruction &call) {
    const LaneIntrinsic id = calledIntrinsic(call);
    if (id == LaneIntrinsic::matchAny32) return LaneIntrinsic::matchAny64;
    if (id == LaneIntrinsic::matchAll32) return LaneIntrinsic::matchAll64;
    return id;
  }

  void collectClasses() {
    for (BasicBlock *block : region_.blocks)
      for (Instruction &i : *block) {
        if (!isGathered(i)) continue;
        auto *call = llvm::cast<CallInst>(&i);
        auto kind = llvm::find_if(classes_, [&](const Class &known) {
          return known.kind == classOf(i) && known.kind != LaneIntrinsic::activemask;
        });
        if (kind == classes_.end()) kind = classes_.insert(kind, {classOf(i), call->getCalledFunction(), {}, {}, {}});
        if (widthOf(*kind->callee) < widthOf(*call->getCalledFunction())) kind->callee = call->getCalledFunction();
        kind->places.push_back({call});
      }
    // Those that only others waiting for nobody let go on come last.
    llvm::stable_sort(classes_, [](const Class &a, const Class &b) { return !a.isActivemask() && b.isActivemask(); });
    for (Class &kind : classes_) {
      for (Place &place : kind.places) place.number = count_++;
      mask_ = sameMask(kind, mask_);
    }
    for (Class &kind : classes_) chooseOperands(kind);
    if (!mask_) maskSlot_ = slot(builder_.getInt32Ty(), "mask");
  }

  static unsigned widthOf(const llvm::Function &callee) {
    return callee.arg_size() < 2 ? 0 : callee.getArg(1)->getType()->getIntegerBitWidth();
  }

  // The one mask of all collectives in all lanes, or null.
  Value *sameMask(const Class &kind, Value *known) const {
    if (kind.isActivemask()) return known;
    for (const Place &place : kind.places) {
      Value *mask = place.call->getArgOperand(0);
      const bool first = &kind == &classes_.front() && &place == &kind.places.front();
      if (!isFromOutside(mask) || !uniformity_.shape(mask).isUniform() || (!first && mask != known)) return nullptr;
      known = mask;
    }
    return known;
  }

  bool isFromOutside(Value *value) const {
    auto *made = llvm::dyn_cast<Instruction>(value);
    return !made || !region_.blocks.contains(made->getParent());
  }

  void chooseOperands(Class &kind) {
    for (unsigned j = 1; j < kind.callee->arg_size(); ++j) {
      Value *same = kind.places[0].call->getArgOperand(j);
      const bool isSame =
          isFromOutside(same) && same->getType() == kind.callee->getArg(j)->getType() &&
          llvm::all_of(kind.places, [&](const Place &place) { return place.call->getArgOperand(j) == same; });
      kind.operands.push_back(isSame ? same : slot(kind.callee->getArg(j)->getType(), "operand"));
    }
    llvm::Type *type = kind.callee->getReturnType();
    if (auto *pair = llvm::dyn_cast<llvm::StructType>(type))
      for (llvm::Type *element : pair->elements()) kind.results.push_back(slot(element, "result"));
    else if (!type->isVoidTy()) kind.results.push_back(slot(type, "result"));
  }

  bool isOwnSlot(Value *value) const { return llvm::is_contained(slots_, value); }

  // The operands are left in slots, the results are taken from slots, the call goes.
  void split(Class &kind, Place &place) {
    CallInst *call = place.call;
    BasicBlock *block = call->getParent();
    place.after = llvm::SplitBlock(block, std::next(call->getIterator()), &dominators_, &loops_);
    place.after->setName(block->getName() + ".met");
    region_.blocks.insert(place.after);
    builder_.SetInsertPoint(call);
    if (maskSlot_) builder_.CreateStore(kind.isActivemask() ? builder_.getInt32(0) : call->getArgOperand(0), maskSlot_);
    builder_.CreateStore(builder_.getInt32(place.number), state_);
    for (unsigned j = 1; j < kind.callee->arg_size(); ++j)
      if (Value *to = kind.operands[j - 1]; isOwnSlot(to))
        builder_.CreateStore(builder_.CreateZExt(call->getArgOperand(j), kind.callee->getArg(j)->getType()), to);
    block->getTerminator()->setDebugLoc(call->getDebugLoc());
    builder_.SetInsertPoint(place.after, place.after->begin());
    takeResults(kind, *call);
    call->eraseFromParent();
    place.call = nullptr;
  }

  void takeResults(Class &kind, CallInst &call) {
    if (kind.results.empty()) return;
    const auto load = [&](unsigned i) {
      return builder_.CreateLoad(kind.results[i]->getAllocatedType(), kind.results[i]);
    };
    if (kind.results.size() == 1) return call.replaceAllUsesWith(load(0));
    Value *parts[2] = {load(0), load(1)};
    Value *pair = nullptr;
    for (llvm::User *user : llvm::make_early_inc_range(call.users()))
      if (auto *extract = llvm::dyn_cast<llvm::ExtractValueInst>(user)) {
        extract->replaceAllUsesWith(parts[extract->getIndices()[0]]);
        extract->eraseFromParent();
      } else if (!pair) {
        pair = builder_.CreateInsertValue(llvm::PoisonValue::get(call.getType()), parts[0], 0);
        pair = builder_.CreateInsertValue(pair, parts[1], 1);
      }
    if (pair) call.replaceAllUsesWith(pair);
  }

  // Where lanes are sent without having waited.
  void collectStarts() {
    starts_.push_back({region_.entry, count_++});
    for (Loop *loop : loops_.getLoopsInPreorder()) {
      BasicBlock *header = loop->getHeader();
      if (!region_.blocks.contains(header) || header == region_.entry) continue;
      const bool waits = llvm::any_of(loop->blocks(), [&](BasicBlock *block) { return endsAtPlace(*block); });
      if (waits && goesRoundFreely(*loop)) starts_.push_back({header, count_++});
    }
  }

  bool endsAtPlace(const BasicBlock &block) const {
    return llvm::any_of(classes_, [&](const Class &kind) {
      return llvm::any_of(kind.places, [&](const Place &place) { return place.before == &block; });
    });
  }

  // A way leads round the loop without a collective.
  bool goesRoundFreely(const Loop &loop) const {
    llvm::SetVector<BasicBlock *> reached;
    reached.insert(loop.getHeader());
    for (std::size_t n = 0; n < reached.size(); ++n) {
      if (endsAtPlace(*reached[n])) continue;
      for (BasicBlock *to : llvm::successors(reached[n])) {
        if (to == loop.getHeader()) return true;
        if (loop.contains(to)) reached.insert(to);
      }
    }
    return false;
  }

  // What lives from block to block goes through memory until all ways are there.
  void demoteValues() {
    std::vector<llvm::PHINode *> phis;
    for (const Start &start : starts_)
      for (llvm::PHINode &phi : start.block->phis()) phis.push_back(&phi);
    for (llvm::PHINode *phi : phis)
      if (AllocaInst *slot = llvm::DemotePHIToStack(phi)) slots_.push_back(slot);
    std::vector<Instruction *> values;
    for (BasicBlock *block : region_.blocks)
      for (Instruction &i : *block)
        if (!llvm::isa<AllocaInst>(i) && usedElsewhere(i)) values.push_back(&i);
    for (Instruction *i : values)
      if (AllocaInst *slot = llvm::DemoteRegToStack(*i)) slots_.push_back(slot);
  }

  static bool usedElsewhere(const Instruction &i) {
    return llvm::any_of(i.users(), [&](const llvm::User *user) {
      return llvm::isa<llvm::PHINode>(user) || llvm::cast<Instruction>(user)->getParent() != i.getParent();
    });
  }

  void leaveFor(Place &place) {
    Instruction *end = place.before->getTerminator();
    auto *jump = llvm::BranchInst::Create(again_, end->getIterator());
    jump->setDebugLoc(end->getDebugLoc());
    jump->setMetadata(kGathered, llvm::MDNode::get(function_.getContext(), {}));
    end->eraseFromParent();
  }

  // What went to the block goes to the gathering, with its number: from outside, or for another round.
  void startThrough(Start &start) {
    const bool isEntry = start.block == region_.entry;
    std::vector<BasicBlock *> outside, inside;
    for (BasicBlock *from : llvm::SmallVector<BasicBlock *, 4>(llvm::predecessors(start.block)))
      if (!region_.blocks.contains(from)) outside.push_back(from);
      else if (isEntry || comesRound(*from, *start.block)) inside.push_back(from);
    sendThrough(start, outside, gather_);
    sendThrough(start, inside, again_);
  }

  void sendThrough(const Start &start, llvm::ArrayRef<BasicBlock *> from, BasicBlock *to) {
    if (from.empty()) return;
    BasicBlock *through = newBlock(start.block->getName() + ".start");
    for (BasicBlock *block : from) block->getTerminator()->replaceSuccessorWith(start.block, through);
    builder_.SetInsertPoint(through);
    builder_.CreateStore(builder_.getInt32(start.number), state_);
    if (maskSlot_) builder_.CreateStore(builder_.getInt32(0), maskSlot_);
    builder_.CreateBr(to);
  }

  bool comesRound(const BasicBlock &from, const BasicBlock &header) const {
    const Loop *loop = loops_.getLoopFor(&header);
    return loop && loop->getHeader() == &header && loop->contains(&from);
  }

  Value *isIn(const Class &kind) {
    if (kind.places.size() == 1) return builder_.CreateICmpEQ(now_, builder_.getInt32(kind.number(0)));
    Value *above = builder_.CreateSub(now_, builder_.getInt32(kind.number(0)));
    return builder_.CreateICmpULT(above, builder_.getInt32(static_cast<std::uint32_t>(kind.places.size())));
  }

  CallInst *call(llvm::StringRef name, llvm::Type *result, llvm::ArrayRef<Value *> operands) {
    std::vector<llvm::Type *> types;
    for (Value *operand : operands) types.push_back(operand->getType());
    llvm::FunctionCallee callee =
        function_.getParent()->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    CallInst *made = builder_.CreateCall(callee, operands);
    made->setConvergent();
    made->setDoesNotThrow();
    return made;
  }

  // Lanes that stand at a collective of the same kind and mask, in each of them.
  Value *groups(Value *here, llvm::ArrayRef<Value *> isIn, Value *mask) {
    llvm::Type *i32 = builder_.getInt32Ty(), *i64 = builder_.getInt64Ty();
    if (mask_) {
      Value *group = builder_.getInt32(0);
      for (Value *in : isIn) group = builder_.CreateSelect(in, call("strata.vote.ballot", i32, {here, in}), group);
      return group;
    }
    Value *number = builder_.getInt32(0);
    for (std::size_t k = 0; k < classes_.size(); ++k)
      number = builder_.CreateSelect(isIn[k], builder_.getInt32(static_cast<std::uint32_t>(k + 1)), number);
    Value *key =
        builder_.CreateOr(builder_.CreateShl(builder_.CreateZExt(number, i64), 32), builder_.CreateZExt(mask, i64));
    return call("strata.match.any.i64", i32, {here, key});
  }

  void writeGather() {
    llvm::Type *i32 = builder_.getInt32Ty(), *i1 = builder_.getInt1Ty();
    BasicBlock *wait = newBlock("wait"), *fires = newBlock("fires");
    builder_.SetInsertPoint(gather_);
    now_ = builder_.CreateLoad(i32, state_, "state");
    Value *here = call("strata.activemask", i32, {});
    Value *mask = mask_ ? mask_ : builder_.CreateLoad(i32, maskSlot_, "mask");
    llvm::SmallVector<Value *, 8> in;
    for (const Class &kind : classes_) in.push_back(isIn(kind));
    group_ = groups(here, in, mask);
    Value *late = builder_.CreateAnd(builder_.CreateAnd(mask, here), builder_.CreateNot(group_));
    Value *complete = builder_.CreateICmpEQ(late, builder_.getInt32(0));
    Value *starts = builder_.CreateICmpUGE(now_, builder_.getInt32(starts_[0].number)),
          *converged = builder_.getFalse();
    for (std::size_t k = 0; k < classes_.size(); ++k)
      if (classes_[k].isActivemask()) converged = builder_.CreateOr(converged, in[k]);
    complete =
        builder_.CreateSelect(starts, builder_.getTrue(), builder_.CreateAnd(complete, builder_.CreateNot(converged)));
    Value *any = call("strata.vote.any", i1, {here, complete});
    Value *otherwise =
        builder_.CreateSelect(call("strata.vote.any", i1, {here, converged}), converged, builder_.getTrue());
    builder_.CreateCondBr(builder_.CreateSelect(any, complete, otherwise), fires, wait);
    builder_.SetInsertPoint(wait);
    builder_.CreateBr(again_);

    builder_.SetInsertPoint(fires);
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      BasicBlock *fire = newBlock("fire"), *next = newBlock("fires");
      builder_.CreateCondBr(in[k], fire, next);
      builder_.SetInsertPoint(fire);
      writeFire(classes_[k]);
      builder_.SetInsertPoint(next);
    }
    llvm::SmallVector<std::pair<std::uint32_t, BasicBlock *>, 8> ways;
    for (const Start &start : starts_) ways.push_back({start.number, start.block});
    writeDispatch(ways);
  }

  void writeFire(Class &kind) {
    if (kind.isActivemask()) {
      builder_.CreateStore(group_, kind.results[0]);
    } else {
      std::vector<Value *> operands = {group_};
      for (std::size_t j = 0; j < kind.operands.size(); ++j)
        operands.push_back(
            isOwnSlot(kind.operands[j])
                ? builder_.CreateLoad(kind.callee->getArg(static_cast<unsigned>(j + 1))->getType(), kind.operands[j])
                : kind.operands[j]);
      CallInst *met = builder_.CreateCall(kind.callee, operands);
      met->setConvergent();
      if (kind.results.size() == 1) builder_.CreateStore(met, kind.results[0]);
      for (unsigned r = 0; kind.results.size() == 2 && r < 2; ++r)
        builder_.CreateStore(builder_.CreateExtractValue(met, r), kind.results[r]);
    }
    llvm::SmallVector<std::pair<std::uint32_t, BasicBlock *>, 8> ways;
    for (const Place &place : kind.places) ways.push_back({place.number, place.after});
    writeDispatch(ways);
  }

  void writeDispatch(llvm::ArrayRef<std::pair<std::uint32_t, BasicBlock *>> ways) {
    for (auto [number, to] : ways.drop_back()) {
      BasicBlock *next = newBlock("fires");
      builder_.CreateCondBr(builder_.CreateICmpEQ(now_, builder_.getInt32(number)), to, next);
      builder_.SetInsertPoint(next);
    }
    builder_.CreateBr(ways.back().second);
  }

  llvm::Function &function_;
  Region &region_;
  const Uniformity &uniformity_;
  llvm::DominatorTree &dominators_;
  llvm::LoopInfo &loops_;
  llvm::IRBuilder<> builder_;
  std::vector<AllocaInst *> slots_;
  std::vector<Class> classes_;
  std::vector<Start> starts_;
  AllocaInst *state_ = nullptr, *maskSlot_ = nullptr;
  Value *mask_ = nullptr;                            // if it is the same in all places
  Value *now_ = nullptr, *group_ = nullptr;          // in a round: the state, the lanes that take part together
  BasicBlock *gather_ = nullptr, *again_ = nullptr;  // one way round: it is one loop
  llvm::DebugLoc place_;                             // in the source, of the gathering
  std::uint32_t count_ = 0;
};

// So that a region can end before a barrier.
void splitAtBarriers(llvm::Function &function) {
  std::vector<Instruction *> barriers;
  for (Instruction &i : llvm::instructions(function))
    if (isBarrier(calledIntrinsic(i)) && i.getPrevNode()) barriers.push_back(&i);
  for (Instruction *barrier : barriers) llvm::SplitBlock(barrier->getParent(), barrier->getIterator());
}

}  // namespace

bool lanesMeet(llvm::Function &function, const ThreadIndex &threads) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const BlockOrder order(function, loops);
  const Uniformity uniformity(function, loops, order, threads);
  return !MeetingLanes(function, loops, order, uniformity).find().empty();
}

std::optional<std::string> gatherCollectives(llvm::Function &function, const ThreadIndex &threads) {
  if (function.hasFnAttribute(kTogether) || !hasCollectives(function)) return std::nullopt;
  splitAtBarriers(function);
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  const BlockOrder order(function, loops);
  const Uniformity uniformity(function, loops, order, threads);
  const std::vector<Meeting> meetings = MeetingLanes(function, loops, order, uniformity).find();
  const auto other = llvm::find_if(meetings, [](const Meeting &meeting) {
    return !isCollective(calledIntrinsic(*meeting.collective)) || !isCollective(calledIntrinsic(*meeting.other));
  });
  if (other != meetings.end())
    return "lanes may meet in a collective" + lineOf(*other->collective) + " from different calls" +
           lineOf(*other->other);
  std::vector<Region> regions = RegionFinder(dominators, loops, order).find(meetings);
  for (Region &region : regions) {
    trim(function, region, dominators, loops);
    std::string what;
    const Instruction *in = obstacle(region, what);
    if (!in) continue;
    const auto of =
        llvm::find_if(meetings, [&](const Meeting &m) { return region.blocks.contains(m.collective->getParent()); });
    return "lanes may meet in collectives" + lineOf(*of->collective) + " and" + lineOf(*of->other) + ", with " + what +
           lineOf(*in);
  }
  for (Region &region : regions) Gatherer(function, region, uniformity, dominators, loops).run();
  if (!regions.empty()) formLoops(function);
  return std::nullopt;
}

}  // namespace strata::simt
