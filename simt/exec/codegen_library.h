// SPDX-License-Identifier: Apache-2.0
// libstrata_codegen.so, loaded at the first need and then kept: programs whose kernels are all in the cache
// never load LLVM.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "simt/simt.h"

namespace strata::simt {

struct CodegenLibrary {
  CodegenOpen open = nullptr;
  CodegenLink link = nullptr;
};

// Errors (resource): the library is not found, does not load, or is of another build than this engine.
Result<const CodegenLibrary *> codegenLibrary();

// "file:line" of an offset in a code section of an object, by the library's DWARF reader; empty if unknown.
std::string codegenSourceLine(std::span<const std::uint8_t> object, std::uint32_t section, std::uint64_t offset);

// Tests: use this library from now on instead of the one found by its place.
void setCodegenLibrary(const std::string &path);

}  // namespace strata::simt
