// SPDX-License-Identifier: Apache-2.0
// The table that generated code calls through.
#pragma once

#include "simt/abi.h"

namespace strata::simt {

const Runtime &runtimeTable();

}  // namespace strata::simt
