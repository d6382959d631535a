// SPDX-License-Identifier: Apache-2.0
// Kernels whose statements are drawn from the table in forms.h, inside control flow that knows which lanes run it:
// barriers stand in uniform branches and loops, shuffles, votes and reductions also in divergent ones, under their
// exact masks.
#pragma once

#include "tests/fuzz/kernel_generator.h"

namespace strata::fuzz {

GeneratedKernel generateFormKernel(std::uint64_t seed);

}  // namespace strata::fuzz
