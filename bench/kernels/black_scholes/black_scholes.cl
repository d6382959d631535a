// SPDX-License-Identifier: Apache-2.0
float normal(float d) {
  float k = 1 / (1 + 0.2316419f * fabs(d));
  float poly = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.39894228f * native_exp(-0.5f * d * d) * poly;
  return d > 0 ? 1 - tail : tail;
}

kernel void black_scholes(global const float *spot, global const float *strike, global const float *years, global float *call, global float *put, float rate, float volatility, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float s = spot[i], k = strike[i], t = years[i], root = sqrt(t);
  float d1 = (native_log(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root), d2 = d1 - volatility * root;
  float n1 = normal(d1), n2 = normal(d2), discounted = k * native_exp(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}
