// SPDX-License-Identifier: Apache-2.0
// The vectoriser: each lane function that the kernel reaches becomes a function for a warp of 32 lanes.
//
// Before: lane IR (simt/lane_ir.md) in the form of simt/passes/lane/prepare.h.
// After: internal vector functions; the lane functions are gone. Values that differ between lanes are
//   <32 x T>, masks <32 x i1>. Pure maths intrinsics of lane IR are left for simt/jit/math: uniform uses under
//   their own name, varying ones as `<name>.v32` on <32 x T>. Else only strata.w.* calls and the markers of barriers
//   and of the thread index (split_at_barriers.h, kernel_entry.h) remain. Values live in stack slots (promoteSlots).
#pragma once

#include "base/result.h"
#include "simt/analysis/thread_index.h"
#include "simt/emit/report.h"
#include "simt/simt.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace strata::simt {

// Metadata of stores that a warp comes to once: they lie in no loop of the kernel's.
inline constexpr const char *kOncePerWarp = "strata.once";

// How the kernel and the functions that it may call wait for other warps.
enum class Waits { no, blockBarriers, anyhow };

struct WarpCode {
  llvm::Function *body = nullptr;  // the kernel's vector function
  Waits waits = Waits::no;         // blockBarriers: to be split at them (split_at_barriers.h)
  bool sideBySide = false;         // kSideBySide
  bool onlyTurns = false;          // no barrier is among them: warps only let others have their turn
};

// Errors: unsupported (a construct that lane IR allows and the vectoriser does not).
Result<WarpCode> vectorize(llvm::Module &module, llvm::Function &kernel, const ThreadIndex &threads, Simd simd,
                           Report &report);

}  // namespace strata::simt
