// SPDX-License-Identifier: Apache-2.0
// A launch that faulted is looked at again.
#pragma once

#include "simt/exec/launch_run.h"

namespace strata::simt {

// Runs the faulty block again, lane by lane, to find the thread; fills launch.fault.
void replayFault(LaunchRun &launch, std::uint32_t worker);

}  // namespace strata::simt
