// SPDX-License-Identifier: Apache-2.0
// Environment variables, declared once in knobs.def. Each is read at its first use and then fixed,
// except that tests may call knobs::reload().
#pragma once

#include <cstdint>
#include <string>

namespace strata::knobs {

using text = std::string;
using number = std::int64_t;
using flag = bool;


struct Values {
#define KNOB(name, type, fallback, allowed, sentence) type name = fallback;
#include "base/knobs.def"
#undef KNOB
};

// The values in force. A variable whose value is not allowed is reported and its default is used.
const Values &get();

// Reads the environment again. For tests; not safe while other threads call get().
void reload();

struct Row {
  const char *name;
  const char *type;
  std::string fallback;
  const char *sentence;
};
// All rows of knobs.def, for `strata knobs` and the docs page.
const Row *rows(int &count);

}  // namespace strata::knobs
