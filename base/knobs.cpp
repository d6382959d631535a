// SPDX-License-Identifier: Apache-2.0
#include "base/knobs.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace strata::knobs {
namespace {

// Written straight to stderr: the log's own level is a knob, so the log cannot be used here.
void complain(const char *name, const char *value) {
  std::fprintf(stderr, "[strata] warn: %s=%s is not a valid value; the default is used\n", name, value);
}

void parse(const char *, const char *value, text &out) { out = value; }

void parse(const char *name, const char *value, number &out) {
  char *end = nullptr;
  number parsed = std::strtoll(value, &end, 0);
  if (end == value || *end) return complain(name, value);
  out = parsed;
}

[[maybe_unused]] void parse(const char *name, const char *value, flag &out) {
  if ((value[0] == '0' || value[0] == '1') && !value[1]) out = value[0] == '1';
  else complain(name, value);
}

std::string show(const text &value) { return value; }
std::string show(number value) { return std::to_string(value); }

Values readEnvironment() {
  Values values;
#define KNOB(name, type, fallback, sentence) \
  if (const char *value = std::getenv(#name); value && *value) parse(#name, value, values.name);
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
#define KNOB(name, type, fallback, sentence) {#name, #type, show(type(fallback)), sentence},
#include "base/knobs.def"
#undef KNOB
  };
  count = static_cast<int>(std::size(table));
  return table;
}

}  // namespace strata::knobs
