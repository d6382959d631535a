// SPDX-License-Identifier: Apache-2.0
// `.loc` directives as LLVM debug locations, so that a machine-code address leads to a CUDA source line.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include <map>
#include <vector>

#include "ptx/ptx.h"

namespace strata::simt {

// Stands for the file of code whose source is not known.
inline constexpr const char *kNoSourceFile = "<ptx>";

class DebugInfo {
public:
  DebugInfo(llvm::Module &ir, const ptx::Module &ptx);
  void attach(llvm::Function &function, const ptx::Function &source);
  // The location of Function::sourceLines[index]; -1: the function itself.
  llvm::DILocation *location(llvm::Function &function, const ptx::Function &source, std::int32_t index);
  void finish() { builder_.finalize(); }

private:
  llvm::DIFile *file(std::uint32_t index);
  llvm::DISubprogram *subprogram(const std::string &name, llvm::DIFile *file, unsigned line);

  const ptx::Module &ptx_;
  llvm::DIBuilder builder_;
  llvm::DISubroutineType *noType_;
  std::map<std::uint32_t, llvm::DIFile *> files_;
  std::map<std::pair<std::string, std::uint32_t>, llvm::DISubprogram *> inlined_;
  std::map<std::pair<const ptx::Function *, std::int32_t>, llvm::DILocation *> locations_;
};

}  // namespace strata::simt
