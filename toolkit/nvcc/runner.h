// SPDX-License-Identifier: Apache-2.0
// Runs a plan.
#pragma once

#include "toolkit/nvcc/plan.h"

namespace strata::nvcc {

enum class Show { nothing, commands, commandsOnly };  // commandsOnly: --dryrun

// Exit status for nvcc: 0, or that of the first step that failed. Prints nvcc's own errors.
int runPlan(const Plan &plan, Show show);

}  // namespace strata::nvcc
