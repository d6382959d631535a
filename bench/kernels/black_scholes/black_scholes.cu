// SPDX-License-Identifier: Apache-2.0
// European options; the normal distribution by the polynomial of Abramowitz and Stegun, 26.2.17.
#include "../case.h"

__device__ float normal(float d) {
  float k = 1 / (1 + 0.2316419f * fabsf(d));
  float poly = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.39894228f * __expf(-0.5f * d * d) * poly;
  return d > 0 ? 1 - tail : tail;
}

__global__ void blackScholes(const float *spot, const float *strike, const float *years, float *call, float *put, float rate, float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = spot[i], k = strike[i], t = years[i], root = sqrtf(t);
  float d1 = (__logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root), d2 = d1 - volatility * root;
  float n1 = normal(d1), n2 = normal(d2), discounted = k * __expf(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}

void blackScholesOpenmp(const float *spot, const float *strike, const float *years, float *call, float *put, float rate, float volatility, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1 << 23, 1 << 15);
  const float rate = 0.02f, volatility = 0.3f;
  bench::Case c;
  c.name = "black_scholes";
  c.bytes = 20.0 * n;
  c.flops = 80.0 * n;
  c.arrays = {bench::Array::of(bench::randomFloats(n, 5, 30)), bench::Array::of(bench::randomFloats(n, 1, 100)), bench::Array::of(bench::randomFloats(n, 0.25f, 10)),
              bench::Array::poisoned<float>(n), bench::Array::poisoned<float>(n)};
  c.cuda = [=](auto &p) {
    blackScholes<<<(n + 255) / 256, 256>>>((float *)p[0], (float *)p[1], (float *)p[2], (float *)p[3], (float *)p[4], rate, volatility, n);
  };
  c.openmp = [=](auto &p) { blackScholesOpenmp((float *)p[0], (float *)p[1], (float *)p[2], (float *)p[3], (float *)p[4], rate, volatility, n); };
  c.ispc = {n, 1 << 16};
  c.opencl = {{{"black_scholes", {n}, {256}}}, bench::OpenCl::pack(rate, volatility, n)};
  c.tolerance = 1e-3;
  return c;
});
