// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/ptx_text.h"

#include <sstream>

namespace strata::nvcc {

// A kernel's head, as clang prints it, ends with the first line that is "{"; its directives stand in lines before.
std::string limitRegisters(const std::string &ptx, const std::string &count) {
  std::istringstream lines(ptx);
  std::string result;
  bool inHead = false, bounded = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(".entry ") != line.npos && !line.starts_with("//")) inHead = true, bounded = false;
    if (inHead && (line.starts_with(".maxntid") || line.starts_with(".reqntid") || line.starts_with(".minnctapersm")))
      bounded = true;
    if (inHead && line == "{") {
      if (!bounded) result += ".maxnreg " + count + "\n";
      inHead = false;
    }
    result += line + "\n";
  }
  return result;
}

}  // namespace strata::nvcc
