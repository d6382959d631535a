// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "driver/work.h"

namespace strata::driver {

// Waits and writes in order. The addresses must stay valid until the operation is done.
OperationPtr makeMemoryOps(std::vector<CUstreamBatchMemOpParams> ops);

}  // namespace strata::driver
