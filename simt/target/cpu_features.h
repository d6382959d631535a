// SPDX-License-Identifier: Apache-2.0
// What the CPU that we compile for can do, beyond plain x86-64.
#pragma once

#include <string>

#include "simt/simt.h"

namespace strata::simt {

struct CpuFeatures {
  bool sse41 = false, fma = false, f16c = false, avx512 = false, fp16 = false;
  std::string cpu;       // LLVM's CPU name: x86-64, x86-64-v3, x86-64-v4
  std::string features;  // LLVM's feature string: what the host has beyond `cpu`
};

// The instruction set of a Simd level; with `hostExtensions` avx512 adds what this host has beyond it.
CpuFeatures cpuFeatures(Simd simd, bool hostExtensions = true);

}  // namespace strata::simt
