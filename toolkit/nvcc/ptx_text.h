// SPDX-License-Identifier: Apache-2.0
// Changes to the PTX that clang wrote, for what clang has no option.
#pragma once

#include <string>

namespace strata::nvcc {

// -maxrregcount: `.maxnreg count` on each kernel that has no launch bounds of its own.
std::string limitRegisters(const std::string &ptx, const std::string &count);

}  // namespace strata::nvcc
