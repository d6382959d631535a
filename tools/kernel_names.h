// SPDX-License-Identifier: Apache-2.0
// Kernels' names as the source has them.
#pragma once

#include <set>
#include <string>

#include "base/result.h"

namespace strata::tools {

// Demangled, with return type and arguments: "void ns::fft<512>(float*)".
std::string plainName(const std::string &mangled);

// Without these: "ns::fft<512>".
std::string shortName(const std::string &mangled);

// `wanted` is the mangled, plain or short name, or the short name without namespaces or without template arguments.
// Spaces do not count. Empty: any kernel.
bool isCalled(const std::string &mangled, const std::string &wanted);

// That no kernel is called so, and which there are (short names).
Error noSuchKernel(const std::string &files, const std::string &wanted, const std::set<std::string> &others);

}  // namespace strata::tools
