// SPDX-License-Identifier: Apache-2.0
// Exact functions in float.
#include "core.h"

namespace {
using Float = float;
using Bits = uint32_t;
const int kWidth = 32, kBias = 127, kDigits = 23;  // digits after the leading one
const Float kInfinite = kInfinityF, kNotANumber = kNanF;
inline Float pow2Of(int n) { return pow2f(n); }
inline int leadingZeros(Bits x) { return __builtin_clz(x); }
}  // namespace

#define NAME(name) __nv_##name##f
#define BUILTIN(name) __builtin_##name##f
#include "exact.inc"
