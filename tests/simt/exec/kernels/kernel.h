// SPDX-License-Identifier: Apache-2.0
// Kernels for the executor's tests, written in C++ against simt/abi.h as code generation would: they show
// warps (or lanes) that call the Runtime table. Each file is one object with the entry strata_entry.
#pragma once

#include "simt/abi.h"

using namespace strata::simt;

template <class T>
const T &params(const Warp *warp) {
  return *reinterpret_cast<const T *>(warp->block->launch->params);
}
inline const Runtime &runtime(const Warp *warp) { return *warp->block->launch->runtime; }
inline std::uint64_t blockNumber(const Block *block) {
  const std::uint32_t *grid = block->launch->gridDim;
  return (std::uint64_t(block->blockIdx[2]) * grid[1] + block->blockIdx[1]) * grid[0] + block->blockIdx[0];
}
