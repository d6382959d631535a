// SPDX-License-Identifier: Apache-2.0
// Which architectures the device code is compiled for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "toolkit/nvcc/options.h"

namespace strata::nvcc {

struct Arch {
  int number = 0;      // 90 for sm_90
  std::string suffix;  // "a" for sm_90a

  std::string name() const { return "sm_" + std::to_string(number) + suffix; }
  friend bool operator==(const Arch &, const Arch &) = default;
  friend auto operator<=>(const Arch &, const Arch &) = default;
};

// The newest architecture that clang 19 has. Newer ones are compiled as this: PTX runs on later GPUs too.
inline const Arch kNewestArch = {90, ""};
inline const Arch kDefaultArch = {75, ""};

struct Targets {
  std::vector<Arch> archs;              // ascending, each once, none above kNewestArch (but sm_90a); at least one
  std::vector<std::string> nativeCode;  // CPUs to make machine code for (native_code.h), each once
};

// All that are asked for by -arch, -code and -gencode.
// Errors (user): unknown architecture, malformed -gencode, -code without -arch.
Result<Targets> requestedTargets(const CommandLine &line);

// Names for --list-gpu-arch ("compute") and --list-gpu-code ("sm").
std::string listArchs(const std::string &prefix);

}  // namespace strata::nvcc
