// SPDX-License-Identifier: Apache-2.0
// nvcuda::wmma in its types, shapes and layouts, against a plain product of small whole numbers.
#include <mma.h>

#include <random>

#include "check.h"

namespace wmma = nvcuda::wmma;

template <typename T>
using Memory = typename std::conditional<std::is_same<T, wmma::precision::tf32>::value, float, T>::type;

// d = 2 a b + c for one tile; the doubling is elementwise on a fragment.
template <int m, int n, int k, typename A, typename C, typename ALayout, typename BLayout>
__global__ void product(const Memory<A> *a, int lda, const Memory<A> *b, int ldb, const C *c, C *d, int ldc, wmma::layout_t layout) {
  wmma::fragment<wmma::matrix_a, m, n, k, A, ALayout> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, A, BLayout> fb;
  wmma::fragment<wmma::accumulator, m, n, k, C> fc, fd;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, ldc, layout);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = static_cast<Memory<A>>(static_cast<float>(fa.x[i]) * 2.0f);
  wmma::fill_fragment(fd, 0);
  wmma::mma_sync(fd, fa, fb, fc);
  wmma::store_matrix_sync(d, fd, ldc, layout);
}

template <typename T>
struct Buffer {
  T *data;
  explicit Buffer(int count) { CHECK_CUDA(cudaMallocManaged(&data, count * sizeof(T))); }
  ~Buffer() { cudaFree(data); }
};

// Matrices lie in memory with a pitch of 32 elements and more than they need.
constexpr int kPitch = 32;
int at(bool isRow, int row, int column) { return isRow ? row * kPitch + column : column * kPitch + row; }

template <int m, int n, int k, typename A, typename C, typename ALayout, typename BLayout>
void check(std::mt19937 &random) {
  const bool aIsRow = std::is_same<ALayout, wmma::row_major>::value, bIsRow = std::is_same<BLayout, wmma::row_major>::value;
  Buffer<Memory<A>> a(32 * kPitch), b(32 * kPitch);
  Buffer<C> c(32 * kPitch), d(32 * kPitch);
  const int low = std::is_unsigned<Memory<A>>::value ? 0 : -6;
  for (int i = 0; i < 32 * kPitch; ++i) {
    a.data[i] = static_cast<Memory<A>>(static_cast<float>(low + static_cast<int>(random() % 13)));
    b.data[i] = static_cast<Memory<A>>(static_cast<float>(low + static_cast<int>(random() % 13)));
    c.data[i] = static_cast<C>(static_cast<float>(static_cast<int>(random() % 13) - 6));
  }
  for (bool cIsRow : {true, false}) {
    for (int i = 0; i < 32 * kPitch; ++i) d.data[i] = static_cast<C>(-77.0f);
    product<m, n, k, A, C, ALayout, BLayout><<<1, 32>>>(a.data, kPitch, b.data, kPitch, c.data, d.data, kPitch,
                                                        cIsRow ? wmma::mem_row_major : wmma::mem_col_major);
    CHECK_CUDA(cudaDeviceSynchronize());
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        float sum = static_cast<float>(c.data[at(cIsRow, row, column)]);
        for (int i = 0; i < k; ++i)
          sum += 2.0f * static_cast<float>(a.data[at(aIsRow, row, i)]) * static_cast<float>(b.data[at(bIsRow, i, column)]);
        CHECK(static_cast<float>(d.data[at(cIsRow, row, column)]) == sum);
      }
    const int outside = at(cIsRow, cIsRow ? 0 : m - 1, cIsRow ? n : 0) + (cIsRow ? 0 : 1);  // just past a line of the tile
    if ((cIsRow ? n : m) < kPitch) CHECK(static_cast<float>(d.data[outside]) == -77.0f);
  }
}

template <typename A, typename C, typename ALayout, typename BLayout>
void checkShapes(std::mt19937 &random) {
  check<16, 16, 16, A, C, ALayout, BLayout>(random);
  check<32, 8, 16, A, C, ALayout, BLayout>(random);
  check<8, 32, 16, A, C, ALayout, BLayout>(random);
}

int main() {
  using row = wmma::row_major;
  using col = wmma::col_major;
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  checkShapes<__half, float, row, col>(random);
  checkShapes<__nv_bfloat16, float, col, row>(random);
  checkShapes<signed char, int, row, row>(random);
  check<16, 16, 16, __half, float, col, row>(random);
  check<16, 16, 16, __half, __half, col, col>(random);
  check<16, 16, 16, unsigned char, int, col, col>(random);
  check<16, 16, 8, wmma::precision::tf32, float, row, col>(random);
  check<16, 16, 8, wmma::precision::tf32, float, col, row>(random);
  check<8, 8, 4, double, double, row, row>(random);
  check<8, 8, 4, double, double, col, col>(random);
  return 0;
}
