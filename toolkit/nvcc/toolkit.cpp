// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/toolkit.h"

#include <filesystem>

namespace strata::nvcc {

namespace fs = std::filesystem;

Toolkit Toolkit::locate() {
  std::error_code ignored;
  fs::path self = fs::canonical("/proc/self/exe", ignored);
  Toolkit kit;
  fs::path bin = self.parent_path(), prefix = bin.parent_path();
  kit.prefix = prefix;
  kit.bin = bin;
  kit.include = prefix / "include";
  kit.lib = prefix / "lib64";
  kit.missing = prefix / "lib64/strata/missing";
  kit.plugin = prefix / "lib64/strata/libstrata_clang.so";
  kit.libdevice = prefix / "nvvm/libdevice/libdevice.10.bc";
  // STRATA_LLVM_ROOT is where LLVM 19 was when Strata was built; elsewhere the usual name is looked up in PATH.
  fs::path llvm = fs::path(STRATA_LLVM_ROOT) / "bin";
  kit.clang = fs::exists(llvm / "clang++", ignored) ? (llvm / "clang++").string() : "clang++-19";
  kit.archiver = fs::exists(llvm / "llvm-ar", ignored) ? (llvm / "llvm-ar").string() : "llvm-ar-19";
  return kit;
}

}  // namespace strata::nvcc
