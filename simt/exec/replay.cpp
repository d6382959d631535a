// SPDX-License-Identifier: Apache-2.0
// A signal inside a vectorised kernel tells the warp, not the lane. Once the launch has stopped, the block is
// run again lane by lane: if it faults in the same way, that is the thread. Memory is not what it was, but no
// longer matters: after such a fault the context is lost.
#include "simt/exec/replay.h"

#include <pthread.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "simt/exec/faults.h"
#include "simt/exec/module.h"
#include "simt/exec/unit.h"

namespace strata::simt {
namespace {

constexpr std::chrono::milliseconds kLongestReplay{2000}, kTick{5};

// Stops the replay when its time is over: the block may not fault again, and then run for ever.
class Watchdog {
public:
  explicit Watchdog(LaunchRun &replay) : replay_(replay), thread_([this] { watch(); }) {}
  ~Watchdog() {
    over_ = true;
    thread_.join();
  }

private:
  void watch() {
    const auto end = std::chrono::steady_clock::now() + kLongestReplay;
    while (!over_) {
      std::this_thread::sleep_for(kTick);
      if (std::chrono::steady_clock::now() < end) continue;
      replay_.stopped = true;
      interruptThread(runner_);
    }
  }

  LaunchRun &replay_;
  const pthread_t runner_ = pthread_self();
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace

void replayFault(LaunchRun &launch, std::uint32_t worker) {
  const Kernel &kernel = *launch.request.kernel;
  const LaunchState &state = launch.state;
  if (launch.request.cooperative || state.sharedStride || !kernel.module) return;
  auto lanes = loadKernelInMode(kernel.module, kernel.info->name, launch.request.blockDim, Mode::lane);
  if (!lanes) return;
  LaunchRun replay;
  replay.request = launch.request;
  replay.request.kernel = *lanes;
  replay.quiet = true;
  prepareLaunch(replay, state.smCount);
  const std::uint32_t *block = launch.fault.block;
  const std::uint64_t index = (std::uint64_t(block[2]) * state.gridDim[1] + block[1]) * state.gridDim[0] + block[0];
  try {
    Watchdog watchdog(replay);
    runUnits(replay, index, index + 1, worker);
  } catch (const std::system_error &) {  // no thread for the watchdog: the warp is all that is known
    return;
  }
  if (replay.fault.kind == launch.fault.kind) launch.fault = replay.fault;
}

}  // namespace strata::simt
