// SPDX-License-Identifier: Apache-2.0
#include "base/knobs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/log.h"

namespace strata::knobs {
namespace {

constexpr std::string_view kPrefix = "STRATA_", kTests = "STRATA_TEST_",
                           kBuild = "STRATA_BUILD_DIR";  // the tests' own; ./x reads it

// Each parse returns whether the value is allowed; only then `out` is set.
bool parse(const char *value, std::string_view allowed, text &out) {
  for (std::string_view rest = allowed; !rest.empty();) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == value) break;
    if (bar == rest.npos) return false;
    rest.remove_prefix(bar + 1);
  }
  out = value;
  return true;
}

bool parse(const char *value, const char *allowed, number &out) {
  char *end = nullptr;
  errno = 0;
  const number parsed = std::strtoll(value, &end, 0);
  const bool isNumber = end != value && !*end && !errno;
  char *rest = nullptr;
  const number least = std::strtoll(allowed, &rest, 10);
  const char *most = rest + 2;  // behind the dots
  if (!isNumber || parsed < least || (*most && parsed > std::strtoll(most, nullptr, 10))) return false;
  out = parsed;
  return true;
}

[[maybe_unused]] bool parse(const char *value, const char *, flag &out) {
  if ((value[0] != '0' && value[0] != '1') || value[1]) return false;
  out = value[0] == '1';
  return true;
}

std::string show(const text &value) { return value; }
std::string show(number value) { return std::to_string(value); }

// Adds a complaint for each value that is not allowed, if `wrong` is given.
Values readEnvironment(std::vector<std::string> *wrong) {
  Values values;
#define KNOB(name, type, fallback, allowed, sentence)                                                            \
  if (const char *value = environment(#name); value && *value && !parse(value, allowed, values.name) && wrong) \
    wrong->push_back(std::string(#name "=") + value + " is not a valid value (" allowed "); the default is used");
#include "base/knobs.def"
#undef KNOB
  return values;
}

// Letters to change, put in or leave out to make one of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({diagonal + (a[i] != b[j]), row[j] + 1, row[j + 1] + 1}));
  }
  return row.back();
}

std::string complaintAbout(const std::string &name) {
  std::string upper = name;
  for (char &c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  int count = 0;
  const Row *table = rows(count);
  const Row *nearest = std::min_element(table, table + count, [&](const Row &a, const Row &b) {
    return distance(upper, a.name) < distance(upper, b.name);
  });
  const std::size_t tolerable = std::max<std::size_t>(2, (name.size() - kPrefix.size()) / 2);
  const std::string start = name + ": Strata reads no such variable; ";
  if (distance(upper, nearest->name) <= tolerable) return start + "did you mean " + nearest->name + "?";
  return start + "`strata knobs` lists those it reads";
}

// The names in the environment that look like ours and are none of knobs.def.
std::vector<std::string> unknownNames() {
  std::vector<std::string> unknown;
  int count = 0;
  const Row *table = rows(count);
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (!environment(name.c_str())) continue;  // nor here, then
    if (!name.starts_with(kPrefix) || name.starts_with(kTests) || name == kBuild) continue;
    if (std::none_of(table, table + count, [&](const Row &row) { return name == row.name; })) unknown.push_back(name);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

Values &storage() {
  static auto &values = *new Values(readEnvironment(nullptr));  // as all tables: never destroyed
  return values;
}

}  // namespace

const Values &get() { return storage(); }

void reload() { storage() = readEnvironment(nullptr); }

std::vector<std::string> complaints() {
  std::vector<std::string> found;
  readEnvironment(&found);
  for (const std::string &name : unknownNames()) found.push_back(complaintAbout(name));
  return found;
}

void report() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const std::string &complaint : complaints()) log::warn(complaint);
  });
}

const Row *rows(int &count) {
  static const auto &table = *new std::vector<Row>{
#define KNOB(name, type, fallback, allowed, sentence) {#name, #type, show(type(fallback)), sentence},
#include "base/knobs.def"
#undef KNOB
  };
  count = static_cast<int>(table.size());
  return table.data();
}

}  // namespace strata::knobs
