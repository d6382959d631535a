// SPDX-License-Identifier: Apache-2.0
// The worker threads of a CPU device. Work is a list of launches and a queue of host tasks under one short lock;
// blocks are taken from a launch by an atomic counter. Idle workers spin for a moment, then sleep. A thread that
// waits for its own launch runs blocks of it in an idle worker's place. A launch that follows a finished one in its
// stream and is work for one thread goes past the list: the thread that ended the one runs the other.
//
// On a GPU, kernels of different streams run at the same time, and a kernel may wait for another, for a copy or
// for the host. Here workers could all be busy with kernels that wait; so a monitor watches for work that nobody
// takes, and starts further threads for it. Blocks that take long without waiting are no reason for many: more
// threads than processors only get in each other's way.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "base/recycled.h"
#include "simt/exec/chunk.h"
#include "simt/exec/device_libc.h"
#include "simt/exec/faults.h"
#include "simt/exec/launch_run.h"
#include "simt/exec/replay.h"
#include "simt/exec/unit.h"
#include "simt/target/machine.h"

namespace strata::simt {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSpin = std::chrono::microseconds(30);
constexpr auto kTick = std::chrono::milliseconds(10);  // of the monitor
constexpr std::uint32_t kPatience = 2;                 // ticks without progress before a thread is added
constexpr std::uint64_t kMostExtra = 128;              // such threads at a time
constexpr std::uint64_t kMostStacks = 24'000;          // in all; each takes two of a process's 65,530 mappings

constexpr std::uint64_t kNever = ~std::uint64_t{0};  // an epoch

// Set in the child of a fork, which has no workers: nothing may wait for them.
std::atomic<bool> forked{false};

void watchForks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { forked = true; }); });
}

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
      machine::pause();
    }
  } while (Clock::now() < end);
  return condition();
}

class WorkerEngine final : public Engine {
public:
  explicit WorkerEngine(std::uint32_t workers) {
    watchForks();
    installFaultHandlers();
    count_ = workers ? workers : std::max(1u, std::thread::hardware_concurrency());
    spareRunning_.resize(count_ + 1);
    try {
      for (std::uint32_t i = 0; i < count_; ++i) threads_.emplace_back([this, i] { work(i); });
      threads_.emplace_back([this] { monitor(); });
    } catch (const std::bad_alloc &) {
      end();
      throw;
    } catch (const std::system_error &error) {  // the process or its user may have no more threads
      const std::size_t started = threads_.size();
      end();
      throw std::system_error(error.code(), "only " + std::to_string(started) + " of " + std::to_string(count_) +
                                                " worker threads start (STRATA_WORKERS)");
    }
  }
  ~WorkerEngine() override;

  std::uint32_t workers() const override { return count_; }
  void submit(LaunchRequest request, std::function<void(const Fault &)> done) override;
  void post(std::function<void()> task, std::uint64_t group) override;
  void interrupt() override;
  void waitFor(const std::atomic<std::uint32_t> &flag, std::uint64_t group) override;
  void wake(std::atomic<std::uint32_t> &flag) override { flag.notify_all(); }
  void setLimits(std::uint64_t heapBytes, std::uint64_t stackBytesPerThread) override {
    setDeviceHeapLimit(heapBytes);
    setDeviceStackLimit(stackBytesPerThread);
  }

private:
  // A launch as the list holds it, with what the monitor saw of it.
  struct Listed {
    std::shared_ptr<LaunchRun> launch;
    std::uint64_t seen = 0;  // units handed out at the last tick
    std::uint32_t ticks = 0, patience = kPatience;
  };
  // A thread that runs launches, with the one in hand; its lock keeps that alive for those who look at it.
  struct Running {
    std::mutex mutex;
    LaunchRun *launch = nullptr;
    pthread_t thread{};

    void set(LaunchRun *now) {
      std::lock_guard lock(mutex);
      launch = now;
    }
  };
  using Lock = std::unique_lock<std::mutex>;
  enum class Role { worker, helper, extra };
  // What a thread may run, and as what.
  struct Scope {
    Role role;
    std::uint32_t worker;
    std::uint64_t group = kAnyGroup;
    const std::atomic<std::uint32_t> *until = nullptr;  // set: nothing more
  };
  // Open while a thread ends a launch: takes the launch that is submitted meanwhile, to be run next.
  struct Successor {
    WorkerEngine *engine;
    const Scope &scope;
    std::uint64_t epoch;  // nothing else was to be done then
    std::shared_ptr<LaunchRun> launch;
  };

  static bool allowed(std::uint64_t of, std::uint64_t group) { return group == kAnyGroup || of == group; }

  // These are called with the lock held.
  bool hasWork() const { return !tasks_.empty() || !launches_.empty(); }
  bool hasWork(std::uint64_t group) const;
  bool runOne(Lock &lock, const Scope &scope);
  void runTask(Lock &lock, std::deque<Task>::iterator task);
  void runLaunch(Lock &lock, std::size_t index, const Scope &scope);
  void unlist(const LaunchRun *launch);
  void announce(std::uint64_t wanted);
  void addThreadsAtNeed();
  void end();
  bool someKernelWaits();
  void addThread(const LaunchRun *launch);

  bool succeeds(std::shared_ptr<LaunchRun> &launch, std::uint64_t wanted);
  void enlist(std::shared_ptr<LaunchRun> launch, std::uint64_t wanted);
  bool runUnlisted(const std::shared_ptr<LaunchRun> &launch, std::uint32_t worker);
  bool runFrom(LaunchRun &launch, ChunkSize &chunk, std::uint64_t first, std::uint64_t last, std::uint32_t worker);
  void runBlocks(LaunchRun &launch, ChunkSize &chunk, std::uint64_t first, std::uint64_t last, std::uint32_t worker);
  void endLaunch(LaunchRun &launch, std::uint32_t worker);
  template <class Visit>
  void forEachRunning(Visit visit);
  void stopOthers(const LaunchRun &launch);
  static void stop(LaunchRun &launch);
  void work(std::uint32_t worker);
  void extraWork(std::uint32_t worker, const LaunchRun *launch);
  void monitor();

  // Apart, since a condition variable that the parent's threads wait for cannot be destroyed in a forked child.
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed, watch;
  };
  Meeting *const meeting_ = new Meeting;
  std::mutex &mutex_ = meeting_->mutex;
  std::condition_variable &changed_ = meeting_->changed, &watch_ = meeting_->watch;
  std::deque<Listed> launches_;  // with units not yet handed out
  std::deque<Task> tasks_;
  std::list<Running> running_, spareRunning_;  // spare: nodes for it, so that running a launch allocates nothing
  std::vector<std::thread> threads_;
  std::list<std::thread> extras_;
  std::vector<std::thread::id> endedExtras_;
  std::atomic<std::uint64_t> epoch_{0};  // changes when there may be something to do
  std::uint32_t count_ = 0;
  std::uint32_t busy_ = 0, idle_ = 0,
                asleep_ = 0;  // workers and helpers that run something; workers that do not, sleeping ones among them
  std::uint32_t taskTicks_ = 0, extraNumber_ = 0;
  std::uint64_t tasksTaken_ = 0, tasksSeen_ = 0;
  bool watching_ = false, quit_ = false;
  static inline thread_local constinit Successor *successor_ = nullptr;
};

WorkerEngine::~WorkerEngine() {
  if (forked) {  // the threads, and what they wait for, are the parent's
    for (std::thread &thread : threads_) thread.detach();
    for (std::thread &thread : extras_) thread.detach();
    return;
  }
  end();
}

void WorkerEngine::end() {
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
    ++epoch_;
  }
  changed_.notify_all();
  watch_.notify_all();
  for (std::thread &thread : threads_) thread.join();
  for (std::thread &thread : extras_) thread.join();
  delete meeting_;
}

void WorkerEngine::submit(LaunchRequest request, std::function<void(const Fault &)> done) {
  auto launch = std::allocate_shared<LaunchRun>(RecycledAllocator<LaunchRun>(), std::move(request), std::move(done));
  prepareLaunch(*launch, count_);
  if (forked || launch->units == 0) {
    if (forked) {
      launch->fault.kind = FaultKind::internal;
      launch->fault.message = "the process was forked after its device was initialised";
    }
    return launch->done(launch->fault);
  }
  const std::uint64_t wanted = ChunkSize::threadsWorth(*launch);
  if (!succeeds(launch, wanted)) enlist(std::move(launch), wanted);
}

void WorkerEngine::enlist(std::shared_ptr<LaunchRun> launch, std::uint64_t wanted) {
  std::lock_guard lock(mutex_);
  launches_.push_back({std::move(launch)});
  announce(wanted);
}

// Whether the calling thread, which ends another launch, runs this one next. Only while it keeps nobody waiting.
bool WorkerEngine::succeeds(std::shared_ptr<LaunchRun> &launch, std::uint64_t wanted) {
  Successor *open = successor_;
  if (!open || open->engine != this || open->launch || wanted != 1) return false;
  const Scope &scope = open->scope;
  if (open->epoch != epoch_.load(std::memory_order_relaxed) || !allowed(launch->request.group, scope.group))
    return false;
  if (scope.until && scope.until->load(std::memory_order_relaxed)) return false;
  open->launch = std::move(launch);
  return true;
}

void WorkerEngine::post(std::function<void()> task, std::uint64_t group) {
  if (forked) return task();
  std::lock_guard lock(mutex_);
  tasks_.push_back({std::move(task), group});
  announce(1);
}

// Spinning workers see the epoch by themselves; sleepers cost a system call each.
void WorkerEngine::announce(std::uint64_t wanted) {
  ++epoch_;
  const std::uint32_t spinning = idle_ - asleep_;
  const std::uint64_t room = busy_ + spinning < count_ ? count_ - busy_ - spinning : 0;
  std::uint64_t wakes = std::min<std::uint64_t>({wanted > spinning ? wanted - spinning : 0, asleep_, room});
  for (; wakes; --wakes) changed_.notify_one();
  if (!watching_) watch_.notify_one();
}

bool WorkerEngine::hasWork(std::uint64_t group) const {
  return std::any_of(launches_.begin(), launches_.end(),
                     [&](auto &l) { return allowed(l.launch->request.group, group); }) ||
         std::any_of(tasks_.begin(), tasks_.end(), [&](auto &t) { return allowed(t.group, group); });
}

// Runs a task, or units of the first launch that `group` may run until none is left. False: nothing to do.
bool WorkerEngine::runOne(Lock &lock, const Scope &scope) {
  if (busy_ >= count_) return false;
  auto task = std::find_if(tasks_.begin(), tasks_.end(), [&](auto &t) { return allowed(t.group, scope.group); });
  std::size_t index = 0;
  if (task == tasks_.end()) {
    while (index < launches_.size() && !allowed(launches_[index].launch->request.group, scope.group)) ++index;
    if (index == launches_.size()) return false;
  }
  ++busy_;
  if (task != tasks_.end()) runTask(lock, task);
  else runLaunch(lock, index, scope);
  --busy_;
  // A worker looks for more by itself; a helper leaves its place to one.
  if (scope.role == Role::helper && hasWork()) announce(1);
  return true;
}

void WorkerEngine::runTask(Lock &lock, std::deque<Task>::iterator task) {
  auto run = std::move(task->run);
  tasks_.erase(task);
  ++tasksTaken_;
  lock.unlock();
  run();
  run = nullptr;
  lock.lock();
}

// Units of the launch until none is left, then what it ended for: its successors.
void WorkerEngine::runLaunch(Lock &lock, std::size_t index, const Scope &scope) {
  std::shared_ptr<LaunchRun> launch = launches_[index].launch;
  ChunkSize chunk(*launch, count_);
  std::uint64_t first, last;
  const bool some = chunk.take(first, last);
  if (last == launch->units) unlist(launch.get());
  if (!some) return;
  if (spareRunning_.empty()) spareRunning_.emplace_back();
  const auto running = spareRunning_.begin();
  running_.splice(running_.end(), spareRunning_, running);
  running->thread = pthread_self();
  running->set(launch.get());
  const bool mayFollow = scope.role != Role::extra && !hasWork();
  Successor successor{this, scope, mayFollow ? epoch_.load(std::memory_order_relaxed) : kNever, nullptr};
  lock.unlock();
  bool ended = runFrom(*launch, chunk, first, last, scope.worker);
  for (; ended; ended = runUnlisted(launch, scope.worker)) {
    running->set(nullptr);
    successor_ = &successor;
    endLaunch(*launch, scope.worker);
    successor_ = nullptr;
    launch = std::move(successor.launch);
    if (!launch) break;
    running->set(launch.get());
  }
  lock.lock();
  running->set(nullptr);
  spareRunning_.splice(spareRunning_.begin(), running_, running);
}

// A successor: what one thread does not take at once is for the others, too.
bool WorkerEngine::runUnlisted(const std::shared_ptr<LaunchRun> &launch, std::uint32_t worker) {
  ChunkSize chunk(*launch, count_);
  std::uint64_t first, last;
  chunk.take(first, last);
  if (last < launch->units) enlist(launch, launch->units - last);
  return runFrom(*launch, chunk, first, last, worker);
}

// Units [first, last), which were taken, and all that can still be had. True if they were the last to finish: then
// the caller ends the launch.
bool WorkerEngine::runFrom(LaunchRun &launch, ChunkSize &chunk, std::uint64_t first, std::uint64_t last,
                           std::uint32_t worker) {
  for (;;) {
    runBlocks(launch, chunk, first, last, worker);
    if (launch.finished.fetch_add(last - first, std::memory_order_acq_rel) + (last - first) == launch.units)
      return true;
    if (!chunk.take(first, last)) return false;
    if (last < launch.units) continue;
    std::lock_guard lock(mutex_);
    unlist(&launch);
  }
}

void WorkerEngine::runBlocks(LaunchRun &launch, ChunkSize &chunk, std::uint64_t first, std::uint64_t last,
                             std::uint32_t worker) {
  if (launch.stopped.load(std::memory_order_relaxed)) return;
  chunk.begin();
  const bool faultedFirst = runUnits(launch, first, last, worker);
  chunk.end(last - first);
  if (faultedFirst) stopOthers(launch);
}

void WorkerEngine::endLaunch(LaunchRun &launch, std::uint32_t worker) {
  {
    std::lock_guard lock(launch.mutex);
    launch.ended = true;
  }
  if (launch.needsReplay) replayFault(launch, worker);
  auto done = std::move(launch.done);
  done(launch.fault);
}

// With the lock held: visit(launch, thread) for all other threads that run one.
template <class Visit>
void WorkerEngine::forEachRunning(Visit visit) {
  for (Running &running : running_) {
    std::lock_guard lock(running.mutex);
    if (running.launch && !pthread_equal(running.thread, pthread_self())) visit(*running.launch, running.thread);
  }
}

// After a fault: other threads may be in blocks that wait for the one that is gone.
void WorkerEngine::stopOthers(const LaunchRun &launch) {
  for (;;) {
    bool others = false;
    {
      std::lock_guard lock(mutex_);
      forEachRunning([&](const LaunchRun &other, pthread_t thread) {
        if (&other != &launch) return;
        interruptThread(thread);
        others = true;
      });
    }
    if (!others) return;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

void WorkerEngine::unlist(const LaunchRun *launch) {
  std::erase_if(launches_, [&](const Listed &listed) { return listed.launch.get() == launch; });
}

void WorkerEngine::stop(LaunchRun &launch) {
  std::lock_guard lock(launch.mutex);
  launch.stopped = true;
  if (launch.ended || launch.fault.kind != FaultKind::none) return;
  launch.fault.kind = FaultKind::interrupted;
  launch.fault.kernel = launch.request.kernel->info->name;
  launch.fault.message = "kernel " + launch.fault.kernel + ": interrupted";
}

void WorkerEngine::interrupt() {
  if (forked) return;
  std::vector<const LaunchRun *> stopping;
  for (bool first = true;; first = false) {
    bool left = false;
    {
      std::lock_guard lock(mutex_);
      auto mine = [&](const LaunchRun *launch) {
        return std::find(stopping.begin(), stopping.end(), launch) != stopping.end();
      };
      auto consider = [&](LaunchRun &launch) {
        if (!first) return mine(&launch);
        stop(launch);
        stopping.push_back(&launch);
        return true;
      };
      for (Listed &listed : launches_) left |= consider(*listed.launch);
      forEachRunning([&](LaunchRun &launch, pthread_t thread) {
        if (!consider(launch)) return;
        interruptThread(thread);
        left = true;
      });
    }
    if (!left) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void WorkerEngine::waitFor(const std::atomic<std::uint32_t> &flag, std::uint64_t group) {
  const auto set = [&] { return flag.load(std::memory_order_acquire) != 0; };
  std::uint64_t seen = ~std::uint64_t{0};
  while (!set() && !forked) {
    if (group && seen != epoch_.load(std::memory_order_relaxed)) {
      Lock lock(mutex_);
      seen = epoch_.load(std::memory_order_relaxed);
      if (runOne(lock, {Role::helper, count_ - 1, group, &flag})) {
        seen = ~std::uint64_t{0};
        continue;
      }
    }
    if (spinUntil([&] { return set() || (group && seen != epoch_.load(std::memory_order_relaxed)); })) continue;
    flag.wait(0, std::memory_order_acquire);
  }
}

void WorkerEngine::work(std::uint32_t worker) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);  // the program's signals are for its own threads
  Lock lock(mutex_);
  for (;;) {
    if (runOne(lock, {Role::worker, worker})) continue;
    if (quit_ && !hasWork()) return;
    const std::uint64_t seen = epoch_.load(std::memory_order_relaxed);
    const auto changed = [&] { return epoch_.load(std::memory_order_relaxed) != seen; };
    ++idle_;
    lock.unlock();
    const bool hot = spinUntil(changed);
    lock.lock();
    if (!hot) {
      ++asleep_;
      changed_.wait(lock, changed);
      --asleep_;
    }
    --idle_;
  }
}

// Works for the launch, or at tasks, until there is nothing left, then ends.
void WorkerEngine::extraWork(std::uint32_t worker, const LaunchRun *launch) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  Lock lock(mutex_);
  if (launch) {
    auto listed = std::find_if(launches_.begin(), launches_.end(), [&](auto &l) { return l.launch.get() == launch; });
    if (listed != launches_.end())
      runLaunch(lock, static_cast<std::size_t>(listed - launches_.begin()), {Role::extra, worker});
  } else {
    while (!tasks_.empty()) runTask(lock, tasks_.begin());
  }
  endedExtras_.push_back(std::this_thread::get_id());
}

void WorkerEngine::monitor() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  Lock lock(mutex_);
  while (!quit_) {
    watching_ = hasWork() || !extras_.empty();
    if (watching_) watch_.wait_for(lock, kTick);
    else watch_.wait(lock);
    if (watching_) addThreadsAtNeed();
  }
}

void WorkerEngine::addThreadsAtNeed() {
  for (const std::thread::id id : std::exchange(endedExtras_, {})) {
    auto ended = std::find_if(extras_.begin(), extras_.end(), [&](auto &thread) { return thread.get_id() == id; });
    ended->join();
    extras_.erase(ended);
  }
  if (!tasks_.empty() && tasksSeen_ == tasksTaken_) {
    if (++taskTicks_ >= kPatience) taskTicks_ = 0, addThread(nullptr);
  } else {
    taskTicks_ = 0;
  }
  tasksSeen_ = tasksTaken_;
  const bool waits = someKernelWaits();
  for (Listed &listed : launches_) {
    const std::uint64_t handedOut = listed.launch->next.load(std::memory_order_relaxed);
    if (handedOut != std::exchange(listed.seen, handedOut)) listed.ticks = 0;
    if (waits) listed.patience = kPatience;  // perhaps for this launch
    if (++listed.ticks < listed.patience) continue;
    listed.ticks = 0;
    listed.patience *= 2;  // if none waits, for good: its blocks, or those before it, are long
    addThread(listed.launch.get());
  }
}

// Since the last tick.
bool WorkerEngine::someKernelWaits() {
  bool some = false;
  forEachRunning(
      [&](LaunchRun &launch, pthread_t) { some |= launch.waited.exchange(false, std::memory_order_relaxed); });
  return some;
}

// For the launch, or if null for tasks.
void WorkerEngine::addThread(const LaunchRun *launch) {
  const std::uint64_t most = launch ? std::min(kMostExtra, kMostStacks / stacksOfUnit(*launch)) : kMostExtra;
  if (extras_.size() >= most) return;
  try {
    extras_.emplace_back([this, launch, worker = extraNumber_++ % count_] { extraWork(worker, launch); });
  } catch (const std::system_error &error) {  // tried again at the next tick
    log::once(log::Level::warn, "engine.threads",
              std::string("kernels wait for one another, and no thread can be added: ") + error.what());
  }
}

}  // namespace

std::unique_ptr<Engine> makeEngine(std::uint32_t workers, AddressWindow) {
  return std::make_unique<WorkerEngine>(workers);
}

}  // namespace strata::simt
