// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads leave loops with barriers at different times, by many ways: returns and breaks out of nested
// loops, switches that return, ways that meet in joins and part again by a number that says how, and code that others
// still in the loops depend on.
//
// A thread alternates between phases: it writes what is its own (a word in shared or global memory, that others read),
// comes to a barrier, reads another thread's word, and comes to a barrier again. It leaves only while it may write. So
// no order of threads matters. In "mixed" kernels threads also come to different barriers, which PTX does not define:
// threads count one by one then, as on a GPU.
#pragma once

#include "tests/fuzz/kernel_generator.h"

namespace strata::fuzz {

GeneratedKernel generateLeavingKernel(std::uint64_t seed);

}  // namespace strata::fuzz
