// SPDX-License-Identifier: Apache-2.0
// Exact functions in double.
#include "core.h"

namespace {
using Float = double;
using Bits = uint64_t;
const int kWidth = 64, kBias = 1023, kDigits = 52;  // digits after the leading one
const Float kInfinite = kInfinity, kNotANumber = kNan;
inline Float pow2Of(int n) { return pow2(n); }
inline int leadingZeros(Bits x) { return __builtin_clzll(x); }
}  // namespace

#define NAME(name) __nv_##name
#define BUILTIN(name) __builtin_##name
#include "exact.inc"
