// SPDX-License-Identifier: Apache-2.0
#include "driver/machine_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace strata::driver {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public testing::Test {
protected:
  void SetUp() override {
    char folder[] = "/tmp/strata-cgroup-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    root_ = folder;
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const fs::path &file, const std::string &text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::uint64_t limit() const { return controlGroupLimit(root_); }

  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  fs::path root_;
};

TEST_F(ControlGroups, WithoutFilesThereIsNoLimit) {
  EXPECT_EQ(limit(), kNone);
  put("proc/self/cgroup", "nonsense\n0:\n");
  EXPECT_EQ(limit(), kNone);
}

TEST_F(ControlGroups, TheLeastLimitOnTheWayUpCounts) {
  put("proc/self/cgroup", "0::/user.slice/job.scope\n");
  put("sys/fs/cgroup/user.slice/memory.max", "3000000\n");
  put("sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n");
  put("sys/fs/cgroup/other/memory.max", "5\n");
  EXPECT_EQ(limit(), 3000000u);
  put("sys/fs/cgroup/user.slice/job.scope/memory.max", "2000000\n");
  EXPECT_EQ(limit(), 2000000u);
}

TEST_F(ControlGroups, Version1BesideVersion2) {
  put("proc/self/cgroup", "5:cpu,memory:/box\n4:cpuset:/\n0::/box\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4000000\n");
  EXPECT_EQ(limit(), 4000000u);
  put("sys/fs/cgroup/unified/box/memory.max", "1000000\n");
  EXPECT_EQ(limit(), 1000000u);
}

TEST_F(ControlGroups, AGroupOutsideTheContainersView) {
  put("proc/self/cgroup", "0::/../../elsewhere\n");
  put("sys/fs/cgroup/memory.max", "7000000\n");
  put("sys/fs/elsewhere/memory.max", "1\n");
  EXPECT_EQ(limit(), 7000000u);
}

TEST(MachineMemory, IsAtMostThePhysicalMemory) {
  EXPECT_GT(machineMemory(), 0u);
  EXPECT_LE(machineMemory(), controlGroupLimit());
}

}  // namespace
}  // namespace strata::driver
