// SPDX-License-Identifier: Apache-2.0
// Environment variables, declared once in knobs.def. Each is read at its first use and then fixed,
// except that tests may call knobs::reload().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strata::knobs {

using text = std::string;
using number = std::int64_t;
using flag = bool;

struct Values {
#define KNOB(name, type, fallback, allowed, sentence) type name = fallback;
#include "base/knobs.def"
#undef KNOB
};

// The values in force. A variable whose value is not allowed has its default.
const Values &get();

// What is wrong with the environment: a sentence for each value that is not allowed and each STRATA_ name that nothing
// reads.
std::vector<std::string> complaints();

// Logs the complaints, once. Several libraries of a process read knobs, and one speaks for all: the CPU driver when it
// starts; the runtime where another driver serves it, or none; `strata`, where it starts no program.
void report();

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
