// SPDX-License-Identifier: Apache-2.0
// Each row of api.def: it is exported, and a call with nothing but zeros does what NVIDIA's driver was seen to do.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/cuda_types.h"

#define CU(symbol, parameters, arguments, gate, base, since, page) extern "C" CUresult symbol parameters;
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page) extern "C" CUresult symbol parameters;
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page) extern "C" CUresult symbol parameters;
#define CU_ABSENT(symbol, parameters, base, since, page) extern "C" CUresult symbol parameters;
#include "driver/api.def"
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT

namespace {

template <class... Args>
CUresult callWithZeros(CUresult (*entry)(Args...)) {
  return entry(Args{}...);
}

struct Row {
  const char *symbol;
  void *address;
  std::function<CUresult()> zeros;
  bool absent;
  int since;
  const char *page;
};

const std::vector<Row> &rows() {
#define ROW(symbol, absent, since, page) \
  {#symbol, reinterpret_cast<void *>(&symbol), [] { return callWithZeros(&symbol); }, absent, since, #page},
#define CU(symbol, parameters, arguments, gate, base, since, page) ROW(symbol, false, since, page)
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page) ROW(symbol, false, since, page)
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page) ROW(symbol, false, since, page)
#define CU_ABSENT(symbol, parameters, base, since, page) ROW(symbol, true, since, page)
  static const std::vector<Row> all = {
#include "driver/api.def"
  };
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT
  return all;
}

const std::map<std::string, CUresult> &recorded() {
  static const std::map<std::string, CUresult> results = {
#define NULL_RESULT(symbol, result) {#symbol, result},
#include "tests/driver/null_results.def"
#undef NULL_RESULT
  };
  return results;
}

CUcontext makeContext() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  return context;
}

TEST(Entries, AllAreExportedByTheirNames) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const Row &row : rows()) EXPECT_EQ(dlsym(library, row.symbol), row.address) << row.symbol;
  EXPECT_GE(rows().size(), 637u);
  dlclose(library);
}

TEST(Entries, AbsentOnesSayNotSupported) {
  for (const Row &row : rows())
    if (row.absent) EXPECT_EQ(row.zeros(), CUDA_ERROR_NOT_SUPPORTED) << row.symbol;
}

TEST(Entries, ZerosGiveWhatAGpuGives) {
  CUcontext context = makeContext();
  // These change the thread's context or its captures, which the others need.
  const std::set<std::string> left = {"cuCtxPopCurrent", "cuCtxPopCurrent_v2",        "cuCtxSetCurrent",
                                      "cuCtxDetach",     "cuStreamBeginCapture_ptsz", "cuStreamBeginCapture_v2_ptsz"};
  int compared = 0;
  for (const Row &row : rows()) {
    if (row.absent || left.count(row.symbol)) continue;
    CUresult result = row.zeros();
    auto expected = recorded().find(row.symbol);
    if (expected == recorded().end()) continue;
    ++compared;
    EXPECT_EQ(result, expected->second) << row.symbol;
  }
  EXPECT_GT(compared, 300);
  EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
}

std::string documentation() {
  std::string text =
      "# Driver API\n\nEvery symbol of libcuda at the level of CUDA 13.0, made from `driver/api.def`, as the CPU "
      "device has\n"
      "it. *Yes*: it executes. *No*: it returns `CUDA_ERROR_NOT_SUPPORTED` and names itself in the log once. Since: "
      "the\n"
      "CUDA version from which `cuGetProcAddress` returns the symbol. Sections are the groups of NVIDIA's manual.\n";
  std::string page;
  for (const Row &row : rows()) {
    if (page != row.page) {
      page = row.page;
      text += "\n## " + page + "\n\n| symbol | since | state |\n|---|---|---|\n";
    }
    text += std::string("| `") + row.symbol + "` | " + std::to_string(row.since / 1000) + "." +
            std::to_string(row.since % 1000 / 10) + " | " + (row.absent ? "no" : "yes") + " |\n";
  }
  return text;
}

// Written anew by running this test with STRATA_TEST_UPDATE_DOCS=1.
TEST(Entries, ThePageIsFresh) {
  const char *path = STRATA_SOURCE_DIR "/docs/driver_api.md";
  if (std::getenv("STRATA_TEST_UPDATE_DOCS")) std::ofstream(path) << documentation();
  std::ifstream file(path);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(page == documentation(), true) << "docs/driver_api.md is old: run with STRATA_TEST_UPDATE_DOCS=1";
}

TEST(Entries, NeedAContext) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc_v2(&memory, 8), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

struct Selection {
  const char *base;
  int version;
  cuuint64_t flags;
  const char *symbol;  // null: version not sufficient
};

// As recorded from NVIDIA's driver.
const Selection kSelections[] = {
    {"cuMemAlloc", 1000, 0, nullptr},
    {"cuMemAlloc", 2000, 0, "cuMemAlloc"},
    {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"},
    {"cuMemAlloc", 13000, 2, "cuMemAlloc_v2"},
    {"cuCtxCreate", 11040, 0, "cuCtxCreate_v3"},
    {"cuCtxCreate", 12050, 0, "cuCtxCreate_v4"},
    {"cuMemcpyHtoD", 6050, 2, nullptr},
    {"cuMemcpyHtoD", 7000, 2, "cuMemcpyHtoD_v2_ptds"},
    {"cuStreamGetCtx", 9020, 1, "cuStreamGetCtx"},
    {"cuStreamGetCtx", 12050, 0, "cuStreamGetCtx_v2"},
    {"cuGetProcAddress", 11030, 0, "cuGetProcAddress"},
    {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"},
    {"cuGraphInstantiate", 13000, 0, "cuGraphInstantiate_v2"},
    {"cuLaunchKernel", 13000, 2, "cuLaunchKernel_ptsz"},
};

TEST(ProcAddress, SelectsByVersionAndStreamKind) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  for (const Selection &s : kSelections) {
    void *found = reinterpret_cast<void *>(1);
    CUdriverProcAddressQueryResult status{};
    EXPECT_EQ(cuGetProcAddress_v2(s.base, &found, s.version, s.flags, &status), CUDA_SUCCESS);
    void *expected = s.symbol ? dlsym(RTLD_DEFAULT, s.symbol) : nullptr;
    EXPECT_EQ(found, expected) << s.base << " " << s.version << " " << s.flags;
    EXPECT_EQ(status, s.symbol ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  }
}

TEST(ProcAddress, RefusesWhatItDoesNotKnow) {
  void *found = reinterpret_cast<void *>(1);
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc_v2", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &found, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &found, 13010, 0, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &found, 13000, 64, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2(nullptr, &found, 13000, 0, &status), CUDA_ERROR_INVALID_VALUE);
}

TEST(Errors, EveryResultHasNameAndText) {
  int known = 0;
  for (int i = 0; i < 1000; ++i) {
    const char *name = nullptr, *text = nullptr;
    CUresult result = cuGetErrorName(static_cast<CUresult>(i), &name);
    EXPECT_EQ(cuGetErrorString(static_cast<CUresult>(i), &text), result);
    EXPECT_EQ(result == CUDA_SUCCESS, name != nullptr);
    EXPECT_EQ(result == CUDA_SUCCESS, text != nullptr);
    known += result == CUDA_SUCCESS;
  }
  EXPECT_EQ(known, 101);
  const char *text = nullptr;
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "an illegal memory access was encountered");
}

}  // namespace
