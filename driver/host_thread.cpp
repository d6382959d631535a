// SPDX-License-Identifier: Apache-2.0
#include "driver/host_thread.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace strata::driver {
namespace {

// Both threads live as long as the process, and are made at first use.
class HostThread {
public:
  static HostThread &get() {
    static auto &thread = *new HostThread;
    return thread;
  }
  void add(std::function<void()> task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    wake_.notify_one();
  }

private:
  HostThread() {
    std::thread([this] { run(); }).detach();
  }

  [[noreturn]] void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return !tasks_.empty(); });
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
};

class Watcher {
public:
  static Watcher &get() {
    static auto &watcher = *new Watcher;
    return watcher;
  }
  void add(std::function<bool()> reached, std::function<void()> done) {
    std::lock_guard lock(mutex_);
    watched_.push_back({std::move(reached), std::move(done)});
    nudged_ = true;
    wake_.notify_one();
  }
  void nudge() {
    std::lock_guard lock(mutex_);
    nudged_ = true;
    wake_.notify_one();
  }

private:
  struct Watched {
    std::function<bool()> reached;
    std::function<void()> done;
  };

  Watcher() {
    std::thread([this] { run(); }).detach();
  }

  // The host may write the memory at any time, without a call: looks each microsecond at first, later each 100.
  [[noreturn]] void run() {
    using namespace std::chrono_literals;
    constexpr std::chrono::microseconds kShortest = 1us, kLongest = 100us;
    auto pause = kShortest;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (watched_.empty()) wake_.wait(lock, [this] { return !watched_.empty(); });
      else if (wake_.wait_for(lock, pause, [this] { return nudged_; })) pause = kShortest;
      nudged_ = false;
      pause = std::min(kLongest, pause * 2);
      std::vector<std::function<void()>> finished;
      std::erase_if(watched_, [&](Watched &watched) {
        if (!watched.reached()) return false;
        finished.push_back(std::move(watched.done));
        return true;
      });
      lock.unlock();
      for (auto &done : finished) done();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Watched> watched_;
  bool nudged_ = false;
};

}  // namespace

void startHostThread() { HostThread::get(); }
void startWatcher() { Watcher::get(); }
void runOnHostThread(std::function<void()> task) { HostThread::get().add(std::move(task)); }
void watch(std::function<bool()> reached, std::function<void()> done) {
  Watcher::get().add(std::move(reached), std::move(done));
}
void nudgeWatcher() { Watcher::get().nudge(); }

}  // namespace strata::driver
