// SPDX-License-Identifier: Apache-2.0
// The bodies of the entries that exist, one function each, named as the symbol. They run behind the checks of
// entry.cpp (the row's gate); no exception leaves them.
#pragma once

#include <cstddef>

#include "driver/cuda_types.h"

namespace strata::driver {

// A list of options, attributes or locations that a call may bring: more entries than this are a number gone wrong,
// and are not looked at.
inline constexpr std::size_t kMostListed = 1024;
inline bool validList(const void *list, std::size_t count) { return count == 0 || (list && count <= kMostListed); }

}  // namespace strata::driver

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
