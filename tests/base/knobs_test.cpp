// SPDX-License-Identifier: Apache-2.0
#include "base/knobs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace strata {

TEST(Knobs, ReadsTheEnvironment) {
  setenv("STRATA_WORKERS", "5", 1);
  knobs::reload();
  EXPECT_EQ(knobs::get().STRATA_WORKERS, 5);
  unsetenv("STRATA_WORKERS");
  knobs::reload();
  EXPECT_EQ(knobs::get().STRATA_WORKERS, 0);
}

// The complaints that name `name`; those of the environment that the tests themselves run in do not count.
std::vector<std::string> complaintsOf(const std::string &name) {
  std::vector<std::string> found;
  for (const std::string &complaint : knobs::complaints())
    if (complaint.starts_with(name + "=") || complaint.starts_with(name + ":")) found.push_back(complaint);
  return found;
}

TEST(Knobs, BadValueIsReportedAndTheDefaultUsed) {
  setenv("STRATA_WORKERS", "five", 1);
  knobs::reload();
  EXPECT_EQ(complaintsOf("STRATA_WORKERS"),
            std::vector<std::string>{"STRATA_WORKERS=five is not a valid value (0..4096); the default is used"});
  EXPECT_EQ(knobs::get().STRATA_WORKERS, 0);
  unsetenv("STRATA_WORKERS");
  knobs::reload();
}

TEST(Knobs, EachVariableIsChecked) {
  struct Case {
    const char *name, *bad;
  };
  for (const Case &c : {Case{"STRATA_WORKERS", "-1"},
                        {"STRATA_WORKERS", "100000"},
                        {"STRATA_CACHE_SIZE", "-5"},
                        {"STRATA_MEMORY", "99999999999999999999"},
                        {"STRATA_LOG", "xx"},
                        {"STRATA_SIMD", "avx"},
                        {"STRATA_MODE", "lan"},
                        {"STRATA_DEVICE", "cpu|nvidia"},
                        {"STRATA_DEVICE_COUNT", "-1"}}) {
    setenv(c.name, c.bad, 1);
    const std::vector<std::string> found = complaintsOf(c.name);
    ASSERT_EQ(found.size(), 1) << c.name;
    EXPECT_TRUE(found[0].starts_with(std::string(c.name) + "=" + c.bad + " is not")) << found[0];
    unsetenv(c.name);
  }
  setenv("STRATA_SIMD", "portable", 1);
  setenv("STRATA_CACHE_SIZE", "0", 1);
  knobs::reload();
  EXPECT_TRUE(complaintsOf("STRATA_SIMD").empty());
  EXPECT_TRUE(complaintsOf("STRATA_CACHE_SIZE").empty());
  EXPECT_EQ(knobs::get().STRATA_SIMD, "portable");
  EXPECT_EQ(knobs::get().STRATA_CACHE_SIZE, 0);
  unsetenv("STRATA_SIMD");
  unsetenv("STRATA_CACHE_SIZE");
  knobs::reload();
}

TEST(Knobs, UnknownNamesGetTheNearestKnown) {
  struct Case {
    const char *name, *nearest;
  };
  for (const Case &c : {Case{"STRATA_WORKER", "did you mean STRATA_WORKERS?"},
                        {"STRATA_THREADS_OF_THE_DEVICE", "`strata knobs` lists"},
                        {"STRATA_CACHEDIR", "did you mean STRATA_CACHE_DIR?"},
                        {"STRATA_CACHE_SZIE", "did you mean STRATA_CACHE_SIZE?"},
                        {"STRATA_SMID", "did you mean STRATA_SIMD?"},
                        {"STRATA_log", "did you mean STRATA_LOG?"}}) {
    setenv(c.name, "1", 1);
    const std::vector<std::string> found = complaintsOf(c.name);
    ASSERT_EQ(found.size(), 1) << c.name;
    EXPECT_NE(found[0].find(c.nearest), std::string::npos) << found[0];
    unsetenv(c.name);
  }
  for (const char *name : {"STRATA_TEST_SOMETHING", "STRATA_BUILD_DIR", "STRAT_WORKERS", "MY_STRATA_WORKERS"}) {
    setenv(name, "1", 1);
    EXPECT_TRUE(complaintsOf(name).empty()) << name;
    unsetenv(name);
  }
}

}  // namespace strata
