// SPDX-License-Identifier: Apache-2.0
// What a kernel can do wrong, each in a process of its own: the runtime's error is the one that a GPU gives, it
// sticks where CUDA's does, the log names kernel, block, thread and source line, and the process lives.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cstring>
#include <string>

#include <cuda_runtime.h>

#include "check.h"

__device__ int *nowhere;
__device__ volatile int never;

__global__ void outOfBounds(int *p, long far, int who) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int *q = p + i;
  if (i == who) q += far;
  *q = i;  // outOfBounds
}
__global__ void loadsPastTheEnd(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[0] = p[i < n ? i : i + 1'000'000'000];  // loadsPastTheEnd
}
__global__ void nullPointer() {
  if (threadIdx.x == 5) *nowhere = 1;  // nullPointer
}
__global__ void misaligned(char *p) {
  if (threadIdx.x == 3) *reinterpret_cast<int *>(p + 1) = 1;  // misaligned
}
__global__ void inALoop(int *p, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (i % 7 == 3) continue;
    p[i == 200 ? 1'000'000'000 : i % 64] = i;  // inALoop
  }
}
__global__ void inSharedMemory(int *p) {
  __shared__ int values[64];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 40) p[1'000'000'000] = values[63 - threadIdx.x];  // inSharedMemory
}
__device__ __noinline__ void storeTo(int *p, int value) {
  *p = value;  // inAFunction
}
__global__ void inAFunction(int *p) { storeTo(threadIdx.x == 17 ? p + 1'000'000'000 : p, threadIdx.x); }
__global__ void asserts(int n) { assert(static_cast<int>(threadIdx.x) < n); }
__global__ void traps() {
  if (threadIdx.x == 9) __trap();
}
__device__ int depth(int n, int *p) {
  int local[64];
  for (int i = 0; i < 64; ++i) local[i] = n + i;
  p[0] = local[n & 63];
  return n == never ? n : depth(n + 1, p) + local[(n + 1) & 63];
}
__global__ void recursesForEver(int *p) { p[1] = depth(1, p); }
__global__ void loopsForEver() {
  while (!never) {}
}

struct Case {
  const char *name;
  cudaError_t error;
  const char *log;    // what the log must contain: the place in the launch
  bool hasLine;       // the line marked with the case's name
};
const Case kCases[] = {
    {"outOfBounds", cudaErrorIllegalAddress, "block (6,0,0), thread (9,0,0)", true},
    {"loadsPastTheEnd", cudaErrorIllegalAddress, "block (1,0,0), thread (2,0,0)", true},
    {"nullPointer", cudaErrorIllegalAddress, "block (0,0,0), thread (5,0,0)", true},
    {"misaligned", cudaErrorMisalignedAddress, "block (0,0,0), thread (3,0,0)", true},
    {"inALoop", cudaErrorIllegalAddress, "block (0,0,0), thread (8,0,0)", true},
    {"inSharedMemory", cudaErrorIllegalAddress, "block (0,0,0), thread (40,0,0)", true},
    {"inAFunction", cudaErrorIllegalAddress, "block (0,0,0), thread (17,0,0)", true},
    {"asserts", cudaErrorAssert, "block: [0,0,0], thread: [20,0,0] Assertion", false},
    {"traps", cudaErrorLaunchFailure, "thread (9,0,0): trap", false},
    {"recursesForEver", cudaErrorHardwareStackError, "stack overflow", false},
};

static void launch(const std::string &name, int *p) {
  if (name == "outOfBounds") outOfBounds<<<32, 128>>>(p, 1L << 30, 6 * 128 + 9);
  else if (name == "loadsPastTheEnd") loadsPastTheEnd<<<2, 64>>>(p, 66);
  else if (name == "nullPointer") nullPointer<<<1, 32>>>();
  else if (name == "misaligned") misaligned<<<1, 32>>>(reinterpret_cast<char *>(p));
  else if (name == "inALoop") inALoop<<<1, 64>>>(p, 1000);
  else if (name == "inSharedMemory") inSharedMemory<<<1, 64>>>(p);
  else if (name == "inAFunction") inAFunction<<<1, 32>>>(p);
  else if (name == "asserts") asserts<<<1, 32>>>(20);
  else if (name == "traps") traps<<<1, 32>>>();
  else if (name == "recursesForEver") recursesForEver<<<1, 32>>>(p);
  else if (name == "loopsForEver") loopsForEver<<<4, 32>>>();
  else CHECK(!"a known case");
}

// The child: runs the case, checks the error, and that it sticks.
static int runCase(const Case &c) {
  alarm(60);
  int *p = nullptr;
  CHECK_CUDA(cudaMalloc(&p, 4096 * sizeof(int)));
  CHECK_CUDA(cudaMemset(p, 0, 4096 * sizeof(int)));
  launch(c.name, p);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != c.error) return std::fprintf(stderr, "got %s\n", cudaGetErrorName(error)), 1;
  CHECK(cudaMemset(p, 0, 4) == c.error);
  CHECK(cudaDeviceSynchronize() == c.error);
  CHECK_CUDA(cudaDeviceReset());  // a new context works again
  cudaGetLastError();
  CHECK_CUDA(cudaMalloc(&p, 64));
  outOfBounds<<<1, 16>>>(p, 0, -1);
  CHECK_CUDA(cudaDeviceSynchronize());
  return 0;
}

struct Ended {
  int status;
  std::string text;  // its stderr and stdout
};

// Runs this program with these arguments; `meanwhile` gets its process id.
template <class Meanwhile>
static Ended runSelf(const char *mode, const char *name, Meanwhile meanwhile) {
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], 1);
    dup2(pipes[1], 2);
    close(pipes[0]);
    execl("/proc/self/exe", "faults", mode, name, nullptr);
    _exit(127);
  }
  close(pipes[1]);
  Ended ended{};
  char buffer[4096];
  bool told = false;
  for (ssize_t n; (n = read(pipes[0], buffer, sizeof buffer)) > 0;) {
    ended.text.append(buffer, static_cast<std::size_t>(n));
    if (!told && ended.text.find("running\n") != ended.text.npos) told = true, meanwhile(child);
  }
  CHECK(waitpid(child, &ended.status, 0) == child);
  close(pipes[0]);
  return ended;
}

static int lineOf(const std::string &marker) {
  FILE *source = std::fopen(__FILE__, "r");
  CHECK(source);
  char line[512];
  int number = 0, found = 0;
  while (std::fgets(line, sizeof line, source)) {
    ++number;
    if (!found && std::strstr(line, ("// " + marker + "\n").c_str())) found = number;
  }
  std::fclose(source);
  return found;
}

static bool checkCase(const Case &c) {
  const Ended ended = runSelf("case", c.name, [](pid_t) {});
  bool good = WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0;
  if (!std::strstr(ended.text.c_str(), c.log)) good = false;
  if (c.hasLine) good &= ended.text.find("faults.cu:" + std::to_string(lineOf(c.name))) != ended.text.npos;
  if (!good) std::fprintf(stderr, "%s: status %#x, log:\n%s\n", c.name, ended.status, ended.text.c_str());
  return good;
}

// A kernel that never ends, and Ctrl-C: by default the process dies of it; with a handler that calls exit() it exits.
static int runForEver(bool handled) {
  alarm(60);
  if (handled) signal(SIGINT, [](int) { std::exit(42); });
  launch("loopsForEver", nullptr);
  CHECK_CUDA(cudaPeekAtLastError());
  std::printf("running\n");
  std::fflush(stdout);
  cudaDeviceSynchronize();
  return 0;
}

static bool checkInterrupt(bool handled) {
  const Ended ended = runSelf("forever", handled ? "handled" : "plain", [](pid_t child) {
    usleep(200'000);
    kill(child, SIGINT);
  });
  const bool good = handled ? WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 42
                            : WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGINT;
  if (!good) std::fprintf(stderr, "Ctrl-C, %s: status %#x, log:\n%s\n", handled ? "handled" : "plain", ended.status, ended.text.c_str());
  return good;
}

int main(int argc, char **argv) {
  if (argc == 3 && !std::strcmp(argv[1], "case")) {
    for (const Case &c : kCases)
      if (!std::strcmp(argv[2], c.name)) return runCase(c);
    return 2;
  }
  if (argc == 3 && !std::strcmp(argv[1], "forever")) return runForEver(!std::strcmp(argv[2], "handled"));
  bool good = true;
  for (const Case &c : kCases) good &= checkCase(c);
  good &= checkInterrupt(false);
  good &= checkInterrupt(true);
  std::printf("%s\n", good ? "PASSED" : "FAILED");
  return good ? 0 : 1;
}
