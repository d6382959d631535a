// SPDX-License-Identifier: Apache-2.0
// Built with -ffast-math, so that expf, logf and sqrtf become libmvec's and the hardware's vectors.
#include <cmath>

static inline float normal(float d) {
  float k = 1 / (1 + 0.2316419f * std::fabs(d));
  float poly = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.39894228f * expf(-0.5f * d * d) * poly;
  return d > 0 ? 1 - tail : tail;
}

void blackScholesOpenmp(const float *spot, const float *strike, const float *years, float *call, float *put, float rate,
                        float volatility, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) {
    float s = spot[i], k = strike[i], t = years[i], root = sqrtf(t);
    float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root),
          d2 = d1 - volatility * root;
    float n1 = normal(d1), n2 = normal(d2), discounted = k * expf(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - s * (1 - n1);
  }
}
