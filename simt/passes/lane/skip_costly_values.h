// SPDX-License-Identifier: Apache-2.0
// Branches around square roots, divisions and other slow operations that only a select needs. The compiler of the PTX
// makes selects of a short `if`, since on a GPU a lane that does not need a value computes it as quickly as one that
// does not; here the branch saves the whole warp the work where no lane is in it (linearize.h).
//
//   %c = fcmp olt %m, %q                 %c = fcmp olt %m, %q
//   %r = fsub %q, %m                     br %c, %costly, %skipped
//   %s = sqrt %r                    →    costly:  %r = fsub %q, %m;  %s = sqrt %r;  %t = fsub %a, %s
//   %t = fsub %a, %s                              %d = select %c, (fcmp olt %t, %n), false;  %o = select %d, %t, %n
//   %d = select %c, (fcmp olt %t, %n), false
//   %o = select %d, %t, %n               skipped: %p = phi [ %o, %costly ], [ %n, … ]
//
// What moves is what matters only where a condition holds (%r, %s, %t), and what is known where it does not hold (%d is
// false, %o is %n). Results are the same bit by bit. A condition that nearly always holds, as that a number is not
// zero, is not worth a branch.
//
// Before and after: a lane function as for analysis/uniformity.h.
#pragma once

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace strata::simt {

// A square root, a division or an approximate function: for 32 lanes these take tens of cycles.
bool isSlow(const llvm::Instruction &i);

// Returns whether it did anything.
bool skipCostlyValues(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
