// SPDX-License-Identifier: Apache-2.0
// The C and C++ libraries' names in device code: every form resolves, on both passes, with `using namespace std` too.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <math.h>
#include <tuple>
#include <type_traits>
#include <utility>
using namespace std;

__global__ void forms(double *out, float f, double d, int n) {
  int i = 0, e = 0;
  float part = 0;
  double whole = 0;
  out[i++] = sin(f) - sinf(f);
  out[i++] = std::sin(f) - ::sin(f);
  out[i++] = std::exp(n) - exp(static_cast<double>(n));
  out[i++] = sqrt(n) - sqrt(static_cast<double>(n));
  out[i++] = pow(f, n) - pow(static_cast<double>(f), static_cast<double>(n));
  out[i++] = std::pow(d, 2) - d * d;
  out[i++] = abs(-f) - fabs(f);
  out[i++] = std::abs(-n) - abs(n);
  out[i++] = max(f, 1.0f) - std::max(f, 1.0f);
  out[i++] = min(n, 3) - std::min(n, 3);
  out[i++] = fmax(d, f) - std::fmax(d, static_cast<double>(f));
  out[i++] = isnan(f) + std::isnan(d) + isinf(d) + std::isinf(f) + !isfinite(f) + !std::isfinite(d) + signbit(f) + std::signbit(d);
  out[i++] = frexp(d, &e) * exp2(e) - d;
  out[i++] = modf(d, &whole) + whole - d;
  out[i++] = std::modf(f, &part) + part - f;
  out[i++] = static_cast<double>(lround(d) - llround(d)) + static_cast<double>(std::lrint(f) - lrintf(f));
  out[i++] = fma(f, f, f) - fmaf(f, f, f) + std::fma(d, d, d) - ::fma(d, d, d);
  out[i++] = atan2(d, 2) - atan2(d, 2.0);
  out[i++] = hypot(f, f) - hypotf(f, f) + cbrt(n) - std::cbrt(static_cast<double>(n));
  out[i++] = numeric_limits<float>::max() - 3.402823466e38f;
  array<int, 3> a = {1, 2, 3};
  out[i++] = get<1>(make_tuple(1, 2.0)) - a[1];
  pair<int, float> p(n, f);
  out[i++] = p.first - n + (is_same<float, decltype(sin(f))>::value ? 0 : 1) + (is_same<double, decltype(sin(n))>::value ? 0 : 1);
  out[i++] = real(complex<float>(f, 1)) - f;
  out[i++] = rsqrt(4.0f) - 0.5 + sinpi(1.0) + normcdf(0.0) - 0.5;
}

int main() {
  const int count = 24;
  double *out, host[count];
  cudaMalloc(&out, sizeof host);
  forms<<<1, 1>>>(out, 1.25f, 2.75, 5);
  cudaError_t error = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  if (error) return printf("%s\n", cudaGetErrorString(error)), 1;
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    if (!(fabs(host[i]) < 1e-6) && ++wrong) printf("form %d: %g\n", i, host[i]);
  printf("%s\n", wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
