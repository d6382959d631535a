// SPDX-License-Identifier: Apache-2.0
#include "simt/emit/report.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>
#include <vector>

#include "simt/analysis/array_names.h"
#include "simt/analysis/lane_intrinsics.h"
#include "simt/passes/lane/gather_collectives.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::dyn_cast;

namespace {

constexpr const char *kStrideTest = "strata.stride.test";

// Tests whose first side is the usual way: for full warps (warp_full.h), for a stride.
bool testsFullWarp(const BasicBlock &block) {
  auto *branch = dyn_cast<llvm::BranchInst>(block.getTerminator());
  auto *condition = branch && branch->isConditional() ? dyn_cast<llvm::Instruction>(branch->getCondition()) : nullptr;
  return condition && calledIntrinsic(*condition) == LaneIntrinsic::warpFull;
}
// Before full rounds of a loop, or versions for strides: these have tests of their own.
bool leadsToTests(const BasicBlock &block) {
  auto *branch = dyn_cast<llvm::BranchInst>(block.getTerminator());
  auto *call = branch && branch->isConditional() ? dyn_cast<llvm::CallBase>(branch->getCondition()) : nullptr;
  return call && testsFullWarp(block) && llvm::isa<llvm::Constant>(call->getArgOperand(0));
}
bool testsStride(const BasicBlock &block) { return block.getTerminator()->hasMetadata(kStrideTest); }

// The nearest block that all warps come to after the test, whichever way it sends them. It does not lie in a loop that
// the test is not in: full warps that leave their version of a loop may pass the one for any lanes, with nothing left
// to do. A test at the end of a round has none: the one before the loop has it.
const BasicBlock *behind(const BasicBlock &test, const llvm::PostDominatorTree &postDominators,
                         const llvm::LoopInfo &loops) {
  const BasicBlock *anyLanes = test.getTerminator()->getSuccessor(1);
  const llvm::Loop *around = loops.getLoopFor(&test);
  if (around && !around->contains(anyLanes)) return nullptr;
  for (const auto *node = postDominators.getNode(&test)->getIDom(); node && node->getBlock(); node = node->getIDom()) {
    const llvm::Loop *loop = loops.getLoopFor(node->getBlock());
    if (node->getBlock() != anyLanes && (!loop || loop->contains(&test))) return node->getBlock();
  }
  return nullptr;
}

// All that the entry reaches by the first sides of these tests, and what lies behind both.
std::set<const BasicBlock *> reachedPast(llvm::Function &function, bool (*isTest)(const BasicBlock &)) {
  const llvm::PostDominatorTree postDominators(function);
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  std::set<const BasicBlock *> reached = {&function.getEntryBlock()};
  std::vector<const BasicBlock *> work = {&function.getEntryBlock()};
  const auto reach = [&](const BasicBlock *block) {
    if (block && reached.insert(block).second) work.push_back(block);
  };
  while (!work.empty()) {
    const BasicBlock *block = work.back();
    work.pop_back();
    const bool test = isTest(*block);
    const llvm::Instruction *end = block->getTerminator();
    for (unsigned i = 0; i < (test ? 1 : end->getNumSuccessors()); ++i) reach(end->getSuccessor(i));
    if (test) reach(behind(*block, postDominators, loops));
  }
  return reached;
}

std::string arrayOf(const llvm::Instruction &at) {
  if (const llvm::Value *address = llvm::getLoadStorePointerOperand(&at)) return arrayName(*address);
  if (auto *rmw = dyn_cast<llvm::AtomicRMWInst>(&at)) return arrayName(*rmw->getPointerOperand());
  if (auto *exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&at)) return arrayName(*exchange->getPointerOperand());
  return {};
}

std::string nameOf(const llvm::DILocation &place) {
  return llvm::demangle(place.getScope()->getSubprogram()->getName());
}

// The innermost place with a line in the kernel's own file; `inside` gets the function that was inlined there and lies
// elsewhere: in a header, or in libdevice, which has no lines.
const llvm::DILocation *placeOf(const llvm::Instruction &at, std::string &inside) {
  const llvm::DILocation *inner = at.getDebugLoc(), *outermost = inner;
  while (outermost && outermost->getInlinedAt()) outermost = outermost->getInlinedAt();
  for (const llvm::DILocation *place = inner; place; place = place->getInlinedAt()) {
    const bool hasLine = place->getLine() != 0;
    if (hasLine && place->getFilename() == outermost->getFilename()) return place;
    if (!hasLine) inside = nameOf(*place);  // the outermost one: what the source calls
    else if (inside.empty())
      inside = nameOf(*place) + " (" + place->getFilename().str() + ":" + std::to_string(place->getLine()) + ")";
  }
  return nullptr;
}

// The test, or what its first side begins with if only that has a line.
const llvm::Instruction &firstWithLine(const llvm::Instruction &test) {
  const auto hasLine = [](const llvm::Instruction &i) { return i.getDebugLoc() && i.getDebugLoc().getLine(); };
  if (hasLine(test)) return test;
  std::set<const BasicBlock *> seen;
  for (const BasicBlock *side = test.getSuccessor(0); side && seen.insert(side).second;
       side = side->getSingleSuccessor())
    for (const llvm::Instruction &i : *side)
      if (hasLine(i)) return i;
  return test;
}

}  // namespace

void markStrideTest(llvm::BranchInst &test) { test.setMetadata(kStrideTest, llvm::MDNode::get(test.getContext(), {})); }

Report::When Report::when(const llvm::Instruction &at) {
  auto &function = const_cast<llvm::Function &>(*at.getFunction());  // that's what the analyses take; they only read
  auto [found, added] = reached_.try_emplace(&function);
  if (added)
    found->second = {
        reachedPast(function, [](const BasicBlock &block) { return testsFullWarp(block) || testsStride(block); }),
        reachedPast(function, testsFullWarp)};
  if (found->second.usually.contains(at.getParent())) return When::usually;
  return found->second.together.contains(at.getParent()) ? When::otherStrides : When::apart;
}

void Report::note(const llvm::Instruction &at, std::string what, const std::string &why) {
  std::string inside;
  const llvm::DILocation *place = placeOf(at, inside);
  if (const std::string array = arrayOf(at); !array.empty()) what += " in " + array;
  if (place && !inside.empty()) what += ", inside " + inside;
  const Line line = place ? Line{place->getFilename().str(), place->getLine()} : Line{};
  When &known = lines_[line].try_emplace({what, why}, When::apart).first->second;
  known = std::min(known, when(at));
}

void Report::noteVersions(llvm::Function &lane) {
  for (BasicBlock &block : lane) {
    const bool full = testsFullWarp(block);
    const llvm::Instruction *at = block.getTerminator();
    if (at->hasMetadata(kGathered))
      note(*at, "lanes are gathered at the collective", "they may come to it, or to one like it, by different ways");
    if ((!full && !testsStride(block)) || leadsToTests(block) || when(*at) == When::apart) continue;
    at = &firstWithLine(*at);
    if (full) note(*at, "code without masks for full warps", "taken where all 32 lanes go the same way");
    else note(*at, "code of its own for strides of small powers of two", "the lanes' distances are then known");
  }
}

std::string Report::text() const {
  constexpr const char *kWhen[] = {"", ", only for other strides", ", only where lanes part"};
  std::string result;
  for (const auto &[line, findings] : lines_)
    for (const auto &[finding, when] : findings)
      result += (line.first.empty() ? "kernel" : line.first + ":" + std::to_string(line.second)) + ": " +
                finding.first + kWhen[static_cast<unsigned>(when)] + " (" + finding.second + ")\n";
  return result;
}

}  // namespace strata::simt
