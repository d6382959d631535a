// SPDX-License-Identifier: Apache-2.0
// The subcommands of `strata`. Each returns an exit status and prints its own errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace strata::tools {

// Prints "strata: message" and returns 1.
int fail(const Error &error);

// Folder of bin/, lib64/ and the rest: where this program lies.
std::string prefix();

struct RunOptions {
  std::string file;                    // .cu, or a program
  std::vector<std::string> arguments;  // of the program
  std::string nvccOptions;             // more options for nvcc, as typed into a shell
};
// Compiles a .cu file unless that is done, and becomes the program. Returns only on an error.
int run(const RunOptions &options);

struct InspectOptions {
  std::string file;             // .cu, .ptx, object, archive or program
  std::string kernel;           // empty: all; what isCalled (kernel_names.h) takes
  std::string stage = "ptx";    // ptx lane vector asm why
  std::string simd = "auto";    // auto avx512 avx2 portable
  std::string mode = "vector";  // vector lane
  std::string block;            // "rows", "any" or a shape; empty: what most launches of the kernel run
  std::string nvccOptions;
};
int inspect(const InspectOptions &options);

struct PrecompileOptions {
  std::vector<std::string> files;   // programs, libraries, objects, archives, PTX
  std::vector<std::string> blocks;  // more block shapes; those with full rows of 32 need none
  std::string kernel;               // empty: all; what isCalled (kernel_names.h) takes
  unsigned jobs = 0;                // threads; 0: one per processor
  bool quiet = false;               // no progress
};
// Compiles the kernels into the machine-code cache.
int precompile(const PrecompileOptions &options);

// Devices and versions.
int smi();

// The environment variables that Strata reads.
int knobs();

}  // namespace strata::tools
