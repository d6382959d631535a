// SPDX-License-Identifier: Apache-2.0
// What the register allocator spills and reloads, by source line, for `strata inspect --stage why`.
#pragma once

#include <memory>
#include <string>

namespace llvm {
struct DiagnosticHandler;
}

namespace strata::simt {

// Takes the register allocator's remarks about the code that is made while it is the context's handler. Appends to
// `text` one line per place, each spill once: at the innermost loop whose line is known, else in the loop over warps.
std::unique_ptr<llvm::DiagnosticHandler> makeSpillReport(std::string &text);

}  // namespace strata::simt
