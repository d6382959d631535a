// SPDX-License-Identifier: Apache-2.0
// Loops that wait: an exit depends on memory which other threads change, and a round changes nothing itself.
//
//   while (atomicCAS(lock, 0, 1) != 0) {}      // lanes that lose spin here
//   …; atomicExch(lock, 0);                    // the winner comes here only after the loop
//
// In lock step the first loop never ends: the lanes that have left it wait for the others. Such kernels run in lane
// mode. A loop that waits for other warps or blocks is no problem, as long as it lets them run: it yields.
//
// What counts as waiting: a volatile or atomic load, an exchange, a compare-and-swap whose expected value is
// the same in every round, or an atomic with an idempotent operation, on which an exit of the loop depends.
// Not: compare-and-swap loops that retry with the value they saw, and counters (someone always gets on).
//
// Kernels also run in lane mode where lanes may be at a barrier while others of their warp are late
// (simt/analysis/parted_lanes.h), after lanes that write and end have been made to do so in time
// (leave_barrier_loops.h).
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <optional>
#include <string>

#include "simt/analysis/thread_index.h"

namespace strata::simt {

// The reason, with its source line, why `kernel` or a function it reaches needs lane mode: some lane that is
// not in a waiting loop could write memory, before it would wait for its warp or block, while others wait; or is late
// where others are at a barrier; or meets others in collectives, where they cannot be gathered (gather_collectives.h).
// Works on lane IR as lowered; only marks functions whose collectives have their lanes together.
// `prepare` brings a copy of a function as far as the vectoriser would, and may give a reason, too.
enum class Prepared { control, lockStep };  // lockStep: from control on
using Prepare = llvm::function_ref<std::optional<std::string>(llvm::Function &, Prepared)>;
std::optional<std::string> needsLaneMode(llvm::Function &kernel, const ThreadIndex &threads, Prepare prepare);

// Puts strata.yield() into every round of the waiting loops of `function`, and of those where a volatile or atomic
// load decides about the end only by the way that lanes take through a round (`if (flag) again = true;`).
void insertYields(llvm::Function &function);

}  // namespace strata::simt
