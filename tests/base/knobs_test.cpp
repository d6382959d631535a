// SPDX-License-Identifier: Apache-2.0
#include "base/knobs.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace strata {

TEST(Knobs, ReadsTheEnvironment) {
  setenv("STRATA_WORKERS", "5", 1);
  knobs::reload();
  EXPECT_EQ(knobs::get().STRATA_WORKERS, 5);
  unsetenv("STRATA_WORKERS");
  knobs::reload();
  EXPECT_EQ(knobs::get().STRATA_WORKERS, 0);
}

TEST(Knobs, BadValueIsReportedAndTheDefaultUsed) {
  setenv("STRATA_WORKERS", "five", 1);
  testing::internal::CaptureStderr();
  knobs::reload();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("STRATA_WORKERS=five"), std::string::npos);
  EXPECT_EQ(knobs::get().STRATA_WORKERS, 0);
  unsetenv("STRATA_WORKERS");
  knobs::reload();
}

TEST(Knobs, EachVariableIsChecked) {
  struct Case { const char *name, *bad; };
  for (const Case &c : {Case{"STRATA_WORKERS", "-1"}, {"STRATA_WORKERS", "100000"}, {"STRATA_CACHE_SIZE", "-5"}, {"STRATA_MEMORY", "99999999999999999999"},
                        {"STRATA_LOG", "xx"}, {"STRATA_SIMD", "avx"}, {"STRATA_MODE", "lan"}, {"STRATA_DEVICE", "cpu|nvidia"}, {"STRATA_DEVICE_COUNT", "-1"}}) {
    setenv(c.name, c.bad, 1);
    testing::internal::CaptureStderr();
    knobs::reload();
    EXPECT_NE(testing::internal::GetCapturedStderr().find(std::string(c.name) + "=" + c.bad + " is not"), std::string::npos) << c.name;
    unsetenv(c.name);
  }
  setenv("STRATA_SIMD", "portable", 1);
  setenv("STRATA_CACHE_SIZE", "0", 1);
  testing::internal::CaptureStderr();
  knobs::reload();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(knobs::get().STRATA_SIMD, "portable");
  EXPECT_EQ(knobs::get().STRATA_CACHE_SIZE, 0);
  unsetenv("STRATA_SIMD");
  unsetenv("STRATA_CACHE_SIZE");
  knobs::reload();
}

}  // namespace strata
