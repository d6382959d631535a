// SPDX-License-Identifier: Apache-2.0
// The thread that runs host functions of streams and graphs, one after another, as CUDA allows; and the thread
// that watches memory for cuStreamWaitValue.
#pragma once

#include <functional>

namespace strata::driver {

// Make the two threads, which may fail: in the call that needs one, not at its work's turn.
void startHostThread();
void startWatcher();

// Runs the task on the host thread, after those given before.
void runOnHostThread(std::function<void()> task);

// Calls `reached` again and again until it returns true, then `done`, on the watching thread. Neither may block.
void watch(std::function<bool()> reached, std::function<void()> done);
// Memory has changed: looks again soon.
void nudgeWatcher();

}  // namespace strata::driver
