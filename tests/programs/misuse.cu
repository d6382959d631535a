// SPDX-License-Identifier: Apache-2.0
// What programs do to the runtime itself: objects destroyed while their work runs, many threads, a forked child.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include "check.h"

__global__ void waitFor(volatile int *gate) {
  while (!*gate) {}
}
__global__ void addOne(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++p[i];
}

struct Gate {
  volatile int *word;
  Gate() {
    CHECK_CUDA(cudaHostAlloc((void **)&word, sizeof(int), 0));
    *word = 0;
  }
  ~Gate() { CHECK_CUDA(cudaFreeHost((void *)word)); }
};

static bool allAre(const int *device, int n, int value) {
  std::vector<int> host(n, -1);
  CHECK_CUDA(cudaMemcpy(host.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
  return std::all_of(host.begin(), host.end(), [=](int v) { return v == value; });
}

// Stream, events and a graph go while a kernel holds the stream: the work is done all the same.
static void destroyWhileItRuns() {
  constexpr int kWords = 1000;
  Gate gate;
  int *p;
  cudaStream_t stream, other;
  cudaEvent_t event;
  CHECK_CUDA(cudaMalloc(&p, kWords * sizeof(int)));
  CHECK_CUDA(cudaMemset(p, 0, kWords * sizeof(int)));
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK_CUDA(cudaEventCreate(&event));
  waitFor<<<1, 1, 0, stream>>>(gate.word);
  addOne<<<4, 256, 0, stream>>>(p, kWords);
  CHECK_CUDA(cudaEventRecord(event, stream));
  CHECK_CUDA(cudaStreamWaitEvent(other, event, 0));
  addOne<<<4, 256, 0, other>>>(p, kWords);

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  addOne<<<4, 256, 0, stream>>>(p, kWords);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CHECK_CUDA(cudaGraphLaunch(exec, other));
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK_CUDA(cudaGraphExecDestroy(exec));
  CHECK_CUDA(cudaEventDestroy(event));
  CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_CUDA(cudaStreamDestroy(other));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle || cudaStreamSynchronize(stream) == cudaErrorContextIsDestroyed);
  CHECK(cudaEventQuery(event) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  *gate.word = 1;
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(allAre(p, kWords, 3));
  CHECK_CUDA(cudaFree(p));
}

// Threads that allocate, launch, copy, record and free at the same time.
static void manyThreads() {
  constexpr int kThreads = 64, kRounds = 20;
  std::atomic<int> wrong{0};
  auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < kRounds; ++round) {
      const int n = 1 + random() % 20000;
      int *p;
      cudaStream_t stream;
      cudaEvent_t event;
      CHECK_CUDA(cudaStreamCreateWithFlags(&stream, round % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
      CHECK_CUDA(cudaEventCreate(&event));
      if (round % 3) CHECK_CUDA(cudaMalloc(&p, n * sizeof(int)));
      else CHECK_CUDA(cudaMallocAsync(&p, n * sizeof(int), stream));
      CHECK_CUDA(cudaMemsetAsync(p, 0, n * sizeof(int), stream));
      const int times = 1 + random() % 5;
      for (int i = 0; i < times; ++i) addOne<<<(n + 255) / 256, 256, 0, stream>>>(p, n);
      std::vector<int> host(n, -1);
      CHECK_CUDA(cudaMemcpyAsync(host.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
      CHECK_CUDA(cudaEventRecord(event, stream));
      CHECK_CUDA(cudaEventSynchronize(event));
      wrong += !std::all_of(host.begin(), host.end(), [=](int v) { return v == times; });
      if (round % 3) CHECK_CUDA(cudaFree(p));
      else CHECK_CUDA(cudaFreeAsync(p, stream));
      CHECK_CUDA(cudaEventDestroy(event));
      CHECK_CUDA(cudaStreamDestroy(stream));
    }
  };
  std::vector<std::thread> threads;
  const unsigned seed = std::random_device{}();
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, seed + t);
  for (std::thread &thread : threads) thread.join();
  if (wrong) std::fprintf(stderr, "%d wrong results, seed %u\n", wrong.load(), seed);
  CHECK(wrong == 0);
}

// CUDA does not work in a child that was forked after its use, and says so; the parent goes on.
static void forkedChild() {
  int *p;
  CHECK_CUDA(cudaMalloc(&p, 64));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // must not hang
    int *q = nullptr, count = 0;
    bool good = cudaMalloc(&q, 64) == cudaErrorInitializationError;
    good &= cudaDeviceSynchronize() == cudaErrorInitializationError;
    addOne<<<1, 16>>>(p, 16);
    good &= cudaGetLastError() == cudaErrorInitializationError;
    good &= cudaMemcpy(&count, p, 4, cudaMemcpyDeviceToHost) == cudaErrorInitializationError;
    good &= cudaFree(p) == cudaErrorInitializationError;
    good &= cudaStreamSynchronize(nullptr) == cudaErrorInitializationError;
    good &= cudaGetDeviceCount(&count) == cudaErrorInitializationError;
    std::exit(good ? 0 : 1);  // destructors and all
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_CUDA(cudaMemset(p, 0, 64));
  addOne<<<1, 16>>>(p, 16);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(allAre(p, 16, 1));
  CHECK_CUDA(cudaFree(p));
}

static void forkWhileWorkRuns() {
  Gate gate;
  waitFor<<<1, 1>>>(gate.word);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 0 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  *gate.word = 1;
  CHECK_CUDA(cudaDeviceSynchronize());
}

static void absurdSizes() {
  void *p = nullptr;
  for (std::size_t bytes : {~std::size_t{0}, std::size_t{1} << 62, std::size_t{1} << 47}) {
    CHECK(cudaMalloc(&p, bytes) == cudaErrorMemoryAllocation);
    CHECK(cudaMallocManaged(&p, bytes) == cudaErrorMemoryAllocation);
    CHECK(cudaHostAlloc(&p, bytes, 0) == cudaErrorMemoryAllocation);
    CHECK(cudaMallocAsync(&p, bytes, nullptr) == cudaErrorMemoryAllocation);
  }
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(&p, &pitch, std::size_t{1} << 40, std::size_t{1} << 40) == cudaErrorMemoryAllocation);
  CHECK(cudaMemset(nullptr, 0, ~std::size_t{0}) == cudaErrorInvalidValue);
  addOne<<<1, 5000>>>(nullptr, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  addOne<<<0, 1>>>(nullptr, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  addOne<<<dim3(1, 70000), 1>>>(nullptr, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  addOne<<<1, 1, std::size_t{1} << 30>>>(nullptr, 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK_CUDA(cudaDeviceSynchronize());
}

int main() {
  alarm(100);
  destroyWhileItRuns();
  manyThreads();
  absurdSizes();
  forkedChild();
  forkWhileWorkRuns();
  std::printf("PASSED\n");
}
