// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "case.h"

namespace bench {

inline void checkCuda(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "bench: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

// Device copies of a case's arrays. A call launches and waits.
class CudaRun {
public:
  explicit CudaRun(const Case &c) : case_(c) {
    for (const Array &array : c.arrays) {
      void *pointer = nullptr;
      checkCuda(cudaMalloc(&pointer, array.bytes.size()));
      pointers_.push_back(pointer);
    }
    reset();
  }
  ~CudaRun() {
    for (void *pointer : pointers_) cudaFree(pointer);
  }
  void reset() const {
    for (std::size_t i = 0; i < pointers_.size(); ++i)
      checkCuda(
          cudaMemcpy(pointers_[i], case_.arrays[i].bytes.data(), case_.arrays[i].bytes.size(), cudaMemcpyHostToDevice));
  }
  const Pointers &pointers() const { return pointers_; }  // which the host may use, too
  void operator()() const {
    case_.cuda(pointers_);
    checkCuda(cudaDeviceSynchronize());
  }
  std::vector<std::vector<std::uint8_t>> results() const {
    std::vector<std::vector<std::uint8_t>> copies;
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
      copies.emplace_back(case_.arrays[i].bytes.size());
      checkCuda(cudaMemcpy(copies.back().data(), pointers_[i], copies.back().size(), cudaMemcpyDeviceToHost));
    }
    return copies;
  }

private:
  const Case &case_;
  Pointers pointers_;
};

}  // namespace bench
