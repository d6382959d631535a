// SPDX-License-Identifier: Apache-2.0
// Random work on the whole stack, with a model of what must hold.
//   soak [SECONDS [SEED [THREADS]]]
// Threads own buffers of words whose contents the host keeps as well; each step does something to a buffer through one
// of the thread's streams, and to the host's copy: kernels, fills, copies in every direction, graphs, modules loaded
// for one launch. Between these, contexts fault and end, processes fork, and memory comes and goes. What must hold:
// each buffer has what the host's copy has, host functions ran in order, counters that all threads add to are complete,
// a fault stays in its context, a forked child is refused and ends, and all memory is free at the end.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/check.h"

#define CHECK_CU(call)                                                                           \
  do {                                                                                           \
    CUresult result = (call);                                                                    \
    if (result != CUDA_SUCCESS) {                                                                \
      std::fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)result);     \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

using Word = std::uint32_t;
constexpr unsigned kBlock = 128;

__device__ unsigned long long counter;

__global__ void add(Word *p, unsigned n, Word value) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += value;
  atomicAdd(&counter, 1ull);
}

__global__ void mix(Word *p, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = p[i] * 3 + i;
}

// Each whole block of words is turned round.
__global__ void turn(Word *p) {
  __shared__ Word words[kBlock];
  Word *mine = p + blockIdx.x * kBlock;
  words[threadIdx.x] = mine[threadIdx.x];
  __syncthreads();
  mine[threadIdx.x] = words[kBlock - 1 - threadIdx.x];
}

// Lanes exchange: p[i] += p[i ^ distance], in whole blocks.
__global__ void butterfly(Word *p, int distance) {
  Word *mine = p + blockIdx.x * kBlock + threadIdx.x;
  Word value = *mine;
  *mine = value + __shfl_xor_sync(0xffffffffu, value, distance);
}

// --- modules, faults ----------------------------------------------------------------------------------------

std::string modulePtx(Word constant) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry exclusive(.param .u64 p, .param .u32 n) {
  .reg .b64 %a, %o; .reg .b32 %v, %n, %t, %b, %d; .reg .pred %q;
  ld.param.u64 %a, [p]; ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x;
  mad.lo.u32 %t, %b, %d, %t;
  setp.ge.u32 %q, %t, %n;
  @%q ret;
  mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
  ld.global.u32 %v, [%a]; xor.b32 %v, %v, )" +
         std::to_string(constant) + R"(; st.global.u32 [%a], %v;
  ret;
}
.visible .entry stray() { .reg .b64 %a; mov.u64 %a, 64; st.global.u32 [%a], 1; ret; }
.visible .entry stop() { trap; }
)";
}

// A context of its own runs into a fault, and ends; whoever works in others does not notice.
void fault(std::mt19937_64 &random) {
  CUcontext context, primary;
  CUdevice device;
  CUmodule module;
  CUfunction function;
  CUdeviceptr memory;
  CHECK_CU(cuCtxGetCurrent(&primary));
  CHECK_CU(cuCtxGetDevice(&device));
  CHECK_CU(cuCtxCreate(&context, nullptr, 0, device));
  CHECK_CU(cuModuleLoadData(&module, modulePtx(1).c_str()));
  CHECK_CU(cuMemAlloc(&memory, 4096));
  const bool stray = random() % 2;
  const CUresult expected = stray ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_LAUNCH_FAILED;
  CHECK_CU(cuModuleGetFunction(&function, module, stray ? "stray" : "stop"));
  CHECK_CU(cuLaunchKernel(function, 1 + random() % 50, 1, 1, 1 + random() % 64, 1, 1, 0, nullptr, nullptr, nullptr));
  CHECK(cuCtxSynchronize() == expected);
  CHECK(cuMemsetD8(memory, 0, 16) == expected);
  CHECK_CU(cuCtxDestroy(context));
  CHECK_CU(cuCtxSetCurrent(primary));
}

// The child is told that CUDA does not work there, and ends.
void forkChild(std::mt19937_64 &random) {
  const bool exits = random() % 2;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(30);  // must not hang
    void *memory = nullptr;
    const int status = cudaMalloc(&memory, 64) == cudaErrorInitializationError ? 0 : 1;
    if (exits) std::exit(status);
    _exit(status);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  if (!WIFEXITED(status) || WEXITSTATUS(status)) {
    std::fprintf(stderr, "a forked child that calls %s ended with status 0x%x\n", exits ? "exit" : "_exit", status);
    std::exit(1);
  }
}

// --- a thread's work ----------------------------------------------------------------------------------------

std::atomic<unsigned long long> counted{0};  // what `counter` must be

class Worker {
public:
  explicit Worker(std::uint64_t seed) : random_(seed) {
    CHECK_CUDA(cudaStreamCreate(&streams_[0]));
    CHECK_CUDA(cudaStreamCreateWithFlags(&streams_[1], cudaStreamNonBlocking));
    streams_[2] = cudaStreamPerThread;
    CHECK_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    CHECK_CUDA(cudaHostAlloc(reinterpret_cast<void **>(&pinned_), kLargest * sizeof(Word), 0));
  }

  ~Worker() {
    while (!buffers_.empty()) removeBuffer(buffers_.size() - 1);
    CHECK(callsSeen_ == callsMade_ && !callsOutOfOrder_);
    CHECK_CUDA(cudaFreeHost(pinned_));
    CHECK_CUDA(cudaEventDestroy(event_));
    CHECK_CUDA(cudaStreamDestroy(streams_[0]));
    CHECK_CUDA(cudaStreamDestroy(streams_[1]));
  }

  struct Kind {
    const char *name;
    unsigned weight;
    void (Worker::*act)();
  };
  static const std::vector<Kind> &kinds();

  void step(std::vector<unsigned long long> &done) {
    unsigned total = 0;
    for (const Kind &kind : kinds()) total += kind.weight;
    unsigned chosen = below(total), index = 0;
    while (chosen >= kinds()[index].weight) chosen -= kinds()[index++].weight;
    (this->*kinds()[index].act)();
    ++done[index];
  }

private:
  static constexpr unsigned kLargest = 1 << 16;  // words of a buffer
  static constexpr unsigned kMostBuffers = 12;
  enum class Made { plain, inOrder, managed };
  struct Buffer {
    Word *words = nullptr;
    std::vector<Word> model;
    Made made = Made::plain;
    unsigned stream = 0;  // the last that worked on it
    unsigned size() const { return static_cast<unsigned>(model.size()); }
  };

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  Word word() { return static_cast<Word>(random_()); }

  Buffer &anyBuffer() {
    if (buffers_.empty()) addBuffer();
    return buffers_[below(static_cast<unsigned>(buffers_.size()))];
  }

  // A stream that comes after what was done to the buffer.
  cudaStream_t use(Buffer &buffer) {
    const unsigned next = below(3);
    if (next != buffer.stream) {
      CHECK_CUDA(cudaEventRecord(event_, streams_[buffer.stream]));
      CHECK_CUDA(cudaStreamWaitEvent(streams_[next], event_, 0));
      buffer.stream = next;
    }
    return streams_[next];
  }

  void expect(const Buffer &buffer, const Word *words, const char *what) {
    for (unsigned i = 0; i < buffer.size(); ++i)
      if (words[i] != buffer.model[i]) {
        std::fprintf(stderr, "%s: word %u of %u is %08x, not %08x\n", what, i, buffer.size(), words[i],
                     buffer.model[i]);
        std::exit(1);
      }
  }

  void addBuffer() {
    if (buffers_.size() == kMostBuffers) return removeBuffer(below(kMostBuffers));
    Buffer buffer;
    buffer.model.resize(1 + below(below(4) ? 2000 : kLargest));
    buffer.made = static_cast<Made>(below(3));
    buffer.stream = below(3);
    const std::size_t bytes = buffer.size() * sizeof(Word);
    if (buffer.made == Made::inOrder)
      CHECK_CUDA(cudaMallocAsync(reinterpret_cast<void **>(&buffer.words), bytes, streams_[buffer.stream]));
    else if (buffer.made == Made::managed) CHECK_CUDA(cudaMallocManaged(&buffer.words, bytes));
    else CHECK_CUDA(cudaMalloc(&buffer.words, bytes));
    const unsigned char byte = static_cast<unsigned char>(word());
    CHECK_CUDA(cudaMemsetAsync(buffer.words, byte, bytes, streams_[buffer.stream]));
    std::fill(buffer.model.begin(), buffer.model.end(), byte * 0x01010101u);
    buffers_.push_back(std::move(buffer));
  }

  void removeBuffer(std::size_t index) {
    Buffer &buffer = buffers_[index];
    compare(buffer);
    if (buffer.made == Made::inOrder) CHECK_CUDA(cudaFreeAsync(buffer.words, streams_[buffer.stream]));
    else CHECK_CUDA(cudaFree(buffer.words));
    std::swap(buffers_[index], buffers_.back());
    buffers_.pop_back();
  }

  void compare(Buffer &buffer) {
    const std::size_t bytes = buffer.size() * sizeof(Word);
    if (buffer.stream == 0 && below(2)) {  // the legacy stream comes after a blocking one by itself
      std::vector<Word> words(buffer.size(), 0xdeadbeef);
      CHECK_CUDA(cudaMemcpy(words.data(), buffer.words, bytes, cudaMemcpyDeviceToHost));
      return expect(buffer, words.data(), "cudaMemcpy");
    }
    if (below(2)) {  // pageable: written when the call returns
      std::vector<Word> words(buffer.size(), 0xdeadbeef);
      CHECK_CUDA(cudaMemcpyAsync(words.data(), buffer.words, bytes, cudaMemcpyDeviceToHost, use(buffer)));
      return expect(buffer, words.data(), "a copy to pageable memory");
    }
    std::fill(pinned_, pinned_ + buffer.size(), 0xdeadbeef);
    CHECK_CUDA(cudaMemcpyAsync(pinned_, buffer.words, bytes, cudaMemcpyDeviceToHost, use(buffer)));
    CHECK_CUDA(cudaStreamSynchronize(streams_[buffer.stream]));
    expect(buffer, pinned_, "a copy to pinned memory");
  }
  void compareAny() { compare(anyBuffer()); }

  // Something that can be captured as well: into `stream`; the model follows by the function that is returned.
  using Follow = std::function<void(std::vector<Word> &)>;
  Follow launchInto(cudaStream_t stream, const Buffer &buffer) {
    const unsigned n = buffer.size(), whole = n / kBlock;
    Word *const words = buffer.words;
    switch (below(whole ? 5 : 3)) {
      case 0: {
        const Word value = word();
        const unsigned block = 1 + below(256), blocks = (n + block - 1) / block;
        add<<<blocks, block, 0, stream>>>(words, n, value);
        return [=](std::vector<Word> &model) {
          for (Word &w : model) w += value;
          counted += std::uint64_t{blocks} * block;
        };
      }
      case 1:
        mix<<<1 + below(20), 32 * (1 + below(8)), 0, stream>>>(words, n);
        return [](std::vector<Word> &model) {
          for (Word i = 0; i < model.size(); ++i) model[i] = model[i] * 3 + i;
        };
      case 2: {
        const unsigned first = below(n), count = 1 + below(n - first);
        const unsigned char byte = static_cast<unsigned char>(word());
        CHECK_CUDA(cudaMemsetAsync(words + first, byte, count * sizeof(Word), stream));
        return [=](std::vector<Word> &model) { std::fill_n(model.begin() + first, count, byte * 0x01010101u); };
      }
      case 3:
        turn<<<whole, kBlock, 0, stream>>>(words);
        return [=](std::vector<Word> &model) {
          for (unsigned b = 0; b < whole; ++b)
            std::reverse(model.begin() + b * kBlock, model.begin() + (b + 1) * kBlock);
        };
      default: {
        const int distance = 1 << below(5);
        butterfly<<<whole, kBlock, 0, stream>>>(words, distance);
        return [=](std::vector<Word> &model) {
          const std::vector<Word> before = model;
          for (unsigned i = 0; i < whole * kBlock; ++i) model[i] += before[i ^ static_cast<unsigned>(distance)];
        };
      }
    }
  }

  void launch() {
    Buffer &buffer = anyBuffer();
    launchInto(use(buffer), buffer)(buffer.model);
    CHECK_CUDA(cudaGetLastError());
  }

  // The source is gone when the call has returned.
  void fromPageable() {
    Buffer &buffer = anyBuffer();
    const unsigned first = below(buffer.size()), count = 1 + below(buffer.size() - first);
    {
      std::vector<Word> source(count);
      for (Word &w : source) w = word();
      std::copy(source.begin(), source.end(), buffer.model.begin() + first);
      CHECK_CUDA(
          cudaMemcpyAsync(buffer.words + first, source.data(), count * sizeof(Word), cudaMemcpyDefault, use(buffer)));
      std::fill(source.begin(), source.end(), 0xdeadbeef);
    }
  }

  void betweenBuffers() {
    Buffer &to = anyBuffer(), &from = anyBuffer();
    if (&to == &from) return;
    const unsigned count = 1 + below(std::min(to.size(), from.size()));
    cudaStream_t stream = use(to);
    if (from.stream != to.stream) {
      CHECK_CUDA(cudaEventRecord(event_, streams_[from.stream]));
      CHECK_CUDA(cudaStreamWaitEvent(stream, event_, 0));
      from.stream = to.stream;
    }
    CHECK_CUDA(cudaMemcpyAsync(to.words, from.words, count * sizeof(Word), cudaMemcpyDeviceToDevice, stream));
    std::copy_n(from.model.begin(), count, to.model.begin());
  }

  void graph() {
    Buffer &buffer = anyBuffer();
    cudaStream_t stream = streams_[1];
    auto capture = [&](std::vector<Follow> &follows, std::uint64_t seed) {
      std::mt19937_64 outer = std::exchange(random_, std::mt19937_64(seed));
      cudaGraph_t graph;
      CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      const unsigned count = 1 + below(6);
      for (unsigned i = 0; i < count; ++i) follows.push_back(launchInto(stream, buffer));
      CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
      random_ = outer;
      return graph;
    };
    std::vector<Follow> follows;
    cudaGraph_t graph = capture(follows, random_());
    cudaGraphExec_t exec;
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
    const unsigned launches = 1 + below(5);
    for (unsigned i = 0; i < launches; ++i) {
      CHECK_CUDA(cudaGraphLaunch(exec, use(buffer)));
      for (const Follow &follow : follows) follow(buffer.model);
    }
    if (below(2)) {  // what was launched goes on with the old plan
      std::vector<Follow> others;
      cudaGraph_t other = capture(others, random_());
      cudaGraphExecUpdateResultInfo info;
      if (cudaGraphExecUpdate(exec, other, &info) == cudaSuccess) {
        CHECK_CUDA(cudaGraphLaunch(exec, use(buffer)));
        for (const Follow &follow : others) follow(buffer.model);
      } else {
        cudaGetLastError();
        CHECK(info.result != cudaGraphExecUpdateSuccess);
      }
      CHECK_CUDA(cudaGraphDestroy(other));
    }
    CHECK_CUDA(cudaGraphExecDestroy(exec));
  }

  void module() {
    Buffer &buffer = anyBuffer();
    const Word constant = below(4) ? 0x5a5a5a5a + below(4) : word();
    unsigned n = buffer.size();
    CUmodule module;
    CUfunction function;
    CHECK_CU(cuModuleLoadData(&module, modulePtx(constant).c_str()));
    CHECK_CU(cuModuleGetFunction(&function, module, "exclusive"));
    void *parameters[] = {&buffer.words, &n};
    const unsigned block = 32 * (1 + below(4));
    CHECK_CU(cuLaunchKernel(function, (n + block - 1) / block, 1, 1, block, 1, 1, 0, use(buffer), parameters, nullptr));
    for (Word &w : buffer.model) w ^= constant;
    CHECK_CUDA(cudaStreamSynchronize(streams_[buffer.stream]));
    CHECK_CU(cuModuleUnload(module));
  }

  // Called in the order of the calls of one stream.
  void hostFunction() {
    struct Call {
      Worker *worker;
      unsigned number;
    };
    auto function = [](void *data) {
      std::unique_ptr<Call> call(static_cast<Call *>(data));
      if (call->worker->callsSeen_.fetch_add(1) != call->number) call->worker->callsOutOfOrder_ = true;
    };
    CHECK_CUDA(cudaLaunchHostFunc(streams_[0], function, new Call{this, callsMade_++}));
    if (below(8) == 0) {
      CHECK_CUDA(cudaStreamSynchronize(streams_[0]));
      CHECK(callsSeen_ == callsMade_ && !callsOutOfOrder_);
    }
  }

  void otherContext() { fault(random_); }
  void otherProcess() { forkChild(random_); }
  void wait() { CHECK_CUDA(below(4) ? cudaStreamSynchronize(streams_[below(3)]) : cudaDeviceSynchronize()); }

  std::mt19937_64 random_;
  cudaStream_t streams_[3];
  cudaEvent_t event_;
  Word *pinned_;
  std::vector<Buffer> buffers_;
  unsigned callsMade_ = 0;
  std::atomic<unsigned> callsSeen_{0};
  std::atomic<bool> callsOutOfOrder_{false};
};

const std::vector<Worker::Kind> &Worker::kinds() {
  static const std::vector<Kind> all = {
      {"launches", 400, &Worker::launch},
      {"copies from pageable memory", 120, &Worker::fromPageable},
      {"copies between buffers", 120, &Worker::betweenBuffers},
      {"comparisons", 150, &Worker::compareAny},
      {"buffers made or freed", 60, &Worker::addBuffer},
      {"graphs", 60, &Worker::graph},
      {"host functions", 40, &Worker::hostFunction},
      {"waits", 30, &Worker::wait},
      {"modules", 4, &Worker::module},
      {"faults in contexts", 1, &Worker::otherContext},
      {"forks", 1, &Worker::otherProcess},
  };
  return all;
}

// --- the whole ----------------------------------------------------------------------------------------------

std::size_t freeMemory() {
  std::size_t free = 0, total = 0;
  cudaMemPool_t pool;
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  CHECK_CUDA(cudaMemPoolTrimTo(pool, 0));
  CHECK_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

// Ends the process if nothing has happened for a minute.
void watch(const std::atomic<unsigned long long> &steps) {
  std::thread([&steps] {
    for (unsigned long long last = ~0ull;;) {
      const unsigned long long now = steps.load();
      if (now == last) {
        std::fprintf(stderr, "no step for a minute\n");
        std::abort();
      }
      last = now;
      std::this_thread::sleep_for(std::chrono::seconds(60));
    }
  }).detach();
}

int main(int count, char **arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 20;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 0) : std::random_device{}();
  const unsigned threads = count > 3 ? static_cast<unsigned>(std::atoi(arguments[3])) : 4;
  std::printf("seed %llu, %u threads, %g seconds\n", static_cast<unsigned long long>(seed), threads, seconds);
  std::fflush(stdout);
  CHECK_CUDA(cudaFree(nullptr));
  {
    std::mt19937_64 random(seed);
    fault(random);  // what is made once is made: the program's module, too
    add<<<1, 1>>>(nullptr, 0, 0);
    ++counted;
  }
  const std::size_t before = freeMemory();

  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  static std::atomic<unsigned long long> steps{0};
  watch(steps);
  std::mutex mutex;
  std::vector<unsigned long long> done(Worker::kinds().size());
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      std::vector<unsigned long long> mine(done.size());
      for (std::uint64_t round = 0; std::chrono::steady_clock::now() < end; ++round) {
        Worker worker(seed + i * 1000003ull + round);
        for (int n = 0; n < 2000 && std::chrono::steady_clock::now() < end; ++n, ++steps) worker.step(mine);
      }
      std::lock_guard lock(mutex);
      for (std::size_t k = 0; k < done.size(); ++k) done[k] += mine[k];
    });
  for (std::thread &thread : all) thread.join();

  unsigned long long seen = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&seen, counter, sizeof seen));
  CHECK(seen == counted);
  const std::size_t after = freeMemory();
  for (std::size_t k = 0; k < done.size(); ++k) std::printf("%10llu %s\n", done[k], Worker::kinds()[k].name);
  std::printf("free memory: %zu bytes before, %zu after\n", before, after);
  CHECK(after == before);
  std::printf("PASSED\n");
  return 0;
}
