// SPDX-License-Identifier: Apache-2.0
// Loads the x86-64 ELF relocatable objects that codegen makes: one kernel, entry symbol "strata_entry". The
// loader is small and strict, since objects come from cache files: it knows the sections, symbols and
// relocations that codegen emits and refuses everything else. Code is never writable and executable at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace strata::simt {

class CodeImage {
public:
  // Errors (internal): not such an object, or one that is damaged; (resource): no memory.
  static Result<std::shared_ptr<const CodeImage>> load(std::vector<std::uint8_t> object);
  ~CodeImage();
  CodeImage(const CodeImage &) = delete;
  CodeImage &operator=(const CodeImage &) = delete;

  void *entry() const { return entry_; }
  // Whether `pc` lies in this image's code.
  bool contains(std::uintptr_t pc) const { return pc >= codeBegin_ && pc < codeEnd_; }
  // "file:line" of the instruction at `pc`, or empty. Loads the codegen library at need: for faults only.
  std::string sourceLine(std::uintptr_t pc) const;

  // Kept by the engine: what a block cost when the code ran last, in time-stamp cycles; 0: it has not run.
  mutable std::atomic<std::uint32_t> unitCycles{0};

private:
  CodeImage() = default;
  friend class ImageLoader;

  // Where a code section of the object lies in memory, to lead from a pc back to the object.
  struct CodeSection {
    std::uint32_t index;
    std::uintptr_t begin, end;
  };

  std::vector<std::uint8_t> object_;
  std::vector<CodeSection> codeSections_;
  void *mapping_ = nullptr;
  std::size_t mappingBytes_ = 0;
  std::uintptr_t codeBegin_ = 0, codeEnd_ = 0;
  void *entry_ = nullptr;
};

}  // namespace strata::simt
