// SPDX-License-Identifier: Apache-2.0
// Faults of kernels: recorded by a signal handler or raised by the executor, left by a jump out of the fiber.
#pragma once

#include "simt/exec/launch_run.h"

namespace strata::simt {

// A fault of the kernel that runs on the calling thread, from inside its fiber. `lanes`: those concerned, 0 if it
// may be any of the warp; `detail` is a literal.
[[noreturn]] void raiseFault(FaultKind kind, std::uint32_t lanes, std::uint64_t address, std::uintptr_t pc,
                             const char *detail = "");
// The same outside of fibers, for a member (or null: nobody in particular).
void recordFault(UnitRun &unit, FaultKind kind, const Member *member, const char *detail);
// After a member's fiber escaped: makes what it left the launch's fault, if that is the first.
void recordCaughtFault(UnitRun &unit, const Member &member);
void installFaultHandlers();                  // once per process
void prepareThreadForFaults();                // each thread that runs kernels: alternate signal stack, signal mask
void interruptThread(unsigned long pthread);  // makes a thread that runs a stopped launch leave it

}  // namespace strata::simt
