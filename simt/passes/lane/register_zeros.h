// SPDX-License-Identifier: Apache-2.0
// PTX registers start as zeros in lane IR, so that reading one that was never written is defined. Most have one write,
// before every read in every path: their zero goes, and with it what makes mem2reg's time grow with the square of
// the code (it looks through the block for the first write of each register that has two).
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

// Right after lowering; the meaning stays.
void dropUnreadZeros(llvm::Function &f);

}  // namespace strata::simt
