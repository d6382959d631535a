// SPDX-License-Identifier: Apache-2.0
// Work in stream order: what a stream's task, or a graph's node, does when its turn comes.
#pragma once

#include <cstdint>
#include <memory>

#include "driver/cuda_types.h"

namespace strata::driver {

class Context;

// The right to run one operation. complete() ends it: once, from any thread, and the turn must not be touched
// afterwards.
class Turn {
public:
  Turn(Context &context, std::uint64_t group) : context(context), group(group) {}
  virtual void complete() = 0;

  Context &context;
  const std::uint64_t group;  // the stream's number: names the work to the engine (simt/simt.h, waitFor)

protected:
  ~Turn() = default;
};

class Operation {
public:
  virtual ~Operation() = default;
  // Begins the work; the scheduler's lock is not held. Returns true if it is finished on return; else
  // turn.complete() follows. Faults poison turn.context.
  virtual bool start(Turn &turn) = 0;
  // Called instead of start when the context is poisoned: only what must happen all the same.
  virtual void skip(CUresult error) {}
};

using OperationPtr = std::unique_ptr<Operation>;

}  // namespace strata::driver
