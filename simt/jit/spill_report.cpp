// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/spill_report.h"

#include <llvm/CodeGen/MachineDominators.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineLoopInfo.h>
#include <llvm/CodeGen/MachineOptimizationRemarkEmitter.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>

#include <map>

#include "simt/lower/debug_info.h"

namespace strata::simt {
namespace {

using llvm::MachineBasicBlock;

struct Spills {
  int spills = 0, reloads = 0;
  void add(const Spills &more, int sign = 1) { spills += sign * more.spills, reloads += sign * more.reloads; }
};

Spills countsOf(const llvm::DiagnosticInfoMIROptimization &remark) {
  Spills result;
  for (const auto &argument : remark.getArgs()) {
    int count = 0;
    if (llvm::StringRef(argument.Val).getAsInteger(10, count)) continue;
    if (llvm::StringRef(argument.Key).ends_with("Spills")) result.spills += count;
    if (llvm::StringRef(argument.Key).ends_with("Reloads")) result.reloads += count;
  }
  return result;
}

// "file:line", or nothing.
std::string lineOf(const llvm::DiagnosticLocation &at) {
  if (!at.isValid() || !at.getLine() || at.getRelativePath() == kNoSourceFile) return {};
  return at.getRelativePath().str() + ":" + std::to_string(at.getLine());
}

std::string textOf(const Spills &counts) {
  const int spills = counts.spills, reloads = counts.reloads;
  if (!spills)
    return std::to_string(reloads) + (reloads == 1 ? " reload" : " reloads") + " of what was spilled outside";
  const std::string spilled = std::to_string(spills) + (spills == 1 ? " register" : " registers") + " spilled, ";
  return spilled + (reloads ? std::to_string(reloads) + " reloaded" : "reloaded outside");
}

class SpillReport final : public llvm::DiagnosticHandler {
public:
  explicit SpillReport(std::string &text) : text_(text) {}
  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return pass == "regalloc"; }
  bool isAnyRemarkEnabled() const override { return true; }

  // A function's loops come first, then the function; each with all that lies in it.
  bool handleDiagnostics(const llvm::DiagnosticInfo &diagnostic) override {
    const auto *remark = llvm::dyn_cast<llvm::DiagnosticInfoMIROptimization>(&diagnostic);
    if (!remark || !remark->isMissed()) return false;
    const Spills counts = countsOf(*remark);
    const std::string line = lineOf(remark->getLocation());
    if (remark->getRemarkName().starts_with("Loop")) {
      loops_[remark->getBlock()] = {counts, line};
      return true;
    }
    finish(*remark->getBlock()->getParent(), counts, line);
    loops_.clear();
    return true;
  }

private:
  struct Loop {
    Spills all;
    std::string line;
  };

  void finish(const llvm::MachineFunction &function, const Spills &all, const std::string &line) {
    auto &blocks = const_cast<llvm::MachineFunction &>(function);  // that's what the analyses take; they only read
    llvm::MachineDominatorTree dominators(blocks);
    const llvm::MachineLoopInfo nest(dominators);
    std::map<std::pair<std::string, std::string>, Spills> places;
    Spills outside = all;
    for (const auto &[header, loop] : loops_) {
      const llvm::MachineLoop *at = nest.getLoopFor(header);
      Spills own = loop.all;
      for (const llvm::MachineLoop *inner : *at)
        if (auto found = loops_.find(inner->getHeader()); found != loops_.end()) own.add(found->second.all, -1);
      if (!at->getParentLoop()) outside.add(loop.all, -1);
      const std::string known = knownLine(*at);
      places[known.empty() ? std::pair("kernel", " (in the loop over warps)")
                           : std::pair(known.c_str(), " (in the loop)")]
          .add(own);
    }
    places[{line.empty() ? "kernel" : line, " (in the function)"}].add(outside);
    for (const auto &[place, counts] : places)
      if (counts.spills || counts.reloads) text_ += place.first + ": " + textOf(counts) + place.second + "\n";
  }

  // Of the loop, or of the innermost one around it that has a line.
  std::string knownLine(const llvm::MachineLoop &loop) const {
    for (const llvm::MachineLoop *at = &loop; at; at = at->getParentLoop())
      if (auto found = loops_.find(at->getHeader()); found != loops_.end() && !found->second.line.empty())
        return found->second.line;
    return {};
  }

  std::map<const MachineBasicBlock *, Loop> loops_;  // by header
  std::string &text_;
};

}  // namespace

std::unique_ptr<llvm::DiagnosticHandler> makeSpillReport(std::string &text) {
  return std::make_unique<SpillReport>(text);
}

}  // namespace strata::simt
