// SPDX-License-Identifier: Apache-2.0
// Stores past the caches, for OpenMP twins that write what nobody reads soon.
#pragma once

#include <immintrin.h>

namespace bench {

#ifdef __AVX512F__
using Floats = __m512;
inline Floats loadFloats(const float *p) { return _mm512_loadu_ps(p); }
inline void streamFloats(float *p, Floats v) { _mm512_stream_ps(p, v); }
inline Floats allFloats(float v) { return _mm512_set1_ps(v); }
#else
using Floats = __m256;
inline Floats loadFloats(const float *p) { return _mm256_loadu_ps(p); }
inline void streamFloats(float *p, Floats v) { _mm256_stream_ps(p, v); }
inline Floats allFloats(float v) { return _mm256_set1_ps(v); }
#endif
inline constexpr int kFloats = sizeof(Floats) / sizeof(float);

}  // namespace bench
