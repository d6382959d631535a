// SPDX-License-Identifier: Apache-2.0
// How many units a thread takes from a launch at a time: so many that the counter is a small part of the cost,
// so few that all threads end together and that blocks begin in their order, as programs that pass values from
// block to block rely on for speed.
#pragma once

#include <algorithm>

#include "simt/exec/image.h"
#include "simt/exec/unit.h"
#include "simt/target/machine.h"

namespace strata::simt {

class ChunkSize {
public:
  ChunkSize(LaunchRun &launch, std::uint32_t workers) : launch_(launch), workers_(workers) {
    if (const std::uint32_t cost = costHint(launch); cost && !mayWait())
      size_ = std::clamp<std::uint64_t>(kTarget / cost, 1, kMost);
  }

  // The next units [first, last); false: none is left.
  bool take(std::uint64_t &first, std::uint64_t &last) {
    const std::uint64_t taken = launch_.next.load(std::memory_order_relaxed);
    const std::uint64_t left = taken < launch_.units ? launch_.units - taken : 0;
    // A short launch is for one thread; a long one's end is shared out in small pieces.
    const std::uint64_t share = left * costHint(launch_) < kShort && costHint(launch_) ? left : left / (4 * workers_);
    std::uint64_t count = launch_.request.cooperative ? 1 : std::clamp<std::uint64_t>(std::min(size_, share), 1, kMost);
    count = (count + together_ - 1) / together_ * together_;
    first = std::min(launch_.next.fetch_add(count, std::memory_order_relaxed), launch_.units);
    last = std::min(first + count, launch_.units);
    return first < last;
  }

  void begin() { start_ = machine::timeCounter(); }
  void end(std::uint64_t units) {
    const std::uint64_t cycles = machine::timeCounter() - start_;
    if (units >= size_ && cycles < kTarget / 2 && !mayWait()) size_ = std::min(size_ * 4, kMost);
    else if (cycles > 2 * kTarget) size_ = std::max<std::uint64_t>(size_ / 2, 1);
    if (launch_.request.kernel->code)
      launch_.request.kernel->code->unitCycles.store(
          static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cycles / units, 1, ~0u)), std::memory_order_relaxed);
  }

  // How many threads the launch is worth waking.
  static std::uint64_t threadsWorth(const LaunchRun &launch) {
    const std::uint32_t cost = costHint(launch);
    return cost && !launch.request.cooperative && launch.units * cost < kShort ? 1 : launch.units;
  }

private:
  static constexpr std::uint64_t kTarget = 400'000, kShort = 20'000;  // time-stamp cycles: some 150 and 8 µs
  static constexpr std::uint64_t kMost = 1 << 16;

  // Cycles of a unit, as measured when the kernel ran last; 0: not known.
  static std::uint32_t costHint(const LaunchRun &launch) {
    const auto &code = launch.request.kernel->code;
    return code ? code->unitCycles.load(std::memory_order_relaxed) : 0;
  }

  // A block may wait for a later one, which must not lie behind it in the same thread's hands.
  bool mayWait() const { return launch_.request.kernel->entryKind != EntryKind::block; }

  LaunchRun &launch_;
  const std::uint32_t workers_;
  const std::uint64_t together_ = blocksAtOnce(launch_);
  std::uint64_t size_ = 1, start_ = 0;
};

}  // namespace strata::simt
