// SPDX-License-Identifier: Apache-2.0
// What the CPU that we compile for can do by instruction.
#pragma once

#include <string>

#include "simt/simt.h"

namespace strata::simt {

struct CpuFeatures {
  bool roundsToIntegral = false, fusesMultiplyAdd = false, convertsHalf = false, computesHalf = false;
  bool avx512 = false;               // asked for in this folder only
  const char *vectorBits = nullptr;  // the width that LLVM is to use, if it would use less
  std::string cpu;                   // LLVM's CPU name
  std::string features;              // LLVM's feature string: what the host has beyond `cpu`
};

// The instruction set of a Simd level; with `hostExtensions` it adds what this host has beyond it.
CpuFeatures cpuFeatures(Simd simd, bool hostExtensions = true);

}  // namespace strata::simt
