// SPDX-License-Identifier: Apache-2.0
// Conditions taken apart.
#pragma once

#include <llvm/ADT/PointerIntPair.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Value.h>

namespace strata::simt {

// That a value is true, or (with the bit) that it is false.
using Term = llvm::PointerIntPair<llvm::Value *, 1, bool>;

// Terms that say together what `term` says; none if it cannot be taken apart. One step:
//
//   %a and %b  →  %a, %b         !(%a or %b)  →  !%a, !%b         !(not %a)  →  %a
llvm::SmallVector<Term, 2> conjuncts(Term term);

}  // namespace strata::simt
