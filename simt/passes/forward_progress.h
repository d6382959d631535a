// SPDX-License-Identifier: Apache-2.0
// Finds code that cannot finish while the lanes of a warp run in lock step: a loop whose exit waits for
// what another lane of the same warp does after leaving the loop, as in
//
//   while (atomicCAS(lock, 0, 1) != 0) {}      // lanes that lose spin here
//   …; atomicExch(lock, 0);                    // the winner would come here only after the loop
//
// Such kernels run in lane mode. Waiting for other warps or blocks is no problem.
#pragma once

#include <optional>
#include <string>

namespace llvm {
class Function;
}

namespace strata::simt {

// The reason, with its source line, why `kernel` or a function it reaches needs lane mode. Works on lane
// IR as lowered; changes nothing.
std::optional<std::string> needsLaneMode(llvm::Function &kernel);

}  // namespace strata::simt
