// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "toolkit/include/driver_types.h"

namespace strata::runtime {

// Address of `count` bytes at `offset` in a device variable. Errors: cudaErrorInvalidSymbol, and
// cudaErrorInvalidValue if they do not lie inside it.
cudaError_t symbolRange(const void *symbol, std::size_t offset, std::size_t count, void *&pointer);

}  // namespace strata::runtime
