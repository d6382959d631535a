// SPDX-License-Identifier: Apache-2.0
// A kernel launch in a stream: at its turn the kernel goes to the engine, whose workers end the turn.
#pragma once

#include "base/recycled.h"
#include "driver/work.h"

namespace strata::driver {

class LaunchOperation final : public Operation, public Recycled<LaunchOperation> {
public:
  explicit LaunchOperation(Launch &&launch) : launch_(std::move(launch)) {}
  bool start(Turn &turn) override;

private:
  Launch launch_;  // keeps the module alive until the kernel is done
};

}  // namespace strata::driver
