// SPDX-License-Identifier: Apache-2.0
// A plain Engine: worker threads under one lock, fibers for kernels with barriers and for lane mode. It exists
// so that the layers above can run before the fast executor lands, which replaces it.
#include <boost/context/detail/fcontext.hpp>
#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "base/log.h"
#include "simt/simt.h"

namespace strata::simt {
namespace {

namespace ctx = boost::context::detail;

struct BlockRun;

struct Member {
  Warp warp{};
  BlockRun *run = nullptr;
  ctx::fcontext_t self = nullptr, scheduler = nullptr;
  enum class State { ready, barrier, collective, activemask, done } state = State::ready;
  std::uint32_t barrierId = 0, result = 0;
  std::uint32_t kind = 0, mask = 0, b = 0, c = 0, predicate = 0;
  std::uint64_t value = 0;
  void yieldTo() { scheduler = ctx::jump_fcontext(scheduler, nullptr).fctx; }
};

struct BarrierState {
  std::uint32_t arrived = 0, count = 0, popc = 0, all = 1, any = 0, op = 0;
};

struct LaunchRun {
  LaunchRequest request;
  std::function<void(const Fault &)> done;
  LaunchState state{};
  std::uint64_t total = 0;
  std::atomic<std::uint64_t> next{0}, finished{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  Fault fault;
};

struct BlockRun {
  LaunchRun *launch = nullptr;
  Block block{};
  std::vector<Member> members;
  BarrierState barriers[16];
  bool lanes = false;
  std::uint32_t live = 0;  // threads (lane mode) or 32 per warp
  jmp_buf escape;
  Member *current = nullptr;
};

thread_local BlockRun *tlsRun = nullptr;

Member *memberOf(Warp *warp) { return reinterpret_cast<Member *>(reinterpret_cast<char *>(warp) - offsetof(Member, warp)); }

[[noreturn]] void raise(Warp *warp, FaultKind kind, std::uint32_t lanes, std::uint64_t address) {
  BlockRun *run = tlsRun;
  LaunchRun &launch = *run->launch;
  {
    std::lock_guard lock(launch.mutex);
    if (launch.fault.kind == FaultKind::none) {
      Fault &f = launch.fault;
      f.kind = kind;
      f.kernel = launch.request.kernel->info->name;
      f.address = address;
      std::uint32_t lane = lanes ? __builtin_ctz(lanes) : 0, linear = warp ? warp->index * 32 + lane : 0;
      const std::uint32_t *d = launch.state.blockDim;
      f.thread[0] = linear % d[0], f.thread[1] = linear / d[0] % d[1], f.thread[2] = linear / d[0] / d[1];
      std::memcpy(f.block, run->block.blockIdx, sizeof f.block);
      f.message = "kernel " + f.kernel + ": fault " + std::to_string(static_cast<int>(kind));
    }
  }
  launch.stopped = true;
  longjmp(run->escape, 1);
}

void completeBarrier(BlockRun &run, std::uint32_t id) {
  BarrierState &b = run.barriers[id];
  std::uint32_t result = b.op == 0 ? b.popc : b.op == 1 ? b.all : b.any;
  b = {};
  for (Member &m : run.members)
    if (m.state == Member::State::barrier && m.barrierId == id) {
      m.state = Member::State::ready;
      m.result = result;
    }
}

bool barrierFull(const BlockRun &run, const BarrierState &b) {
  std::uint32_t expected = b.count ? std::min(run.lanes ? b.count : (b.count + 31) / 32 * 32, run.lanes ? run.live : 1u << 30) : run.live;
  return b.arrived >= expected;
}

std::uint32_t arrive(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t laneMask, std::uint32_t predicates, std::uint32_t op, bool wait) {
  Member *m = memberOf(warp);
  BlockRun &run = *m->run;
  BarrierState &b = run.barriers[id & 15];
  b.arrived += run.lanes ? 1 : 32;
  b.count = count;
  b.op = op;
  b.popc += __builtin_popcount(predicates & laneMask);
  b.all &= (predicates & laneMask) == laneMask;
  b.any |= (predicates & laneMask) != 0;
  if (wait) {
    m->state = Member::State::barrier;
    m->barrierId = id & 15;
  }
  if (barrierFull(run, b)) completeBarrier(run, id & 15);
  if (!wait) return 0;
  m->yieldTo();
  return m->result;
}

void leave(BlockRun &run, Member &m) {
  m.state = Member::State::done;
  run.live -= run.lanes ? 1 : 32;
  for (std::uint32_t id = 0; id < 16; ++id)
    if (run.barriers[id].arrived && !run.barriers[id].count && barrierFull(run, run.barriers[id])) completeBarrier(run, id);
}

// --- collectives of lane mode -------------------------------------------------------------------------

void resolveGroup(std::vector<Member *> &group) {
  std::uint32_t active = 0;
  Member *byLane[32] = {};
  for (Member *m : group) active |= 1u << m->warp.lane, byLane[m->warp.lane] = m;
  auto reduce = [&](auto combine) {
    std::uint32_t acc = 0;
    bool first = true;
    for (Member *m : group) acc = first ? (first = false, static_cast<std::uint32_t>(m->value)) : combine(acc, static_cast<std::uint32_t>(m->value));
    return acc;
  };
  std::uint32_t ballot = 0;
  for (Member *m : group)
    if (m->value & 1) ballot |= 1u << m->warp.lane;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> results(32);
  for (Member *m : group) {
    std::uint32_t lane = m->warp.lane, predicate = 0;
    std::uint64_t out = 0;
    switch (m->kind) {
      case 0: case 1: case 2: case 3: {
        std::uint32_t clamp = m->c & 31, segment = m->c >> 8 & 31, by = m->b & 31;
        std::int32_t high = (lane & segment) | (clamp & ~segment), low = lane & segment, source;
        if (m->kind == 0) source = low | (by & ~segment), predicate = source <= high;
        else if (m->kind == 1) source = static_cast<std::int32_t>(lane) - static_cast<std::int32_t>(by), predicate = source >= high;
        else source = m->kind == 2 ? lane + by : lane ^ by, predicate = source <= high;
        if (!predicate) source = lane;
        out = byLane[source & 31] ? byLane[source & 31]->value : m->value;
        break;
      }
      case 4: out = ballot == active; break;
      case 5: out = ballot != 0; break;
      case 6: out = ballot == 0 || ballot == active; break;
      case 7: out = ballot; break;
      case 8: case 9:
        for (Member *o : group)
          if (o->value == m->value) out |= 1u << o->warp.lane;
        if (m->kind == 9) predicate = out == active, out = predicate ? active : 0;
        break;
      case 10: out = reduce([](std::uint32_t a, std::uint32_t b) { return a + b; }); break;
      case 11: out = reduce([](std::uint32_t a, std::uint32_t b) { return std::min(a, b); }); break;
      case 12: out = reduce([](std::uint32_t a, std::uint32_t b) { return std::max(a, b); }); break;
      case 13: out = reduce([](std::uint32_t a, std::uint32_t b) { return static_cast<std::uint32_t>(std::min<std::int32_t>(a, b)); }); break;
      case 14: out = reduce([](std::uint32_t a, std::uint32_t b) { return static_cast<std::uint32_t>(std::max<std::int32_t>(a, b)); }); break;
      case 15: out = reduce([](std::uint32_t a, std::uint32_t b) { return a & b; }); break;
      case 16: out = reduce([](std::uint32_t a, std::uint32_t b) { return a | b; }); break;
      case 17: out = reduce([](std::uint32_t a, std::uint32_t b) { return a ^ b; }); break;
      case 19: out = __builtin_ctz(active), predicate = lane == out; break;
      case 20: out = active; break;
      default: break;
    }
    results[lane] = {out, predicate};
  }
  for (Member *m : group) {
    m->value = results[m->warp.lane].first;
    m->predicate = results[m->warp.lane].second;
    m->state = Member::State::ready;
  }
}

// Groups whose members have all arrived; with `force`, those that wait for lanes that will not come.
bool resolveCollectives(BlockRun &run, bool force) {
  bool any = false;
  for (std::uint32_t w = 0; w < run.block.warps; ++w) {
    std::uint32_t existing = 0, runnable = 0;
    std::vector<Member *> inWarp;
    for (Member &m : run.members)
      if (m.warp.index == w && m.state != Member::State::done) {
        existing |= 1u << m.warp.lane;
        if (m.state == Member::State::ready) runnable |= 1u << m.warp.lane;
        inWarp.push_back(&m);
      }
    for (Member *lead : inWarp) {
      if (lead->state != Member::State::collective) continue;
      std::vector<Member *> group;
      std::uint32_t present = 0;
      for (Member *m : inWarp)
        if (m->state == Member::State::collective && m->kind == lead->kind && (m->kind == 20 || m->mask == lead->mask)) group.push_back(m), present |= 1u << m->warp.lane;
      bool complete = lead->kind == 20 ? force : (lead->mask & existing) == present || force;
      if (!complete) continue;
      resolveGroup(group);
      any = true;
    }
  }
  return any;
}

std::uint64_t laneCollective(Warp *warp, std::uint32_t kind, std::uint32_t mask, std::uint64_t value, std::uint32_t b, std::uint32_t c, std::uint32_t *predicate) {
  Member *m = memberOf(warp);
  m->kind = kind, m->mask = mask, m->value = value, m->b = b, m->c = c;
  m->state = Member::State::collective;
  m->yieldTo();
  if (predicate) *predicate = m->predicate;
  return m->value;
}

// --- device libc ----------------------------------------------------------------------------------------

std::int32_t deviceVprintf(Warp *, std::uint32_t, const char *format, const void *arguments) {
  auto *at = static_cast<const char *>(arguments);
  std::string out;
  int count = 0;
  auto take = [&](std::size_t size) {
    auto offset = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(arguments);
    offset = (offset + size - 1) / size * size;
    const char *p = static_cast<const char *>(arguments) + offset;
    at = p + size;
    return p;
  };
  for (const char *f = format; *f; ++f) {
    if (*f != '%') { out += *f; continue; }
    if (f[1] == '%') { out += '%', ++f; continue; }
    std::string spec = "%";
    const char *s = f + 1;
    bool wide = false;
    for (; *s && !std::strchr("diouxXeEfFgGaAcsp", *s); ++s) {
      if (*s == 'l' || *s == 'z' || *s == 'j' || *s == 't') wide = true;
      else if (*s == '*') spec += std::to_string(*reinterpret_cast<const std::int32_t *>(take(4)));
      else if (*s != 'h') spec += *s;
    }
    if (!*s) break;
    char text[512];
    ++count;
    if (std::strchr("eEfFgGaA", *s)) std::snprintf(text, sizeof text, (spec + *s).c_str(), *reinterpret_cast<const double *>(take(8)));
    else if (*s == 's') std::snprintf(text, sizeof text, (spec + "s").c_str(), *reinterpret_cast<const char *const *>(take(8)));
    else if (*s == 'p') std::snprintf(text, sizeof text, (spec + "p").c_str(), *reinterpret_cast<void *const *>(take(8)));
    else if (wide) std::snprintf(text, sizeof text, (spec + "ll" + *s).c_str(), *reinterpret_cast<const long long *>(take(8)));
    else std::snprintf(text, sizeof text, (spec + *s).c_str(), *reinterpret_cast<const int *>(take(4)));
    out += text;
    f = s;
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
  return count;
}

void assertFail(Warp *warp, std::uint32_t lane, const char *message, const char *file, std::uint32_t line, const char *function, std::uint64_t) {
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u] Assertion `%s' failed.\n", file, line, function, warp->block->blockIdx[0], warp->block->blockIdx[1], warp->block->blockIdx[2], message);
  raise(warp, FaultKind::assertion, 1u << lane, 0);
}

const Runtime kRuntime = {
    [](Warp *w, std::uint32_t id, std::uint32_t count, std::uint32_t m) { arrive(w, id, count, m, 0, 0, true); },
    [](Warp *w, std::uint32_t id, std::uint32_t count, std::uint32_t m) { arrive(w, id, count, m, 0, 0, false); },
    [](Warp *w, std::uint32_t id, std::uint32_t count, std::uint32_t m, std::uint32_t p, std::uint32_t op) { return arrive(w, id, count, m, p, op, true); },
    [](Warp *w, std::uint32_t) { raise(w, FaultKind::internal, 0, 0); },
    [](Warp *w, std::uint32_t) { raise(w, FaultKind::internal, 0, 0); },
    [](Warp *w) { if (memberOf(w)->run->members.size()) memberOf(w)->yieldTo(); else std::this_thread::yield(); },
    [](Warp *w, std::uint32_t) { if (memberOf(w)->run->members.size()) memberOf(w)->yieldTo(); else std::this_thread::yield(); },
    [] { return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()); },
    [](Warp *w, std::uint32_t kind, std::uint32_t lanes, std::uint64_t address) { raise(w, static_cast<FaultKind>(kind), lanes, address); },
    deviceVprintf,
    assertFail,
    [](Warp *, std::uint64_t bytes) { return std::malloc(bytes); },
    [](Warp *, void *p) { std::free(p); },
    laneCollective,
};

// --- running blocks -----------------------------------------------------------------------------------

constexpr std::size_t kStack = 256 << 10;

struct Stacks {
  std::vector<void *> all;
  void *get(std::size_t i) {
    while (all.size() <= i) {
      void *p = mmap(nullptr, kStack + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      mprotect(p, 4096, PROT_NONE);
      all.push_back(static_cast<char *>(p) + kStack + 4096);
    }
    return all[i];
  }
};

void fiberMain(ctx::transfer_t t) {
  auto *m = static_cast<Member *>(t.data);
  m->scheduler = t.fctx;
  reinterpret_cast<WarpEntry>(m->run->launch->request.kernel->entry)(&m->warp);
  leave(*m->run, *m);
  m->yieldTo();
}

void runFibers(BlockRun &run, Stacks &stacks) {
  for (std::size_t i = 0; i < run.members.size(); ++i) run.members[i].self = ctx::make_fcontext(stacks.get(i), kStack, fiberMain);
  std::size_t left = run.members.size();
  while (left) {
    bool progress = false;
    for (Member &m : run.members) {
      if (m.state != Member::State::ready) continue;
      progress = true;
      run.current = &m;
      m.self = ctx::jump_fcontext(m.self, &m).fctx;
      if (m.state == Member::State::done) --left;
    }
    if (run.lanes && resolveCollectives(run, false)) progress = true;
    if (!progress && left && !(run.lanes && resolveCollectives(run, true))) raise(&run.members[0].warp, FaultKind::deadlock, 1, 0);
  }
}

struct WorkerMemory {
  std::vector<std::uint8_t> shared;
  Stacks stacks;
};

void runBlock(LaunchRun &launch, std::uint64_t index, std::uint32_t worker, WorkerMemory &memory) {
  BlockRun run;
  run.launch = &launch;
  Block &b = run.block;
  const LaunchState &s = launch.state;
  memory.shared.resize(s.totalShared + 256);
  b.launch = &s;
  b.shared = reinterpret_cast<std::uint8_t *>((reinterpret_cast<std::uintptr_t>(memory.shared.data()) + 127) & ~std::uintptr_t{127});
  b.blockIdx[0] = index % s.gridDim[0], b.blockIdx[1] = index / s.gridDim[0] % s.gridDim[1], b.blockIdx[2] = index / s.gridDim[0] / s.gridDim[1];
  b.threads = s.blockDim[0] * s.blockDim[1] * s.blockDim[2];
  b.warps = (b.threads + 31) / 32;
  b.smId = worker;
  EntryKind kind = launch.request.kernel->entryKind;
  run.lanes = kind == EntryKind::lane;
  tlsRun = &run;
  if (setjmp(run.escape)) return;
  if (kind == EntryKind::block) {
    Member scratch;
    scratch.run = &run;
    scratch.warp.block = &b;
    reinterpret_cast<BlockEntry>(launch.request.kernel->entry)(&b, &scratch.warp);
    return;
  }
  run.members.resize(run.lanes ? b.threads : b.warps);
  run.live = run.lanes ? b.threads : 32 * b.warps;
  for (std::uint32_t i = 0; i < run.members.size(); ++i) {
    Member &m = run.members[i];
    m.run = &run;
    m.warp.block = &b;
    m.warp.index = run.lanes ? i / 32 : i;
    m.warp.lane = run.lanes ? i % 32 : 0;
    std::uint32_t rest = b.threads - 32 * m.warp.index;
    m.warp.lanes = rest >= 32 ? ~0u : (1u << rest) - 1;
  }
  runFibers(run, memory.stacks);
}

class SimpleEngine : public Engine {
public:
  explicit SimpleEngine(std::uint32_t workers) {
    for (std::uint32_t i = 0; i < workers; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~SimpleEngine() override {
    {
      std::lock_guard lock(mutex_);
      quit_ = true;
    }
    changed_.notify_all();
    for (auto &t : threads_) t.join();
  }
  std::uint32_t workers() const override { return threads_.size(); }

  void submit(LaunchRequest request, std::function<void(const Fault &)> done) override {
    auto run = std::make_shared<LaunchRun>();
    run->request = std::move(request);
    run->done = std::move(done);
    LaunchRequest &r = run->request;
    LaunchState &s = run->state;
    s.runtime = &kRuntime;
    s.params = r.params.data();
    s.globals = r.globals;
    std::memcpy(s.gridDim, r.gridDim, 12);
    std::memcpy(s.blockDim, r.blockDim, 12);
    std::memcpy(s.clusterDim, r.clusterDim, 12);
    s.dynamicShared = r.dynamicShared;
    s.totalShared = r.kernel->info->staticShared + r.dynamicShared;
    s.smCount = threads_.size();
    s.gridId = r.gridId;
    run->total = std::uint64_t(r.gridDim[0]) * r.gridDim[1] * r.gridDim[2];
    {
      std::lock_guard lock(mutex_);
      launches_.push_back(run);
    }
    changed_.notify_all();
  }
  void post(std::function<void()> task, std::uint64_t) override {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }
  void interrupt() override {
    std::lock_guard lock(mutex_);
    for (auto &l : launches_) l->stopped = true;
  }
  void waitFor(const std::atomic<std::uint32_t> &flag, std::uint64_t) override {
    while (!flag.load(std::memory_order_acquire)) flag.wait(0);
  }
  void wake(std::atomic<std::uint32_t> &flag) override { flag.notify_all(); }
  void setLimits(std::uint64_t, std::uint64_t) override {}

private:
  void work(std::uint32_t worker) {
    WorkerMemory memory;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return quit_ || !tasks_.empty() || !launches_.empty(); });
      if (!tasks_.empty()) {
        auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
        lock.lock();
      } else if (!launches_.empty()) {
        auto launch = launches_.front();
        std::uint64_t index = launch->next++;
        if (index + 1 >= launch->total) launches_.pop_front();
        if (index >= launch->total) continue;
        lock.unlock();
        if (!launch->stopped) runBlock(*launch, index, worker, memory);
        if (++launch->finished == launch->total) launch->done(launch->fault);
        launch.reset();
        lock.lock();
      } else if (quit_) {
        return;
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<LaunchRun>> launches_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  bool quit_ = false;
};

}  // namespace

std::unique_ptr<Engine> makeEngine(std::uint32_t workers, AddressWindow) {
  return std::make_unique<SimpleEngine>(workers ? workers : std::thread::hardware_concurrency());
}

}  // namespace strata::simt
