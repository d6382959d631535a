// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/thread_index.h"

#include <algorithm>
#include <bit>

namespace strata::simt {
namespace {

LaneOffsets laneNumbers() {
  LaneOffsets offsets;
  for (unsigned l = 0; l < kLanes; ++l) offsets[l] = l;
  return offsets;
}

}  // namespace

ThreadIndex::ThreadIndex(const CompileOptions &options) {
  for (Shape &shape : shapes_) shape = Shape::varying();
  std::copy(options.blockDim, options.blockDim + 3, blockDim_);
  if (blockDim_[0] && blockDim_[1] && blockDim_[2]) deriveFromBlockDim();
  else std::fill(blockDim_, blockDim_ + 3, 0);
  warpsAreRows_ = exact() ? blockDim_[0] % kLanes == 0 : options.blockMultipleOf32;
  if (!exact() && warpsAreRows_) blockDimAlignment_ = 5;
  if (!warpsAreRows_) return;
  warpsAreFull_ = true;
  shapes_[0] = Shape::affine(laneNumbers(), 5);
  shapes_[1] = shapes_[2] = Shape::uniform();
}

// Every warp is looked at: a component is affine if all warps have the same differences between lanes.
void ThreadIndex::deriveFromBlockDim() {
  std::uint32_t threads = blockDim_[0] * blockDim_[1] * blockDim_[2];
  warpsAreFull_ = threads % kLanes == 0;
  blockDimAlignment_ = static_cast<unsigned>(std::countr_zero(blockDim_[0]));
  if ((blockDim_[0] == 8 || blockDim_[0] == 16) && threads > blockDim_[0]) segmentLanes_ = blockDim_[0];
  auto component = [&](unsigned dimension, std::uint32_t thread) -> std::int64_t {
    if (dimension == 0) return thread % blockDim_[0];
    if (dimension == 1) return thread / blockDim_[0] % blockDim_[1];
    return thread / (blockDim_[0] * blockDim_[1]);
  };
  for (unsigned dimension = 0; dimension < 3; ++dimension) {
    LaneOffsets offsets{};
    unsigned alignment = 64;
    bool affine = true;
    std::uint32_t first = std::min(threads, kLanes);
    for (std::uint32_t l = 0; l < first; ++l) offsets[l] = component(dimension, l) - component(dimension, 0);
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      std::int64_t u = component(dimension, thread / kLanes * kLanes);
      affine = affine && component(dimension, thread) == u + offsets[thread % kLanes];
      if (u) alignment = std::min(alignment, static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(u))));
    }
    if (affine) shapes_[dimension] = Shape::affine(offsets, alignment);
  }
}

}  // namespace strata::simt
