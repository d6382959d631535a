// SPDX-License-Identifier: Apache-2.0
// PTX computes addresses as integers. Where an integer is known to be a pointer plus an offset, this says so
// with a GEP, so that SROA and alias analysis see local arrays, parameters and shared memory as what they are:
//
//   inttoptr(add(ptrtoint(%depot), 8))   →   getelementptr i8, %depot, 8
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

// Returns whether anything changed.
bool recoverPointers(llvm::Function &function);

}  // namespace strata::simt
