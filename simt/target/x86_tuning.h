// SPDX-License-Identifier: Apache-2.0
// simt/target/tuning.h of x86-64: measured on server processors with AVX-512.
#pragma once

#include "simt/target/tuning.h"

namespace strata::simt {

inline constexpr Tuning kTuning = {
    .line = 64,
    .emptyBlockCost = 12,
    .plainLoop = {8, 1024, 3},
    .fewRounds = 16,
    .fewRoundsTurn = {4, 1024, 3},
    .longTurnRounds = 32,
    .longTurn = {8, 1024, 2},
    .barrierLoop = {2, 16, 2},
    .blocksAhead = 4,
    .rowsAhead = 8,
    .farStep = 256,
    .turnRounds = 32,
    .narrowTurnRounds = 4,
};

}  // namespace strata::simt
