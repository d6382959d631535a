// SPDX-License-Identifier: Apache-2.0
// The log: one line per event on stderr, "[strata] level: message". Level: STRATA_LOG. Thread-safe:
// each line is one write.
#pragma once

#include <string>

namespace strata::log {

enum class Level { error, warn, info, debug };

bool enabled(Level level);
void write(Level level, const std::string &message);

inline void error(const std::string &message) { write(Level::error, message); }
inline void warn(const std::string &message) { write(Level::warn, message); }
inline void info(const std::string &message) { write(Level::info, message); }

// Logs `message` the first time it is called with `key` in this process.
void once(Level level, const std::string &key, const std::string &message);

}  // namespace strata::log
