// SPDX-License-Identifier: Apache-2.0
// Machine code for CPUs in fat binaries: programs that carry it start without a compiler on the CPU device.
#pragma once

#include <string>
#include <vector>

#include "base/fatbin.h"
#include "base/result.h"
#include "simt/exec/precompile.h"

namespace strata::nvcc {

struct NativeCode {
  std::vector<std::string> targets;           // names from nativeTargets(), each once; empty: no such code
  std::vector<simt::BlockShape> blockShapes;  // beside the usual ones
  unsigned threads = 0;                       // 0: one per core
  bool warn = true;                           // of kernels that the CPU device cannot run
};

// What "cpu", "cpu_avx512", … after -arch and -code stands for: "cpu_<target>" names; empty: no name of ours.
std::vector<std::string> nativeTargets(const std::string &name);

// For --list-gpu-code.
std::string listNativeTargets();

// The values of --cpu-block. Errors (user): a block shape that no launch can have.
Result<std::vector<simt::BlockShape>> readBlockShapes(const std::vector<std::string> &texts);

// Adds an image for each target, made from the PTX among the entries that the CPU device would run, linked if need be.
// Errors: there is no code generator, or it is at fault; relocatable PTX that does not link. Other PTX that the CPU
// device refuses is a warning: it may be meant for GPUs.
Result<void> addNativeCode(std::vector<strata::fatbin::Entry> &entries, const NativeCode &wanted);

}  // namespace strata::nvcc
