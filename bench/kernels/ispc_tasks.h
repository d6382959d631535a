// SPDX-License-Identifier: Apache-2.0
// What ispc's `launch` and `sync` call: tasks on OpenMP's threads, done when `launch` returns.
#pragma once

#include <omp.h>

#include <cstdint>
#include <cstdlib>

extern "C" {

using IspcTask = void (*)(void *data, int thread, int threads, int task, int tasks, int x, int y, int z, int width,
                          int height, int depth);

__attribute__((visibility("default"))) void *ISPCAlloc(void **handle, std::int64_t size, std::int32_t alignment) {
  std::free(*handle);
  return *handle = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

__attribute__((visibility("default"))) void ISPCLaunch(void **, void *function, void *data, int width, int height,
                                                       int depth) {
  const int tasks = width * height * depth;
#pragma omp parallel for schedule(dynamic)
  for (int t = 0; t < tasks; ++t)
    reinterpret_cast<IspcTask>(function)(data, omp_get_thread_num(), omp_get_num_threads(), t, tasks, t % width,
                                         t / width % height, t / width / height, width, height, depth);
}

// Frees what the last launch was given.
__attribute__((visibility("default"))) void ISPCSync(void *handle) { std::free(handle); }
}
