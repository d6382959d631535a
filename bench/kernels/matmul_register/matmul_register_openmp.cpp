// SPDX-License-Identifier: Apache-2.0
// 6×64 of C in registers, B's panel packed once per column block.
constexpr int kRows = 6, kColumns = 64;

template <int rows>
static void panel(const float *a, const float *packed, float *c, int n) {
  typedef float Vector __attribute__((vector_size(64)));
  Vector sum[rows][4] = {};
  for (int k = 0; k < n; ++k) {
    const Vector *b = reinterpret_cast<const Vector *>(packed + k * kColumns);
    for (int y = 0; y < rows; ++y) {
      Vector left = Vector{} + a[y * n + k];
      for (int v = 0; v < 4; ++v) sum[y][v] += left * b[v];
    }
  }
  for (int y = 0; y < rows; ++y)
    for (int v = 0; v < 4; ++v) __builtin_memcpy(c + y * n + 16 * v, &sum[y][v], 64);
}

void matmulRegisterOpenmp(const float *a, const float *b, float *c, int n) {
#pragma omp parallel for
  for (int column = 0; column < n; column += kColumns) {
    static thread_local float *packed = static_cast<float *>(__builtin_malloc(64 + 4ul * n * kColumns));
    float *aligned = reinterpret_cast<float *>((reinterpret_cast<unsigned long>(packed) + 63) & ~63ul);
    for (int k = 0; k < n; ++k) __builtin_memcpy(aligned + k * kColumns, b + (long)k * n + column, 4 * kColumns);
    int row = 0;
    for (; row + kRows <= n; row += kRows) panel<kRows>(a + (long)row * n, aligned, c + (long)row * n + column, n);
    for (; row < n; ++row) panel<1>(a + (long)row * n, aligned, c + (long)row * n + column, n);
  }
}
