// SPDX-License-Identifier: Apache-2.0
// What the vectoriser did to each source line, and why: text for `strata inspect --why`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
}

namespace strata::simt {

class Report {
public:
  // One finding: `what` was done to `at`, an instruction of a lane function, e.g. "gather", because of `why`, e.g.
  // "address varies". Added are the array that it accesses, the function that it comes from if that has no lines, and
  // whether only warps run it whose lanes part before it or are not all there. Equal findings of a line are kept once.
  void note(const llvm::Instruction &at, std::string what, const std::string &why);
  // Notes the branches of a lane function that full warps leave for code of their own.
  void noteFullWarps(llvm::Function &lane);

  // One line per finding: "file:line: what (why)", sorted; "kernel: what (why)" where no line is known, first.
  std::string text() const;

private:
  using Line = std::pair<std::string, unsigned>;
  bool inFullWarps(const llvm::Instruction &at);

  std::map<Line, std::map<std::pair<std::string, std::string>, bool>> lines_;  // what and why; whether full warps run it
  std::map<const llvm::Function *, std::set<const llvm::BasicBlock *>> full_;  // what full warps may run
};

}  // namespace strata::simt
