// SPDX-License-Identifier: Apache-2.0
// The bodies of the entries that exist, one function each, named as the symbol. They run behind the checks of
// entry.cpp (the row's gate); no exception leaves them.
#pragma once

#include "driver/cuda_types.h"

namespace strata::driver::entry {

#define CU(symbol, parameters, arguments, gate, base, since, page) CUresult symbol parameters;
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page)
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page)
#define CU_ABSENT(symbol, parameters, base, since, page)
#include "driver/api.def"
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT

}  // namespace strata::driver::entry
