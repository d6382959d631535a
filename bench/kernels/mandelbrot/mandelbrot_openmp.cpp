// SPDX-License-Identifier: Apache-2.0
// An expert's version: 16 (AVX-512) pixels a vector, two vectors in flight, until all have left.
#ifdef __AVX512F__
#include <immintrin.h>

struct Pixels {
  __m512 cx, x = _mm512_setzero_ps(), y = _mm512_setzero_ps();
  __m512i count = _mm512_setzero_si512();
  __mmask16 live = 0xFFFF;

  void step(__m512 cy) {
    __m512 xx = _mm512_mul_ps(x, x), yy = _mm512_mul_ps(y, y);
    live = _mm512_mask_cmp_ps_mask(live, _mm512_add_ps(xx, yy), _mm512_set1_ps(4), _CMP_LT_OQ);
    count = _mm512_mask_add_epi32(count, live, count, _mm512_set1_epi32(1));
    y = _mm512_fmadd_ps(_mm512_add_ps(x, x), y, cy);
    x = _mm512_add_ps(_mm512_sub_ps(xx, yy), cx);
  }
};

void mandelbrotOpenmp(int *out, int width, int iterations) {
  const __m512 ramp = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma omp parallel for schedule(dynamic, 8)
  for (int py = 0; py < width; ++py) {
    __m512 cy = _mm512_set1_ps(-1.5f + 3.0f * py / width);
    for (int px = 0; px < width; px += 32) {
      Pixels p[2];
      for (int h = 0; h < 2; ++h)
        p[h].cx = _mm512_add_ps(
            _mm512_set1_ps(-2.2f),
            _mm512_div_ps(_mm512_mul_ps(_mm512_set1_ps(3), _mm512_add_ps(ramp, _mm512_set1_ps(px + 16 * h))),
                          _mm512_set1_ps(width)));
      for (int i = 0; i < iterations && (p[0].live | p[1].live); ++i)
        for (auto &v : p) v.step(cy);
      for (int h = 0; h < 2; ++h) _mm512_storeu_si512(out + (long)py * width + px + 16 * h, p[h].count);
    }
  }
}
#else
void mandelbrotOpenmp(int *out, int width, int iterations) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int py = 0; py < width; ++py)
    for (int px = 0; px < width; ++px) {
      float cx = -2.2f + 3.0f * px / width, cy = -1.5f + 3.0f * py / width, x = 0, y = 0;
      int i = 0;
      for (; i < iterations && x * x + y * y < 4; ++i) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
      }
      out[(long)py * width + px] = i;
    }
}
#endif
