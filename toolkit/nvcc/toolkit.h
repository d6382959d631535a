// SPDX-License-Identifier: Apache-2.0
// The install prefix that this nvcc belongs to, and the compiler that it drives.
#pragma once

#include <string>

namespace strata::nvcc {

inline constexpr int kMajor = 13, kMinor = 0, kBuild = 0;  // the CUDA release whose nvcc this one stands for

struct Toolkit {
  std::string prefix;  // …/ of …/bin/nvcc
  std::string bin, include, lib, libdevice;
  std::string missing;   // headers that say what is missing
  std::string plugin;    // for clang: managed variables, names of kernels
  std::string clang;     // clang++ 19
  std::string archiver;  // llvm-ar

  // Found from the running binary.
  static Toolkit locate();
};

}  // namespace strata::nvcc
