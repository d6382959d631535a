// SPDX-License-Identifier: Apache-2.0
// Ends of processes and kernels: the first argument names what is tried, ends_test.sh what has to become of it.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      std::printf("FAILED: line %d: %s\n", __LINE__, #condition);     \
      std::fflush(stdout);                                            \
      std::_Exit(1);                                                  \
    }                                                                 \
  } while (false)

// Takes some time to compile.
template <int n>
__global__ void heavy(float *p) {
  float x = p[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 8; ++i) x = sinf(x * n + i) + cosf(x);
  p[threadIdx.x] = x;
}

__global__ void overrun(int bytes, int written) {
  char *p = static_cast<char *>(malloc(bytes));
  for (int i = 0; i < written; ++i) reinterpret_cast<volatile char *>(p)[i] = 7;
  free(p);
}

__global__ void until(volatile int *flag, int *started) {
  *started = 1;
  __threadfence_system();
  while (!*flag) {}
}

__global__ void badAccess(int *p) { *p = 1; }
__global__ void assertion(int one) { assert(one == 2); }

void launchHeavy() {
  float *p;
  CHECK(cudaMalloc(&p, 4096) == cudaSuccess);
  heavy<1><<<1, 32>>>(p);
  heavy<2><<<1, 32>>>(p);
  heavy<3><<<1, 32>>>(p);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

// exit in this process, or in a forked child, while another thread compiles.
void exitWhileCompiling(bool inChild, int microseconds) {
  CHECK(cudaFree(nullptr) == cudaSuccess);
  std::thread thread(launchHeavy);
  usleep(microseconds);
  if (!inChild) {
    thread.detach();
    std::exit(0);
  }
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int *p;
    CHECK(cudaMalloc(&p, 4) == cudaErrorInitializationError);
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  thread.join();
  CHECK(status == 0);
}

std::atomic<int> handled{0};

// A signal from elsewhere while a kernel runs, to each thread but this one.
void sendSegv(bool withHandler) {
  if (withHandler) signal(SIGSEGV, [](int) { ++handled; });
  int *words;
  CHECK(cudaHostAlloc(&words, 8, cudaHostAllocDefault) == cudaSuccess);
  std::memset(words, 0, 8);
  until<<<1, 1>>>(words, words + 1);
  while (!*reinterpret_cast<volatile int *>(words + 1)) usleep(1000);
  int sent = 0;
  for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::atoi(task.path().filename().c_str());
    if (thread != getpid()) sent += syscall(SYS_tgkill, getpid(), thread, SIGSEGV) == 0;
  }
  CHECK(sent > 1);
  for (int i = 0; i < 2000 && !handled; ++i) usleep(1000);  // threads that run no kernel may block it
  CHECK(withHandler && handled > 0);
  *reinterpret_cast<volatile int *>(words) = 1;
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  badAccess<<<1, 1>>>(reinterpret_cast<int *>(64));  // a kernel's fault is still the kernel's
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(handled <= sent);
}

void closeReaders() {
  int ends[2];
  CHECK(pipe(ends) == 0);
  CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
}

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "exit" || what == "fork") {
    exitWhileCompiling(what == "fork", std::atoi(argv[2]));
  } else if (what == "overrun") {  // of more than all that lies around it
    overrun<<<1, 1>>>(std::atoi(argv[2]), std::atoi(argv[3]));
    const cudaError_t error = cudaDeviceSynchronize();
    for (int i = 0; i < 1000; ++i) std::free(std::malloc(16 * i));  // the process's own heap is whole
    CHECK(error == (argc > 4 ? cudaSuccess : cudaErrorIllegalAddress));
  } else if (what == "sent" || what == "handled") {
    sendSegv(what == "handled");
  } else if (what == "log") {
    closeReaders();
    badAccess<<<1, 1>>>(reinterpret_cast<int *>(64));
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  } else if (what == "assert") {
    closeReaders();
    assertion<<<1, 1>>>(1);
    CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
  } else {
    std::printf("FAILED: unknown: %s\n", what.c_str());
    return 2;
  }
  return 0;
}
