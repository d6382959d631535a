// SPDX-License-Identifier: Apache-2.0
// The whole compile of one kernel. pipeline.cpp reads as its table of contents.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/ptx.h"
#include "simt/simt.h"

namespace strata::simt {

// Texts of stages, for `strata inspect` and STRATA_DUMP.
struct StageTexts {
  std::string lane, vector, assembly;
  std::string why;  // the image's report and what the register allocator adds
};

struct StageTimes {
  double lower = 0, optimizeLane = 0, vectorize = 0, expand = 0, optimizeMachine = 0, emit = 0;  // milliseconds
};

struct CompileResult {
  KernelImage image;
  StageTexts texts;
  StageTimes times;
};

// Thread-safe: each call has its own LLVM context.
Result<CompileResult> compileKernel(const ptx::Module &module, std::string_view kernel, const CompileOptions &options,
                                    bool wantTexts);

}  // namespace strata::simt
