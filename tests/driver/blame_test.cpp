// SPDX-License-Identifier: Apache-2.0
// Errors that only the fake engine raises at will.
#include <string>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

using BlameTest = Driver;

TEST_F(BlameTest, ThePtxIsNotBlamedForTheEnvironment) {
  char log[400] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUmodule m = nullptr;
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
            cuModuleLoadDataEx(&m, ".version 8.0\n.target sm_90\n// no.such.cpu\n", 2, options, values));
  EXPECT_EQ(std::string(log).substr(0, 11), "STRATA_SIMD") << log;
}

}  // namespace
}  // namespace strata::test
