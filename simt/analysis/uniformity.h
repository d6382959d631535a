// SPDX-License-Identifier: Apache-2.0
// The shape (simt/analysis/shape.h) of every value of a lane function and the divergence of its control
// flow, by one optimistic fixpoint: shapes only fall, undefined → affine → varying; a condition that falls
// to non-uniform makes its branch divergent, and phis at the joins it causes fall in turn.
//
// The CFG must be reducible, loops in simplified and LCSSA form, with br, ret and unreachable only.
// LLVM's UniformityAnalysis is not used: its sources of divergence come from a target (NVPTX's calls block
// indices divergent), and it knows uniform and divergent only.
#pragma once

#include <unordered_map>

#include "simt/analysis/block_order.h"
#include "simt/analysis/divergence.h"
#include "simt/analysis/shape.h"
#include "simt/analysis/thread_index.h"

namespace llvm {
class CastInst;
class Instruction;
class Value;
}  // namespace llvm

namespace strata::simt {

class Uniformity {
public:
  Uniformity(llvm::Function &function, const llvm::LoopInfo &loops, const BlockOrder &order,
             const ThreadIndex &threads);

  // Constants and kernel arguments are uniform; function arguments but the first are varying.
  Shape shape(const llvm::Value *value) const;
  const Divergence &control() const { return control_; }

  // Adds an instruction that is no phi, made after the analysis. Returns false if it is known. It is to be forgotten
  // before it is removed.
  bool evaluate(const llvm::Instruction &i);
  void forget(const llvm::Instruction &i) { shapes_.erase(&i); }

private:
  void solve();

  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  const ThreadIndex &threads_;
  Divergence control_;
  std::unordered_map<const llvm::Value *, Shape> shapes_;
};

// `cast` (sext or zext) extends values in [0, 2^(width-1) - span of the offsets): in lanes that are active,
// u + offset is that value however u itself wraps, so that sign-extending u is exact.
bool extendsSmallValue(const llvm::CastInst &cast, const Shape &shape);
// Whether u is sign-extended for `cast`, which extends a value of this shape.
bool extendsAsSigned(const llvm::CastInst &cast, const Shape &shape);

// Whether the constant of an `or` or `xor`, whose other operand has this shape, is below u's granule: u stays as it is.
bool goesIntoOffsets(const llvm::Instruction &i, const Shape &first);

// Metadata of an alloca that prepare has interleaved: its element size in bytes.
inline constexpr const char *kInterleavedMetadata = "strata.interleaved";

// An alloca of the lane function: bytes from one lane's copy to the next. Variables that prepare
// (simt/passes/lane/prepare.h) interleaved have their element size, others their padded size.
std::int64_t laneStride(const llvm::Instruction &alloca);

}  // namespace strata::simt
