// SPDX-License-Identifier: Apache-2.0
// What the vectoriser did to each source line, and why: text for `strata inspect --why`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

namespace llvm {
class BasicBlock;
class BranchInst;
class Function;
class Instruction;
}  // namespace llvm

namespace strata::simt {

// Marks a test for one of several strides that code has versions for, to be reported: its second side is the code for
// any.
void markStrideTest(llvm::BranchInst &test);

class Report {
public:
  // One finding: `what` was done to `at`, an instruction of a lane function, e.g. "gather", because of `why`, e.g.
  // "address varies". Added are the array that it accesses, the function that it comes from if that has no lines, and
  // when it is run if the usual way goes past it. Equal findings of a line are kept once.
  void note(const llvm::Instruction &at, std::string what, const std::string &why);
  // Notes the versions of its code that a lane function has for full warps and for some strides.
  void noteVersions(llvm::Function &lane);

  // One line per finding: "file:line: what (why)", sorted; "kernel: what (why)" where no line is known, first.
  std::string text() const;

private:
  using Line = std::pair<std::string, unsigned>;
  using Finding = std::pair<std::string, std::string>;  // what and why
  // When code is run; the first that holds: always, if a stride has no version, if lanes part or are missing.
  enum class When { usually, otherStrides, apart };
  // What is reached by none of the other ways, and what is reached while lanes stay together.
  struct Reached {
    std::set<const llvm::BasicBlock *> usually, together;
  };

  When when(const llvm::Instruction &at);

  std::map<Line, std::map<Finding, When>> lines_;
  std::map<const llvm::Function *, Reached> reached_;
};

}  // namespace strata::simt
