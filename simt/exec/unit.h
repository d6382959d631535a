// SPDX-License-Identifier: Apache-2.0
// Units of blocks: what a launch is cut into, and how one thread runs some of them.
#pragma once

#include "simt/exec/launch_run.h"

namespace strata::simt {

// Runs units [first, last) on the calling thread. Faults end up in launch.fault; true if this thread's was the
// first, so that it has to see to it that others stop.
bool runUnits(LaunchRun &launch, std::uint64_t first, std::uint64_t last, std::uint32_t worker);
// Fills the launch's state and units from its request.
void prepareLaunch(LaunchRun &launch, std::uint32_t workers);
// How many blocks that lie side by side a thread runs in turns: where their warps take turns, so many that together
// they read memory in about the order in which it lies.
std::uint64_t blocksAtOnce(const LaunchRun &launch);
// How many stacks a thread needs for the launch.
std::uint64_t stacksOfUnit(const LaunchRun &launch);

// The unit that the calling thread runs, or null.
UnitRun *currentUnit();

}  // namespace strata::simt
