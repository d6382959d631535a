// SPDX-License-Identifier: Apache-2.0
// Kernels compiled ahead of time, on all processors: into the cache (`strata precompile`) and into native images
// (nvcc).
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "simt/simt.h"

namespace strata::simt {

using BlockShape = std::array<std::uint32_t, 3>;

// One block shape for each kind of code that launches of the kernel may need: full rows (or the most threads that it
// may have, if these are fewer), 16 by 16 where the kernel asks for the thread's row, and of `more` those that are not
// full rows.
std::vector<BlockShape> shapesToCompile(const KernelInfo &kernel, const std::vector<BlockShape> &more);

// Calls work(0) … work(count - 1), on up to `threads` threads; 0: one per processor.
void inParallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)> &work);

// "X,Y,Z", "X,Y" or "X": a block that can be launched; what is left out is 1. Errors (user) name the option and the
// text.
Result<BlockShape> readShape(const std::string &option, const std::string &text);

struct NativeTarget {
  Simd simd = kMostSimd;
  bool hostExtensions = false;  // true: for CPUs exactly like this one
};

struct NativeBuild {
  std::vector<std::vector<std::uint8_t>> images;  // in the targets' order
  std::vector<std::string> leftOut;               // kernels that the CPU device cannot run: "kernel 'k': why"
};

// Images of all kernels of a module for these targets. Errors: the module as a whole is refused.
Result<NativeBuild> buildNatives(const ModuleSource &source, const std::vector<NativeTarget> &targets,
                                 const std::vector<BlockShape> &shapes, unsigned threads);

}  // namespace strata::simt
