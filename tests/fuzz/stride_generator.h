// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads work on pairs of an array in shared or global memory, a uniform stride apart: butterflies,
// trees and scans. The stride is doubled, halved, taken from a counter or added to from round to round, with a barrier
// in each; indexes are made by masks, divisions, multiplications, exclusive or and shifts. No two threads of a round
// have an element in common.
#pragma once

#include "tests/fuzz/kernel_generator.h"

namespace strata::fuzz {

GeneratedKernel generateStrideKernel(std::uint64_t seed);

}  // namespace strata::fuzz
