// SPDX-License-Identifier: Apache-2.0
static inline float normal(float d) {
  float k = 1 / (1 + 0.2316419f * abs(d));
  float poly = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.39894228f * exp(-0.5f * d * d) * poly;
  return d > 0 ? 1 - tail : tail;
}

export void black_scholes_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float rate = 0.02f, volatility = 0.3f;
  const uniform float *uniform spot = (const uniform float *uniform)arrays[0], *uniform strike = (const uniform float *uniform)arrays[1];
  const uniform float *uniform years = (const uniform float *uniform)arrays[2];
  uniform float *uniform call = (uniform float *uniform)arrays[3], *uniform put = (uniform float *uniform)arrays[4];
  foreach (i = begin ... end) {
    float s = spot[i], k = strike[i], t = years[i];
    float root = sqrt(t);
    float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = normal(d1), n2 = normal(d2), discounted = k * exp(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - s * (1 - n1);
  }
}
