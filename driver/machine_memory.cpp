// SPDX-License-Identifier: Apache-2.0
#include "driver/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace strata::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// "max", a missing file or one that cannot be read is no limit.
std::uint64_t readLimit(const fs::path &file) {
  std::uint64_t limit = 0;
  std::ifstream in(file);
  return in >> limit ? limit : kNoLimit;
}

// Of the group and all above it, up to the mount point. A group outside this container's view, "/../…", has none.
std::uint64_t leastLimit(const fs::path &mount, const std::string &group, const char *file) {
  std::uint64_t least = readLimit(mount / file);
  fs::path at = mount;
  for (const fs::path &part : fs::path(group).relative_path()) {
    if (part == "..") return least;
    at /= part;
    least = std::min(least, readLimit(at / file));
  }
  return least;
}

bool names(const std::string &controllers, const std::string &wanted) {
  return ("," + controllers + ",").find("," + wanted + ",") != std::string::npos;
}

}  // namespace

std::uint64_t controlGroupLimit(const fs::path &root) {
  std::uint64_t least = kNoLimit;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:group
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    const fs::path mounts = root / "sys/fs/cgroup";
    if (controllers.empty()) {  // version 2, which is mounted elsewhere beside version 1
      least = std::min(least, leastLimit(mounts, group, "memory.max"));
      least = std::min(least, leastLimit(mounts / "unified", group, "memory.max"));
    } else if (names(controllers, "memory")) {
      least = std::min(least, leastLimit(mounts / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::uint64_t machineMemory() {
  static const std::uint64_t bytes =
      std::min(static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
               controlGroupLimit());
  return bytes;
}

}  // namespace strata::driver
