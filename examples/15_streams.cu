// SPDX-License-Identifier: Apache-2.0
// A producer and a consumer stream that share two buffers; events say when a buffer is full or free.
#include "check.h"

__global__ void produce(int *buffer, int n, int round) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) buffer[i] = round * n + i;
}

__global__ void consume(const int *buffer, int n, unsigned long long *sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, (unsigned long long)buffer[i]);
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 20000), rounds = argument(argc, argv, 2, 24);
  int *buffers[2] = {poisonedDevice<int>(n), poisonedDevice<int>(n)};
  unsigned long long *sum = toDevice(std::vector<unsigned long long>(1, 0));

  cudaStream_t producer, consumer;
  CHECK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
  cudaEvent_t full[2], empty[2], start, stop;
  for (int b = 0; b < 2; ++b) {
    CHECK(cudaEventCreateWithFlags(&full[b], cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&empty[b], cudaEventDisableTiming));
  }
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  CHECK(cudaEventRecord(start, producer));
  for (int r = 0; r < rounds; ++r) {
    int b = r % 2;
    if (r >= 2) CHECK(cudaStreamWaitEvent(producer, empty[b], 0));
    produce<<<(n + 127) / 128, 128, 0, producer>>>(buffers[b], n, r);
    CHECK(cudaEventRecord(full[b], producer));
    CHECK(cudaStreamWaitEvent(consumer, full[b], 0));
    consume<<<(n + 127) / 128, 128, 0, consumer>>>(buffers[b], n, sum);
    CHECK(cudaEventRecord(empty[b], consumer));
  }
  CHECK(cudaEventRecord(stop, consumer));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

  unsigned long long got = toHost(sum, 1)[0], all = (unsigned long long)n * rounds, want = all * (all - 1) / 2;
  Verdict verdict;
  verdict.expect(got == want, "sum", 0, (double)got, (double)want);
  verdict.expect(milliseconds > 0, "milliseconds", 0, milliseconds, 1);
  for (int b = 0; b < 2; ++b) {
    CHECK(cudaEventDestroy(full[b]));
    CHECK(cudaEventDestroy(empty[b]));
    CHECK(cudaFree(buffers[b]));
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaStreamDestroy(producer));
  CHECK(cudaStreamDestroy(consumer));
  CHECK(cudaFree(sum));
  return verdict.report("producer/consumer streams");
}
