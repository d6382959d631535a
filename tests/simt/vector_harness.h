// SPDX-License-Identifier: Apache-2.0
// Runs a kernel given as lane IR text twice: lane by lane as it is, and vectorised, on equal memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simt/simt.h"

namespace strata::simt::test {

// The first lines of a kernel body: %in and %out (arrays of i32) and %n (i32), the kernel's parameters.
extern const char *const kPrologue;
// Declarations of lane IR's intrinsics, for the end of a module.
extern const char *const kDeclarations;

struct Setup {
  Simd simd = Simd::avx512;
  std::uint32_t blockDim[3] = {32, 1, 1};
  bool exactShape = false;    // CompileOptions::blockDim = blockDim
  bool multipleOf32 = false;  // CompileOptions::blockMultipleOf32
  bool alsoLanes = true;      // run lane by lane too (not for code with collectives)
  bool optimizeFirst = true;  // scalar passes before, as in the pipeline; else SSA construction only
  std::vector<std::uint32_t> in;
  std::size_t outWords = 0;  // size of %out, filled with a pattern before
  std::uint32_t n = 0;
};

struct Outcome {
  std::string error;  // empty: ran
  bool laneMode = false;
  std::string laneModeReason, report, vectorIr;
  std::vector<std::uint32_t> lane, vector;  // %out after each run
  std::string faults;                       // "kind:lanes" of faults raised by the vector run
};

// The kernel must be `@kernel`.
Outcome runBoth(const std::string &ir, const Setup &setup);

}  // namespace strata::simt::test
