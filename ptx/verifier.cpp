// SPDX-License-Identifier: Apache-2.0
#include "ptx/ptx.h"

namespace strata::ptx {

Result<void> verify(const Module &) { return {}; }

}  // namespace strata::ptx
