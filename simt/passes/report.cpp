// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/report.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instruction.h>

namespace strata::simt {

void Report::note(const llvm::Instruction &at, std::string what, std::string why) {
  std::pair<std::string, unsigned> line;
  if (const llvm::DebugLoc &place = at.getDebugLoc())
    line = {llvm::cast<llvm::DIScope>(place.getScope())->getFilename().str(), place.getLine()};
  lines_[line].insert(what + " (" + why + ")");
}

void Report::note(std::string what, std::string why) { lines_[{}].insert(what + " (" + why + ")"); }

std::string Report::text() const {
  std::string result;
  for (const auto &[line, findings] : lines_)
    for (const std::string &finding : findings)
      result += (line.first.empty() ? std::string("kernel") : line.first + ":" + std::to_string(line.second)) + ": " +
                finding + "\n";
  return result;
}

}  // namespace strata::simt
