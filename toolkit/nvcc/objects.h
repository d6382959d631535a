// SPDX-License-Identifier: Apache-2.0
// As much of ELF objects and ar archives as finding device code takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace strata::nvcc {

struct Object {
  std::string name;  // file, or archive(member)
  std::vector<std::uint8_t> bytes;
};

enum class Objects { relocatable, linkedToo };

// The objects in a file: itself, or the members of an archive. Files that are neither (linker scripts) give none;
// programs and shared libraries count with `linkedToo`. Errors (user): unreadable, truncated or malformed.
Result<std::vector<Object>> readObjects(const std::string &path, Objects which = Objects::relocatable);

// Contents of all sections with this name; empty if there is none.
Result<std::vector<std::uint8_t>> section(const Object &object, const std::string &name);

// Names of global symbols that start with `prefix`: defined or undefined ones.
Result<std::vector<std::string>> symbols(const Object &object, const std::string &prefix, bool defined);

}  // namespace strata::nvcc
