// SPDX-License-Identifier: Apache-2.0
// The whole compile of one kernel. pipeline.cpp has the table of its passes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/ptx.h"
#include "simt/pass_trace.h"
#include "simt/simt.h"

namespace strata::simt {

// Texts of stages, for `strata inspect` and STRATA_DUMP.
struct StageTexts {
  std::string lane, vector, assembly;
  std::string why;  // the image's report and what the register allocator adds
};

// What is wanted beside the machine code.
struct Wanted {
  bool texts = false;
  bool counts = false;     // of instructions, in the trace
  std::string after = {};  // the IR after each pass of this name, in the trace
};

struct CompileResult {
  KernelImage image;
  StageTexts texts;
  PassTrace trace;
  double lowerMilliseconds = 0, emitMilliseconds = 0;  // before and after the passes
};

// Thread-safe: each call has its own LLVM context.
Result<CompileResult> compileKernel(const ptx::Module &module, std::string_view kernel, const CompileOptions &options,
                                    const Wanted &wanted = {});

}  // namespace strata::simt
