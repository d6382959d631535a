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

}  // namespace strata
