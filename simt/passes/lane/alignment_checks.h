// SPDX-License-Identifier: Apache-2.0
// Makes `strata.check.aligned` cheap. Before: lane IR in SSA form. After: checks of what is proven are gone;
// a check of base + multiple of the width is one of base; a check that a dominating one covers is gone;
// a check that each iteration of a loop repeats stands before the loop.
//
//   loop { check(%p + 4*%i, 4); load }   →   check(%p, 4); loop { load }
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

void simplifyAlignmentChecks(llvm::Function &function);

}  // namespace strata::simt
