// SPDX-License-Identifier: Apache-2.0
// Works on one part of a warp after the other where the warp's live values are more than the registers.
//
//   a.0; a.1; b.0; b.1; c.0; c.1    →    a.0; b.0; c.0; a.1; b.1; c.1
//   for (…) { a.0; a.1; }           →    for (…) a.0; for (…) a.1;
//
// Before: a function whose values are split (split_lanes.h). After: the same operations; those that write memory keep
// their places, but for local memory whose address goes nowhere (a warp's frame between barriers), and a loop becomes
// several only if it writes none and its branch is the same for all parts. What all parts load, each loads for itself
// where it would fill the registers meanwhile.
#pragma once

#include <llvm/ADT/DenseMap.h>

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace strata::simt {

using PartOf = llvm::DenseMap<llvm::Instruction *, unsigned>;  // without an entry: belongs to no part

// `bits`: of a register; `registers`: how many there are.
void orderParts(llvm::Function &function, PartOf partOf, unsigned bits, unsigned registers);

}  // namespace strata::simt
