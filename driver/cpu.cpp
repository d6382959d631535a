// SPDX-License-Identifier: Apache-2.0
#include "driver/cpu.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace strata::driver {
namespace {

std::string afterColon(const std::string &line) {
  auto at = line.find(": ");
  return at == line.npos ? std::string() : line.substr(at + 2);
}

Cpu read() {
  Cpu cpu;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && (cpu.kilohertz == 0 || cpu.model == "unknown CPU");) {
    if (line.starts_with("model name")) cpu.model = afterColon(line);
    else if (line.starts_with("cpu MHz")) cpu.kilohertz = static_cast<int>(std::atof(afterColon(line).c_str()) * 1000);
  }
  int fastest = 0;
  if (std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); file >> fastest)
    cpu.kilohertz = std::max(cpu.kilohertz, fastest);
  for (int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (long bytes = sysconf(level); bytes > 0 && cpu.lastLevelCache == 0)
      cpu.lastLevelCache = static_cast<int>(std::min<long>(bytes, 0x7fffffff));
  }
  std::ifstream("/etc/machine-id") >> cpu.machineId;
  return cpu;
}

}  // namespace

const Cpu &cpu() {
  static const auto &known = *new Cpu(read());
  return known;
}

}  // namespace strata::driver
