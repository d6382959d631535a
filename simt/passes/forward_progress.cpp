// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/forward_progress.h"

#include <llvm/IR/Function.h>

namespace strata::simt {

std::optional<std::string> needsLaneMode(llvm::Function &kernel) { return std::nullopt; }

}  // namespace strata::simt
