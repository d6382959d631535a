// SPDX-License-Identifier: Apache-2.0
// The vectoriser: lane IR (simt/lane_ir.md) in, IR for a warp of 32 lanes out.
//
// Before: a module of lane IR with target triple and data layout set, verified and optimised as scalar
//   code (SROA, SSA, no loop or SLP vectorisation, no loop-carried vectors).
// After: the module defines `strata_entry`, of the type that `entryKind` says (simt/abi.h), and internal
//   vector functions it calls; the lane functions are gone. Values that differ between lanes are
//   <32 x T>, masks <32 x i1>. Pure maths intrinsics of lane IR are left for simt/jit/math: uniform uses under
//   their own name, varying ones as `<name>.v32` on <32 x T>. No other strata.* call remains.
//   The IR is in SSA form and lightly simplified; run the usual scalar clean-up after it.
// If `needsLaneMode`, the module is unchanged: compile the lane IR for lane mode.
#pragma once

#include <string>

#include "base/result.h"
#include "simt/abi.h"
#include "simt/simt.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace strata::simt {

// Metadata of stores that a warp comes to once: they lie in no loop of the kernel's.
inline constexpr const char *kOncePerWarp = "strata.once";

struct VectorizeOptions {
  CompileOptions compile;  // simd, blockDim and blockMultipleOf32 are used
};

struct VectorizeResult {
  EntryKind entryKind = EntryKind::block;
  bool takesTurns = false;  // the entry calls Runtime::turn
  bool needsLaneMode = false;
  std::string laneModeReason;  // one sentence with the source line, if needsLaneMode
  std::string report;          // simt/emit/report.h
};

// Errors: unsupported (a construct that lane IR allows and the vectoriser does not), internal.
Result<VectorizeResult> vectorize(llvm::Module &module, llvm::Function &kernel, const VectorizeOptions &options);

}  // namespace strata::simt
