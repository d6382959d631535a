// SPDX-License-Identifier: Apache-2.0
#include "base/knobs.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace strata::knobs {
namespace {

// Written straight to stderr: the log's own level is a knob, so the log cannot be used here.
void complain(const char *name, const char *value, const char *allowed) {
  std::fprintf(stderr, "[strata] warn: %s=%s is not a valid value (%s); the default is used\n", name, value, allowed);
}

void parse(const char *name, const char *value, std::string_view allowed, text &out) {
  for (std::string_view rest = allowed; !rest.empty();) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == value) break;
    if (bar == rest.npos) return complain(name, value, allowed.data());
    rest.remove_prefix(bar + 1);
  }
  out = value;
}

void parse(const char *name, const char *value, const char *allowed, number &out) {
  char *end = nullptr;
  errno = 0;
  const number parsed = std::strtoll(value, &end, 0);
  const bool isNumber = end != value && !*end && !errno;
  char *rest = nullptr;
  const number least = std::strtoll(allowed, &rest, 10);
  const char *most = rest + 2;  // behind the dots
  if (!isNumber || parsed < least || (*most && parsed > std::strtoll(most, nullptr, 10))) return complain(name, value, allowed);
  out = parsed;
}

[[maybe_unused]] void parse(const char *name, const char *value, const char *, flag &out) {
  if ((value[0] == '0' || value[0] == '1') && !value[1]) out = value[0] == '1';
  else complain(name, value, "0|1");
}

std::string show(const text &value) { return value; }
std::string show(number value) { return std::to_string(value); }

Values readEnvironment() {
  Values values;
#define KNOB(name, type, fallback, allowed, sentence) \
  if (const char *value = std::getenv(#name); value && *value) parse(#name, value, allowed, values.name);
#include "base/knobs.def"
#undef KNOB
  return values;
}

Values &storage() {
  static Values values = readEnvironment();
  return values;
}

}  // namespace

const Values &get() { return storage(); }
void reload() { storage() = readEnvironment(); }

const Row *rows(int &count) {
  static const Row table[] = {
#define KNOB(name, type, fallback, allowed, sentence) {#name, #type, show(type(fallback)), sentence},
#include "base/knobs.def"
#undef KNOB
  };
  count = static_cast<int>(std::size(table));
  return table;
}

}  // namespace strata::knobs
