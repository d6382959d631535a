// SPDX-License-Identifier: Apache-2.0
// Kernels whose lanes come to the warp's collectives by different ways: branches, rounds of loops, cases of switches,
// calls, after others have returned. All kinds, under masks that are full, constant, computed from the lane, or results
// of ballots and matches.
//
// Lanes are in groups that a mask names. All lanes of a group do the same collectives in the same order, each in a
// place of its own: what PTX asks for. In those from kFirstOpenMeetingSeed on some lanes have collectives that others
// of their mask miss, or ask who is active: PTX leaves open what these get.
#pragma once

#include "tests/fuzz/kernel_generator.h"

namespace strata::fuzz {

GeneratedKernel generateMeetingKernel(std::uint64_t seed);

}  // namespace strata::fuzz
