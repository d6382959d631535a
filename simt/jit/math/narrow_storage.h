// SPDX-License-Identifier: Apache-2.0
// Values of half and bfloat that are only moved about (phis, selects, vector elements, memory) become
// integers of 16 bits. Before: expanded math. After: half and bfloat occur only between a bitcast and the
// instruction that computes with them. LLVM's x86 backend would move some of them through float, by library calls.
//
//   %s = select %c, <32 x bfloat> %a, %b   →   %s = select %c, <32 x i16> %a', %b'
#pragma once

#include "simt/target/cpu_features.h"

namespace llvm {
class Module;
}

namespace strata::simt {

void storeNarrowFloatsAsIntegers(llvm::Module &module, const CpuFeatures &cpu);

}  // namespace strata::simt
