// SPDX-License-Identifier: Apache-2.0
// A compilation that takes more than a second is named in the log while it goes on: a program that seems to hang in its
// first launch does not. A thread waits beside it; without one, for want of threads, nothing is said.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "base/log.h"

namespace strata::simt {

class LongCompilation {
public:
  explicit LongCompilation(std::string kernel) : kernel_(std::move(kernel)) {
    try {
      watcher_ = std::thread([this] { watch(); });
    } catch (const std::system_error &) {}
  }
  LongCompilation(const LongCompilation &) = delete;
  ~LongCompilation() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_one();
    if (watcher_.joinable()) watcher_.join();
  }

private:
  void watch() {
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) return;
    lock.unlock();
    log::warn("kernel " + kernel_ + " takes more than a second to compile; `strata precompile` does so ahead of time");
  }

  const std::string kernel_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread watcher_;
};

}  // namespace strata::simt
