// SPDX-License-Identifier: Apache-2.0
// The worker threads of a CPU device. Work is a list of launches and a queue of host tasks under one short
// lock; idle workers spin for a moment, then sleep. A thread that waits for its own launch runs blocks of it.
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <thread>

#include "simt/exec/launch_run.h"

namespace strata::simt {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSpin = std::chrono::microseconds(30);

struct Task {
  std::function<void()> run;
  std::uint64_t group;
};

// Hot waiting: pause instructions, and now and then a look at the clock.
template <class Condition>
bool spinUntil(Condition condition) {
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (condition()) return true;
      __builtin_ia32_pause();
    }
  } while (Clock::now() < end);
  return condition();
}

class WorkerEngine : public Engine {
public:
  explicit WorkerEngine(std::uint32_t workers) {
    installFaultHandlers();
    count_ = workers ? workers : std::max(1u, std::thread::hardware_concurrency());
    for (std::uint32_t i = 0; i < count_; ++i) threads_.emplace_back([this, i] { work(i); });
  }

  ~WorkerEngine() override {
    if (getpid() != process_) {  // the child of a fork has no workers to wait for
      for (std::thread &thread : threads_) thread.detach();
      return;
    }
    {
      std::lock_guard lock(mutex_);
      quit_ = true;
      ++epoch_;
    }
    changed_.notify_all();
    for (std::thread &thread : threads_) thread.join();
  }

  std::uint32_t workers() const override { return count_; }

  void submit(LaunchRequest request, std::function<void(const Fault &)> done) override {
    auto launch = std::make_shared<LaunchRun>();
    launch->request = std::move(request);
    launch->done = std::move(done);
    prepareLaunch(*launch, count_);
    const std::uint64_t chunks = (launch->units + launch->chunk - 1) / launch->chunk;
    {
      std::lock_guard lock(mutex_);
      launches_.push_back(std::move(launch));
      ++epoch_;
    }
    announce(chunks);
  }

  void post(std::function<void()> task, std::uint64_t group) override {
    std::uint32_t waiting;
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back({std::move(task), group});
      ++epoch_;
      waiting = idle_;
    }
    if (waiting) return announce(1);
    // All are busy, maybe with kernels that wait for this very task.
    std::lock_guard lock(mutex_);
    if (extra_ < kMostExtra && idle_ == 0) {
      ++extra_;
      threads_.emplace_back([this, worker = count_ + extra_] { work(worker % count_); });
    }
  }

  void interrupt() override {
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        for (auto &launch : launches_) stop(*launch);
        for (Running &running : running_) {
          stop(*running.launch);
          interruptThread(running.thread);
        }
        if (launches_.empty() && running_.empty()) return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  void waitFor(const std::atomic<std::uint32_t> &flag, std::uint64_t group) override {
    const auto set = [&] { return flag.load(std::memory_order_acquire) != 0; };
    while (!set()) {
      if (group && runOne(count_ - 1, group)) continue;
      if (spinUntil([&] { return set() || (group && hasWork(group)); })) continue;
      flag.wait(0, std::memory_order_acquire);
    }
  }

  void wake(std::atomic<std::uint32_t> &flag) override { flag.notify_all(); }

  void setLimits(std::uint64_t heapBytes, std::uint64_t stackBytesPerThread) override {
    setDeviceHeapLimit(heapBytes);
    setDeviceStackLimit(stackBytesPerThread);
  }

private:
  static constexpr std::uint32_t kMostExtra = 16;

  struct Running {
    std::shared_ptr<LaunchRun> launch;
    unsigned long thread;
  };

  static void stop(LaunchRun &launch) {
    std::lock_guard lock(launch.mutex);
    launch.stopped = true;
    if (launch.fault.kind == FaultKind::none) {
      launch.fault.kind = FaultKind::interrupted;
      launch.fault.kernel = launch.request.kernel->info->name;
      launch.fault.message = "kernel " + launch.fault.kernel + ": interrupted";
    }
  }

  void announce(std::uint64_t wanted) {
    const std::uint32_t asleep = asleep_.load();
    if (asleep == 0) return;
    if (wanted == 1) changed_.notify_one();
    else changed_.notify_all();
  }

  bool hasWork(std::uint64_t group) {
    if (epoch_.load(std::memory_order_relaxed) == seen_.load(std::memory_order_relaxed)) return false;
    std::lock_guard lock(mutex_);
    seen_ = epoch_.load();
    return std::any_of(launches_.begin(), launches_.end(), [&](auto &l) { return allowed(l->request.group, group); }) ||
           std::any_of(tasks_.begin(), tasks_.end(), [&](auto &t) { return allowed(t.group, group); });
  }

  static bool allowed(std::uint64_t of, std::uint64_t group) { return group == kAnyGroup || of == group; }

  // Runs a task, or some units of the first launch that `group` may run. False: there is nothing.
  bool runOne(std::uint32_t worker, std::uint64_t group) {
    std::unique_lock lock(mutex_);
    auto task = std::find_if(tasks_.begin(), tasks_.end(), [&](auto &t) { return allowed(t.group, group); });
    if (task != tasks_.end()) {
      auto run = std::move(task->run);
      tasks_.erase(task);
      lock.unlock();
      run();
      return true;
    }
    auto found = std::find_if(launches_.begin(), launches_.end(), [&](auto &l) { return allowed(l->request.group, group); });
    if (found == launches_.end()) return false;
    std::shared_ptr<LaunchRun> launch = *found;
    const std::uint64_t first = launch->next.fetch_add(launch->chunk);
    const std::uint64_t last = std::min(first + launch->chunk, launch->units);
    if (last >= launch->units) launches_.erase(found);
    if (first >= launch->units) return true;
    auto running = running_.insert(running_.end(), {launch, pthread_self()});
    lock.unlock();
    runRange(launch, first, last, worker, running);
    return true;
  }

  void runRange(const std::shared_ptr<LaunchRun> &launch, std::uint64_t first, std::uint64_t last, std::uint32_t worker,
                std::list<Running>::iterator running) {
    for (;;) {
      if (!launch->stopped) runUnits(*launch, first, last, worker);
      const std::uint64_t finished = launch->finished.fetch_add(last - first) + (last - first);
      if (finished == launch->units) {
        if (launch->needsReplay) replayFault(*launch, worker);
        unlist(running);
        launch->done(launch->fault);
        return;
      }
      // More of the same launch, without the lock.
      first = launch->next.fetch_add(launch->chunk);
      last = std::min(first + launch->chunk, launch->units);
      if (first >= launch->units) break;
      if (last == launch->units) {
        std::lock_guard lock(mutex_);
        std::erase(launches_, launch);
      }
    }
    unlist(running);
  }

  void unlist(std::list<Running>::iterator running) {
    std::lock_guard lock(mutex_);
    running_.erase(running);
  }

  void work(std::uint32_t worker) {
    sigset_t all;
    sigfillset(&all);
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGURG}) sigdelset(&all, signal);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);  // the program's signals are for its own threads
    std::uint64_t seen = ~std::uint64_t{0};
    for (;;) {
      while (runOne(worker, kAnyGroup)) {}
      seen = epoch_.load();
      {
        std::lock_guard lock(mutex_);
        if (!tasks_.empty() || !launches_.empty()) continue;
        if (quit_) return;
        ++idle_;
      }
      if (!spinUntil([&] { return epoch_.load(std::memory_order_relaxed) != seen; })) {
        std::unique_lock lock(mutex_);
        ++asleep_;
        changed_.wait(lock, [&] { return epoch_.load() != seen; });
        --asleep_;
      }
      std::lock_guard lock(mutex_);
      --idle_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<LaunchRun>> launches_;  // with units not yet taken
  std::deque<Task> tasks_;
  std::list<Running> running_;
  std::vector<std::thread> threads_;
  std::atomic<std::uint64_t> epoch_{0}, seen_{0};    // counts submissions
  std::atomic<std::uint32_t> asleep_{0};
  std::uint32_t count_ = 0, idle_ = 0, extra_ = 0;
  bool quit_ = false;
  const pid_t process_ = getpid();
};

}  // namespace

std::unique_ptr<Engine> makeEngine(std::uint32_t workers, AddressWindow) { return std::make_unique<WorkerEngine>(workers); }

}  // namespace strata::simt
