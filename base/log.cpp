// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <array>
#include <mutex>
#include <set>
#include <string_view>

#include "base/held_signal.h"
#include "base/knobs.h"
#include "base/printable.h"

namespace strata::log {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"error", "warn", "info", "debug"};

Level threshold() {
  const std::string &wanted = knobs::get().STRATA_LOG;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (wanted == kNames[i]) return static_cast<Level>(i);
  return Level::warn;
}

}  // namespace

bool enabled(Level level) { return level <= threshold(); }

void write(Level level, const std::string &message) {
  if (!enabled(level)) return;
  std::string line =
      "[strata] " + std::string(kNames[static_cast<std::size_t>(level)]) + ": " + printable(message) + "\n";
  HeldSignal held(SIGPIPE);  // nobody may be reading
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void once(Level level, const std::string &key, const std::string &message) {
  static std::mutex mutex;
  static auto &seen = *new std::set<std::string>;  // threads may still write while the process ends
  {
    std::lock_guard lock(mutex);
    if (!seen.insert(key).second) return;
  }
  write(level, message);
}

}  // namespace strata::log
