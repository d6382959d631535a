// SPDX-License-Identifier: Apache-2.0
// Tests of modules over the code generator that counts (fake_codegen.cpp).
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "base/knobs.h"
#include "simt/exec/codegen_library.h"
#include "simt/simt.h"

namespace strata::simt::test {

// The process's cache is made at its first use: before any test, so that none goes to the user's own.
inline const std::string &cacheFolder() {
  static const struct Folder {
    std::string path =
        (std::filesystem::temp_directory_path() / ("strata_exec_test." + std::to_string(getpid()))).string();
    Folder() { setenv("STRATA_CACHE_DIR", path.c_str(), 1); }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder;
  return folder.path;
}

class FakeModuleTest : public testing::Test {
protected:
  FakeModuleTest() {
    cacheFolder();
    knobs::reload();
    setCodegenLibrary(FAKE_CODEGEN);
    handle_ = dlopen(FAKE_CODEGEN, RTLD_NOW);
  }
  template <class T>
  T ask(const char *name) {
    return reinterpret_cast<T (*)()>(dlsym(handle_, name))();
  }
  int opens() { return ask<int>("fake_opens"); }
  int compiles() { return ask<int>("fake_compiles"); }
  void exhaustNextCompile() { ask<void>("fake_exhaust"); }
  void slowNextCompile() { ask<void>("fake_slow"); }
  CompileOptions options() { return *ask<const CompileOptions *>("fake_last_options"); }

  // A text that no other test and no earlier run has.
  std::string text(const std::string &kernels) {
    return KERNEL_FOLDER " " + kernels + " unique" + std::to_string(std::random_device{}()) + std::to_string(getpid());
  }

private:
  void *handle_;
};

}  // namespace strata::simt::test
