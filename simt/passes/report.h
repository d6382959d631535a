// SPDX-License-Identifier: Apache-2.0
// What the vectoriser did to each source line, and why: text for `strata inspect --why`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

namespace llvm {
class Instruction;
}

namespace strata::simt {

class Report {
public:
  // One finding: `what` was done to `at`, e.g. "gather", because of `why`, e.g. "address varies".
  // Equal findings of a line are kept once.
  void note(const llvm::Instruction &at, std::string what, std::string why);
  // A finding about the whole kernel; printed first.
  void note(std::string what, std::string why);

  // One line per finding: "file:line: what (why)", sorted; "kernel: what (why)" first.
  std::string text() const;

private:
  std::map<std::pair<std::string, unsigned>, std::set<std::string>> lines_;
};

}  // namespace strata::simt
