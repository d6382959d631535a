// SPDX-License-Identifier: Apache-2.0
// Gives code whose accesses depend on a uniform power of two (a butterfly's stride, a tree's step) versions for the
// smallest ones. For a constant the lanes' offsets are known, so that accesses are wide ones and shuffles
// (emit_patterns.cpp) and divisions are shifts; for multiples of 32 a butterfly's lanes are contiguous. For any other
// value the code stays as it was.
//
//   loop: %s = phi …                          loop:  %s = phi …
//         call @strata.barrier(0, 0)                 call @strata.barrier(0, 0)
//         %l = and %tid, (%s - 1)        →           br %s == 1, s1, (br %s == 2, s2, … (br %s == 16, s16, rest))
//         %i = sub (2 * %tid), %l             s1:    %l = 0;  %i = 2 * %tid;  … load %x[%i] … load %x[%i + 1] …;  br
//         end … load %x[%i] …                     … br loop                             s32:   … of %s a multiple of 32
//         …;  br end
//                                             rest:  … as before;  br end
//                                             end:   br loop
//
// Such a value is a loop's that is halved or doubled from round to round, a loop's counter by which something is
// shifted, or a parameter by which threads' numbers are masked or divided (for divisors: multiples of 32 only). Done
// where an access that would be a gather or scatter becomes a pattern, and the code in question is small and waits for
// nothing; for full warps only, if a pattern has gaps. Before and after: a function in the form of
// simt/passes/lane/prepare.h.
#pragma once

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
}

namespace strata::simt {

// Only kernels have such versions.
void specializeStrides(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
