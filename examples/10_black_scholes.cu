// SPDX-License-Identifier: Apache-2.0
// European option prices by the Black-Scholes formula; put-call parity is checked as well.
#include "check.h"

__device__ float cumulativeNormal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }

__global__ void price(const float *spot, const float *strike, const float *years, float *call, float *put, float rate,
                      float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = spot[i], k = strike[i], t = years[i];
  float spread = volatility * sqrtf(t);
  float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread, d2 = d1 - spread;
  float discounted = k * expf(-rate * t);
  call[i] = s * cumulativeNormal(d1) - discounted * cumulativeNormal(d2);
  put[i] = discounted * cumulativeNormal(-d2) - s * cumulativeNormal(-d1);
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 400001);
  const float rate = 0.02f, volatility = 0.3f;
  auto spot = randomFloats(n, 5, 30), strike = randomFloats(n, 1, 100), years = randomFloats(n, 0.25f, 10);
  float *ds = toDevice(spot), *dk = toDevice(strike), *dt = toDevice(years);
  float *dcall = poisonedDevice<float>(n), *dput = poisonedDevice<float>(n);

  price<<<(n + 255) / 256, 256>>>(ds, dk, dt, dcall, dput, rate, volatility, n);
  CHECK(cudaGetLastError());

  auto call = toHost(dcall, n), put = toHost(dput, n);
  Verdict verdict;
  auto normal = [](double d) { return 0.5 * std::erfc(-d * std::sqrt(0.5)); };
  for (int i = 0; i < n; ++i) {
    double s = spot[i], k = strike[i], t = years[i], spread = volatility * std::sqrt(t);
    double d1 = (std::log(s / k) + (rate + 0.5 * volatility * volatility) * t) / spread, d2 = d1 - spread;
    double discounted = k * std::exp(-rate * t);
    double want = s * normal(d1) - discounted * normal(d2);
    verdict.expect(std::fabs(call[i] - want) <= 2e-5 * (s + k), "call", i, call[i], want);
    verdict.expect(std::fabs((call[i] - put[i]) - (s - discounted)) <= 2e-5 * (s + k), "parity", i, call[i] - put[i], s - discounted);
  }
  for (float *p : {ds, dk, dt, dcall, dput}) CHECK(cudaFree(p));
  return verdict.report("Black-Scholes");
}
