// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/mock.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/fatbin.h"

namespace {

void *const kLibrary = [] {
  setenv("STRATA_DEVICE", "nvidia", 1);
  return dlopen(MOCK_DRIVER, RTLD_NOW);
}();

}  // namespace

MockDriver &mock() {
  static MockDriver *driver = [] {
    auto get = reinterpret_cast<decltype(&mockDriver)>(kLibrary ? dlsym(kLibrary, "mockDriver") : nullptr);
    if (!get) ADD_FAILURE() << dlerror();
    return get();
  }();
  return *driver;
}

void RuntimeTest::SetUp() {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  TearDown();
}

void RuntimeTest::TearDown() {
  mock().failing.clear();
  for (int device : {1, 0}) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  }
  cudaGetLastError();
  mock().take();
  mock().modulesLoaded = 0;
}

std::vector<std::uint8_t> fatBinary(const std::vector<Image> &images) {
  std::vector<strata::fatbin::Entry> entries;
  for (const Image &image : images)
    entries.push_back(
        {strata::fatbin::Kind::ptx, image.arch, image.relocatable, image.name, {image.text.begin(), image.text.end()}});
  return strata::fatbin::write(entries, true);
}

Program::Program(const std::vector<Image> &images)
    : bytes_(fatBinary(images)), wrapper_{strata::fatbin::kWrapperMagic, 1, bytes_.data(), nullptr} {
  handle_ = __cudaRegisterFatBinary(&wrapper_);
  __cudaRegisterFunction(handle_, &stub_, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterVar(handle_, &shadow_, nullptr, "variable", 0, 16, 0, 0);
  __cudaRegisterFatBinaryEnd(handle_);
}

Program::~Program() { __cudaUnregisterFatBinary(handle_); }

cudaError_t Program::launch(int argument) {
  void *arguments[] = {&argument};
  return cudaLaunchKernel(kernel(), dim3(2, 3, 4), dim3(32), arguments, 64, nullptr);
}
