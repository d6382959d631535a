// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/report.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "simt/analysis/array_names.h"
#include "simt/analysis/lane_intrinsics.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::dyn_cast;

namespace {

// A test for full warps, whose first side is theirs (warp_full.h).
bool testsFullWarp(const BasicBlock &block) {
  auto *branch = dyn_cast<llvm::BranchInst>(block.getTerminator());
  auto *condition = branch && branch->isConditional() ? dyn_cast<llvm::Instruction>(branch->getCondition()) : nullptr;
  return condition && calledIntrinsic(*condition) == LaneIntrinsic::warpFull;
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

// All that the entry reaches but by the side of such a test that is not for full warps.
bool Report::inFullWarps(const llvm::Instruction &at) {
  const llvm::Function &function = *at.getFunction();
  std::set<const BasicBlock *> &reached = full_[&function];
  std::vector<const BasicBlock *> work;
  if (reached.insert(&function.getEntryBlock()).second) work.push_back(&function.getEntryBlock());
  while (!work.empty()) {
    const BasicBlock *block = work.back();
    work.pop_back();
    const llvm::Instruction *end = block->getTerminator();
    for (unsigned i = 0; i < (testsFullWarp(*block) ? 1 : end->getNumSuccessors()); ++i)
      if (reached.insert(end->getSuccessor(i)).second) work.push_back(end->getSuccessor(i));
  }
  return reached.contains(at.getParent());
}

void Report::note(const llvm::Instruction &at, std::string what, const std::string &why) {
  std::string inside;
  const llvm::DILocation *place = placeOf(at, inside);
  if (const std::string array = arrayOf(at); !array.empty()) what += " in " + array;
  if (place && !inside.empty()) what += ", inside " + inside;
  const Line line = place ? Line{place->getFilename().str(), place->getLine()} : Line{};
  lines_[line][{what, why}] |= inFullWarps(at);
}

void Report::noteFullWarps(llvm::Function &lane) {
  for (BasicBlock &block : lane) {
    if (!testsFullWarp(block)) continue;
    const llvm::Instruction *at = block.getTerminator();
    for (const llvm::Instruction &i : *at->getSuccessor(0))  // the test itself may have no line
      if (!at->getDebugLoc() || !at->getDebugLoc().getLine()) at = &i;
    note(*at, "code without masks for full warps", "taken where all 32 lanes go the same way");
  }
}

std::string Report::text() const {
  std::string result;
  for (const auto &[line, findings] : lines_)
    for (const auto &[finding, inFullWarps] : findings)
      result += (line.first.empty() ? "kernel" : line.first + ":" + std::to_string(line.second)) + ": " + finding.first +
                (inFullWarps ? "" : ", only where lanes part") + " (" + finding.second + ")\n";
  return result;
}

}  // namespace strata::simt
