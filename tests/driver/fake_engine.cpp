// SPDX-License-Identifier: Apache-2.0
// An engine for the driver's tests without code generation: a few kernels known by name, run on plain threads.
// It implements simt/simt.h for the variant of libcuda.so.1 that tests/driver links.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <thread>

#include "simt/simt.h"

namespace strata::simt {

class CodeImage {};

namespace {

template <class T>
T param(const LaunchRequest &request, std::size_t index) {
  T value;
  std::memcpy(&value, request.params.data() + request.kernel->info->params[index].offset, sizeof value);
  return value;
}

std::uint64_t threadsOf(const LaunchRequest &r) {
  std::uint64_t n = 1;
  for (int i = 0; i < 3; ++i) n *= std::uint64_t{r.gridDim[i]} * r.blockDim[i];
  return n;
}

// Tests look at the memory while kernels run.
void replace(std::uint32_t &word, std::uint32_t value) {
  std::atomic_ref(word).store(value, std::memory_order_relaxed);
}

FaultKind runByName(const LaunchRequest &r) {
  const std::string &name = r.kernel->info->name;
  if (name == "add") {  // p[i] += n for each thread
    auto *p = param<std::uint32_t *>(r, 0);
    for (std::uint64_t i = 0; i < threadsOf(r); ++i) replace(p[i], p[i] + param<std::uint32_t>(r, 1));
  } else if (name == "scale") {  // p[i] = p[i] * 3 + 1
    auto *p = param<std::uint32_t *>(r, 0);
    for (std::uint64_t i = 0; i < threadsOf(r); ++i) replace(p[i], p[i] * 3 + 1);
  } else if (name == "spin") {  // until *p is not 0
    auto *p = param<std::uint32_t *>(r, 0);
    while (std::atomic_ref(*p).load() == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
  } else if (name == "store") {
    auto *p = param<std::uint32_t *>(r, 0);
    if (!p) return FaultKind::illegalAddress;
    replace(*p, 1);
  } else if (name == "stop") {
    return FaultKind::trap;
  } else if (name == "bump") {  // counter += 1, a variable of the module
    *reinterpret_cast<std::uint32_t *>(r.globals + 64) += 1;
  }
  return FaultKind::none;
}

class FakeModule final : public Module {
public:
  explicit FakeModule(std::string_view ptx) {
    const std::string text(ptx);
    std::regex entry(R"(\.entry\s+(\w+)\s*\(([^)]*)\)([^{]*))"),
        paramPattern(R"(\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w)(\d+)\s+\w+(?:\[(\d+)\])?)");
    for (std::sregex_iterator at(text.begin(), text.end(), entry), end; at != end; ++at) {
      KernelInfo kernel;
      kernel.name = (*at)[1];
      const std::string list = (*at)[2], directives = (*at)[3];
      for (std::sregex_iterator p(list.begin(), list.end(), paramPattern); p != end; ++p) {
        std::uint32_t unit = static_cast<std::uint32_t>(std::stoul((*p)[3])) / 8;
        std::uint32_t size = (*p)[4].matched ? static_cast<std::uint32_t>(std::stoul((*p)[4])) * unit : unit;
        std::uint32_t align = (*p)[1].matched ? static_cast<std::uint32_t>(std::stoul((*p)[1])) : unit;
        if (unit == 0 || align == 0) throw std::out_of_range("a parameter without size");
        std::uint32_t offset = (kernel.paramBytes + align - 1) / align * align;
        kernel.params.push_back({offset, size, align});
        kernel.paramBytes = offset + size;
      }
      if (std::smatch m; std::regex_search(directives, m, std::regex(R"(\.(maxntid|reqntid)\s+(\d+))"))) {
        kernel.maxThreads = static_cast<std::uint32_t>(std::stoul(m[2]));
        if (m[1] == "reqntid") kernel.reqntid[0] = kernel.maxThreads, kernel.reqntid[1] = kernel.reqntid[2] = 1;
      }
      kernel.registers = 16;
      if (kernel.name == "shared40000") kernel.staticShared = 40000;
      info_.kernels.push_back(std::move(kernel));
    }
    info_.globals = {{"table", 0, 64, false, false}, {"counter", 64, 4, false, false}};
    info_.globalsSize = 72;
    info_.globalsImage.assign(72, 0);
    info_.globalsImage[0] = 42;
    info_.relocations = {{56, 64}};
  }
  const ModuleInfo &info() const override { return info_; }

private:
  ModuleInfo info_;
};

class FakeEngine final : public Engine {
public:
  explicit FakeEngine(std::uint32_t workers) {
    for (std::uint32_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~FakeEngine() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto &thread : threads_) thread.join();
  }
  std::uint32_t workers() const override { return static_cast<std::uint32_t>(threads_.size()); }

  void submit(LaunchRequest request, std::function<void(const Fault &)> done) override {
    auto run = [request = std::move(request), done = std::move(done)] {
      Fault fault;
      fault.kind = runByName(request);
      fault.kernel = request.kernel->info->name;
      fault.message = "fault in kernel " + fault.kernel;
      done(fault);
    };
    // A spinning kernel must not hold up the others, as the real engine promises.
    if (request.kernel && request.kernel->info->name == "spin") std::thread(std::move(run)).detach();
    else post(std::move(run), 0);
  }
  void post(std::function<void()> task, std::uint64_t) override {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    wake_.notify_one();
  }
  void interrupt() override {}
  void waitFor(const std::atomic<std::uint32_t> &flag, std::uint64_t) override {
    std::unique_lock lock(flagMutex_);
    flagged_.wait(lock, [&] { return flag.load() != 0; });
  }
  void wake(std::atomic<std::uint32_t> &) override {
    std::lock_guard lock(flagMutex_);
    flagged_.notify_all();
  }
  void setLimits(std::uint64_t, std::uint64_t) override {}

private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_, flagMutex_;
  std::condition_variable wake_, flagged_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

}  // namespace

Result<std::shared_ptr<Module>> openModule(ModuleSource source) {
  std::string ptx;
  for (const std::string &text : source.ptx) ptx += text;
  if (ptx.find("foo.bar") != ptx.npos) return userError("line 4, column 1: unknown instruction foo.bar");
  if (ptx.find("no.such.cpu") != ptx.npos)
    return environmentError("STRATA_SIMD=avx512: this CPU or its system does not support it");
  try {
    return std::shared_ptr<Module>(std::make_shared<FakeModule>(ptx));
  } catch (const std::logic_error &) {  // a number that is none, in a damaged text
    return userError("a number is out of range");
  }
}

Result<std::string> linkPtx(const std::vector<std::string> &ptx, const std::vector<std::string> &) {
  std::string all;
  for (const std::string &text : ptx) all += text;
  return all;
}

Result<std::shared_ptr<const Kernel>> loadKernel(const std::shared_ptr<Module> &module, std::string_view name,
                                                 const std::uint32_t *) {
  auto kernel = std::make_shared<Kernel>();
  kernel->module = module;
  for (const KernelInfo &info : module->info().kernels)
    if (info.name == name) kernel->info = &info;
  return std::shared_ptr<const Kernel>(kernel);
}

std::unique_ptr<Engine> makeEngine(std::uint32_t workers, AddressWindow) {
  return std::make_unique<FakeEngine>(workers);
}

}  // namespace strata::simt
