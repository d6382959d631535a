// SPDX-License-Identifier: Apache-2.0
// What is known at compile time about tid.x/.y/.z in a warp, from the block shape the code may assume.
//
//   blockDim.x a multiple of 32:  tid.x = u + lane (u a multiple of 32), tid.y and tid.z uniform
//   blockDim = (16, 16, 1):       tid.x = 0…15, 0…15;  tid.y = u + {0 ×16, 1 ×16}, u even
//   nothing known:                varying (one division per warp, at the entry)
#pragma once

#include "simt/analysis/shape.h"
#include "simt/simt.h"

namespace strata::simt {

class ThreadIndex {
public:
  explicit ThreadIndex(const CompileOptions &options);

  const Shape &shape(unsigned dimension) const { return shapes_[dimension]; }
  bool exact() const { return blockDim_[0] != 0; }  // blockDim(d) are the block's extents
  std::uint32_t blockDim(unsigned dimension) const { return blockDim_[dimension]; }
  // blockDim.x is a multiple of 2^this.
  unsigned blockDimAlignment() const { return blockDimAlignment_; }
  bool warpsAreRows() const { return warpsAreRows_; }  // blockDim.x is a multiple of 32
  // Every warp has all its 32 lanes.
  bool warpsAreFull() const { return warpsAreFull_; }
  // Threads in a row, if a warp covers a few rows of as many (shape.h, segmented); else 0.
  unsigned segmentLanes() const { return segmentLanes_; }

private:
  void deriveFromBlockDim();

  std::uint32_t blockDim_[3] = {0, 0, 0};
  unsigned blockDimAlignment_ = 0, segmentLanes_ = 0;
  bool warpsAreRows_ = false, warpsAreFull_ = false;
  Shape shapes_[3];
};

}  // namespace strata::simt
