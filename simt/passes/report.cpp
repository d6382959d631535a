// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/report.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>
#include <vector>

#include "simt/analysis/array_names.h"
#include "simt/analysis/lane_intrinsics.h"

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
bool testsStride(const BasicBlock &block) { return block.getTerminator()->hasMetadata(kStrideTest); }

// All that the entry reaches but by the second side of these tests.
std::set<const BasicBlock *> reachedPast(const llvm::Function &function, bool (*isTest)(const BasicBlock &)) {
  std::set<const BasicBlock *> reached = {&function.getEntryBlock()};
  std::vector<const BasicBlock *> work = {&function.getEntryBlock()};
  while (!work.empty()) {
    const BasicBlock *block = work.back();
    work.pop_back();
    const llvm::Instruction *end = block->getTerminator();
    for (unsigned i = 0; i < (isTest(*block) ? 1 : end->getNumSuccessors()); ++i)
      if (reached.insert(end->getSuccessor(i)).second) work.push_back(end->getSuccessor(i));
  }
  return reached;
}

std::string arrayOf(const llvm::Instruction &at) {
  if (const llvm::Value *address = llvm::getLoadStorePointerOperand(&at)) return arrayName(*address);
  if (auto *rmw = dyn_cast<llvm::AtomicRMWInst>(&at)) return arrayName(*rmw->getPointerOperand());
  if (auto *exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&at)) return arrayName(*exchange->getPointerOperand());
  return {};
}

// The innermost place with a line; `inside` gets the function that was inlined there and has none, as libdevice's.
const llvm::DILocation *placeOf(const llvm::Instruction &at, std::string &inside) {
  const llvm::DILocation *place = at.getDebugLoc();
  while (place && place->getLine() == 0) {
    inside = llvm::demangle(place->getScope()->getSubprogram()->getName());
    place = place->getInlinedAt();
  }
  return place;
}

}  // namespace

void markStrideTest(llvm::BranchInst &test) { test.setMetadata(kStrideTest, llvm::MDNode::get(test.getContext(), {})); }

Report::When Report::when(const llvm::Instruction &at) {
  const llvm::Function &function = *at.getFunction();
  auto [found, added] = reached_.try_emplace(&function);
  if (added)
    found->second = {reachedPast(function, [](const BasicBlock &block) { return testsFullWarp(block) || testsStride(block); }),
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
    if ((!full && !testsStride(block)) || when(*at) == When::apart) continue;
    for (const llvm::Instruction &i : *at->getSuccessor(0))  // the test itself may have no line
      if (!at->getDebugLoc() || !at->getDebugLoc().getLine()) at = &i;
    if (full) note(*at, "code without masks for full warps", "taken where all 32 lanes go the same way");
    else note(*at, "code of its own for strides of small powers of two", "the lanes' distances are then known");
  }
}

std::string Report::text() const {
  constexpr const char *kWhen[] = {"", ", only for other strides", ", only where lanes part"};
  std::string result;
  for (const auto &[line, findings] : lines_)
    for (const auto &[finding, when] : findings)
      result += (line.first.empty() ? "kernel" : line.first + ":" + std::to_string(line.second)) + ": " + finding.first +
                kWhen[static_cast<unsigned>(when)] + " (" + finding.second + ")\n";
  return result;
}

}  // namespace strata::simt
