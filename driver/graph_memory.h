// SPDX-License-Identifier: Apache-2.0
// Memory of a graph's allocation nodes. Its address is fixed, and it is there, as long as a graph, or an executable
// graph made from it, has the node; freeing it between launches only ends its use by the program.
#pragma once

#include <cstdint>

#include "driver/device.h"
#include "driver/handles.h"

namespace strata::driver {

class GraphMemory final : public Shared {
public:
  static CUresult create(Device &device, std::uint64_t bytes, Ref<GraphMemory> &memory);
  ~GraphMemory() override;
  std::uint64_t base() const { return base_; }

private:
  explicit GraphMemory(std::uint64_t base) : base_(base) {}
  std::uint64_t base_;
};

}  // namespace strata::driver
