/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers as float2 and double2. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_
#pragma GCC system_header

#include <math.h>

#include "vector_types.h"

#if defined(__CUDA__)
#define __STRATA_COMPLEX static __inline__ __host__ __device__
#else
#define __STRATA_COMPLEX static __inline__
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* One precision's functions. */
#define __STRATA_COMPLEX_BASIC(Complex, Real, make, real, imag, conj, add, sub, mul)             \
  __STRATA_COMPLEX Complex make(Real r, Real i) {                                                 \
    Complex result;                                                                               \
    result.x = r;                                                                                 \
    result.y = i;                                                                                 \
    return result;                                                                                \
  }                                                                                               \
  __STRATA_COMPLEX Real real(Complex x) { return x.x; }                                           \
  __STRATA_COMPLEX Real imag(Complex x) { return x.y; }                                           \
  __STRATA_COMPLEX Complex conj(Complex x) { return make(x.x, -x.y); }                            \
  __STRATA_COMPLEX Complex add(Complex x, Complex y) { return make(x.x + y.x, x.y + y.y); }       \
  __STRATA_COMPLEX Complex sub(Complex x, Complex y) { return make(x.x - y.x, x.y - y.y); }       \
  __STRATA_COMPLEX Complex mul(Complex x, Complex y) {                                            \
    return make(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);                                    \
  }
__STRATA_COMPLEX_BASIC(cuFloatComplex, float, make_cuFloatComplex, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf,
                       cuCmulf)
__STRATA_COMPLEX_BASIC(cuDoubleComplex, double, make_cuDoubleComplex, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul)

/* Both operands are scaled by the divisor's size, so that neither its square overflows nor vanishes; likewise the
   absolute value. */
#define __STRATA_COMPLEX_SCALED(Complex, Real, make, div, abs, magnitude, root, largest)          \
  __STRATA_COMPLEX Complex div(Complex x, Complex y) {                                            \
    Real size = magnitude(y.x) + magnitude(y.y), scale = 1 / size;                                \
    Real a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale;                      \
    scale = 1 / (c * c + d * d);                                                                  \
    return make((a * c + b * d) * scale, (b * c - a * d) * scale);                                \
  }                                                                                               \
  __STRATA_COMPLEX Real abs(Complex x) {                                                          \
    Real a = magnitude(x.x), b = magnitude(x.y);                                                  \
    Real larger = a > b ? a : b, smaller = a > b ? b : a;                                         \
    Real ratio = smaller / larger, result = larger * root(1 + ratio * ratio);                     \
    /* 0, infinity and NaN */                                                                     \
    return larger == 0 || larger > largest || smaller > largest || a != a || b != b ? a + b : result; \
  }
__STRATA_COMPLEX_SCALED(cuFloatComplex, float, make_cuFloatComplex, cuCdivf, cuCabsf, fabsf, sqrtf, 3.402823466e+38f)
__STRATA_COMPLEX_SCALED(cuDoubleComplex, double, make_cuDoubleComplex, cuCdiv, cuCabs, fabs, sqrt,
                        1.7976931348623157e+308)
#undef __STRATA_COMPLEX_SCALED

__STRATA_COMPLEX cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
__STRATA_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c) { return make_cuDoubleComplex(c.x, c.y); }
__STRATA_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c) {
  return make_cuFloatComplex((float)c.x, (float)c.y);
}
__STRATA_COMPLEX cuComplex cuCfmaf(cuComplex x, cuComplex y, cuComplex d) {
  return make_cuComplex(x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x);
}
__STRATA_COMPLEX cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex d) {
  return make_cuDoubleComplex(x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x);
}

#undef __STRATA_COMPLEX_BASIC
#undef __STRATA_COMPLEX

#endif
