// SPDX-License-Identifier: Apache-2.0
// Planes, matrices and graphs: neighbours, rows and columns by run-time strides, steps that are launched one after the
// other.
#include <algorithm>

#include "heldout.h"

namespace heldout {
namespace {

constexpr int kSide = 1024;

struct Jacobi {
  const float *a;
  float *b;
  int width, height;
  DEVICE void operator()(int x, int y) const {
    const int i = y * width + x;
    const bool inside = x > 0 && y > 0 && x < width - 1 && y < height - 1;
    b[i] = inside ? 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - width] + a[i + width]) : a[i];
  }
};
PLANE(jacobi, kSide, kSide, 16, 16, (in<float>(kSide * kSide, 0, 1), out<float>(kSide *kSide)),
      Jacobi{P(const float, 0), P(float, 1), kSide, kSide})

struct Gauss5 {
  const std::uint8_t *image;
  std::uint8_t *blurred;
  int width, height;
  DEVICE void operator()(int x, int y) const {
    const int weight[5] = {1, 4, 6, 4, 1};
    int sum = 0;
    for (int dy = -2; dy <= 2; ++dy)
      for (int dx = -2; dx <= 2; ++dx) {
        int px = x + dx, py = y + dy;
        px = px < 0 ? 0 : px >= width ? width - 1 : px;
        py = py < 0 ? 0 : py >= height ? height - 1 : py;
        sum += weight[dx + 2] * weight[dy + 2] * image[py * width + px];
      }
    blurred[y * width + x] = static_cast<std::uint8_t>(sum >> 8);
  }
};
PLANE(gauss5, 512, 512, 32, 8, (in<std::uint8_t>(512 * 512, 0, 256), out<std::uint8_t>(512 * 512)),
      Gauss5{P(const std::uint8_t, 0), P(std::uint8_t, 1), 512, 512})

struct Median {
  const int *image;
  int *result;
  int width, height;
  DEVICE static void order(int &a, int &b) {
    const int least = a < b ? a : b;
    b = a < b ? b : a, a = least;
  }
  DEVICE void operator()(int x, int y) const {
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
      result[y * width + x] = 0;
      return;
    }
    int v[9];
    for (int k = 0; k < 9; ++k) v[k] = image[(y + k / 3 - 1) * width + x + k % 3 - 1];
    for (int pass = 0; pass < 5; ++pass)
      for (int k = 0; k < 8 - pass; ++k) order(v[k], v[k + 1]);
    result[y * width + x] = v[4];
  }
};
PLANE(median, 512, 512, 16, 16, (in<int>(512 * 512, 0, 256), out<int>(512 * 512)),
      Median{P(const int, 0), P(int, 1), 512, 512})

struct Life {
  const std::uint8_t *cells;
  std::uint8_t *next;
  int side;
  DEVICE void operator()(int x, int y) const {
    int n = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dx || dy) n += cells[((y + dy) & (side - 1)) * side + ((x + dx) & (side - 1))];
    next[y * side + x] = n == 3 || (n == 2 && cells[y * side + x]);
  }
};
PLANE(life, kSide, kSide, 32, 4, (in<std::uint8_t>(kSide * kSide, 0, 2), out<std::uint8_t>(kSide *kSide)),
      Life{P(const std::uint8_t, 0), P(std::uint8_t, 1), kSide})

struct RowProduct {  // y = A x, a row a thread
  const float *a, *x;
  float *y;
  std::size_t columns, stride;
  DEVICE void operator()(int row) const {
    float sum = 0;
    for (std::size_t k = 0; k < columns; ++k) sum += a[row * stride + k] * x[k];
    y[row] = sum;
  }
};
EACH(row_product, kSide, 128, (in<float>(kSide * kSide, -1, 1), in<float>(kSide, -1, 1), out<float>(kSide)),
     RowProduct{P(const float, 0), P(const float, 1), P(float, 2), kSide, kSide})

struct ColumnProduct {  // y = A' x, a column a thread
  const double *a, *x;
  double *y;
  int rows, columns;
  DEVICE void operator()(int column) const {
    double sum = 0;
    for (int k = 0; k < rows; ++k) sum += a[k * columns + column] * x[k];
    y[column] = sum;
  }
};
EACH(column_product, kSide, 256, (in<double>(kSide * kSide, -1, 1), in<double>(kSide, -1, 1), out<double>(kSide)),
     ColumnProduct{P(const double, 0), P(const double, 1), P(double, 2), kSide, kSide})

struct RankUpdate {  // C = A A' + C
  const float *a;
  float *c;
  int n, depth;
  DEVICE void operator()(int x, int y) const {
    float sum = 0;
    for (int k = 0; k < depth; ++k) sum += a[y * depth + k] * a[x * depth + k];
    c[y * n + x] = 0.5f * sum;
  }
};
PLANE(rank_update, 256, 256, 32, 8, (in<float>(256 * 128, -1, 1), out<float>(256 * 256)),
      RankUpdate{P(const float, 0), P(float, 1), 256, 128})

struct Product {
  const double *a, *b;
  double *c;
  int n;
  DEVICE void operator()(int x, int y) const {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
  }
};
PLANE(product, 256, 256, 16, 16, (in<double>(65536, -1, 1), in<double>(65536, -1, 1), out<double>(65536)),
      Product{P(const double, 0), P(const double, 1), P(double, 2), 256})

struct Correlation {
  const float *data;
  float *result;
  int points, columns;
  DEVICE void operator()(int j) const {
    float mean = 0, square = 0;
    for (int i = 0; i < points; ++i) mean += data[i * columns + j];
    mean /= points;
    for (int i = 0; i < points; ++i) {
      const float d = data[i * columns + j] - mean;
      square += d * d;
    }
    result[j] = sqrtf(square / points);
  }
};
EACH(correlation, kSide, 64, (in<float>(512 * kSide, -1, 1), out<float>(kSide)),
     Correlation{P(const float, 0), P(float, 1), 512, kSide})

constexpr int kGraphRows = 1 << 15;
std::vector<int> rowStarts(std::mt19937 &) {
  std::mt19937 random(5);  // of the matrix's shape, which columnNumbers must agree with
  std::vector<int> starts{0};
  for (int i = 0; i < kGraphRows; ++i) starts.push_back(starts.back() + 1 + static_cast<int>(random() % 24));
  return starts;
}
std::vector<int> columnNumbers(std::mt19937 &random) {
  std::vector<int> columns(rowStarts(random).back());
  for (int &c : columns) c = static_cast<int>(random() % kGraphRows);
  return columns;
}
struct SparseRow {
  const int *starts, *columns;
  const double *x;
  double *y;
  DEVICE void operator()(int row) const {
    double sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += (k % 7 - 3) * x[columns[k]];
    y[row] = sum;
  }
};
EACH(sparse_row, kGraphRows, 128,
     (made<int>(rowStarts), made<int>(columnNumbers), in<double>(kGraphRows, -1, 1), out<double>(kGraphRows)),
     SparseRow{P(const int, 0), P(const int, 1), P(const double, 2), P(double, 3)})

struct Reach {  // a level of a breadth-first search
  const int *starts, *columns;
  const int *from;
  int *to;
  int level;
  DEVICE void operator()(int row) const {
    int mine = from[row];
    if (mine < 0)
      for (int k = starts[row]; k < starts[row + 1]; ++k)
        if (from[columns[k]] >= 0) {
          mine = level;
          break;
        }
    to[row] = mine;
  }
};
std::vector<int> oneStart(std::mt19937 &) {
  std::vector<int> levels(kGraphRows, -1);
  levels[0] = 0;
  return levels;
}
CASE(
    reach,
    ARRAYS(made<int>(rowStarts), made<int>(columnNumbers), made<int>(oneStart), out<int>(kGraphRows),
           out<int>(kGraphRows)),
    const int *from = P(const int, 2);
    for (int level = 1; level <= 9; ++level) {
      int *to = P(int, 3 + level % 2);
      each(kGraphRows, 256, Reach{P(const int, 0), P(const int, 1), from, to, level});
      from = to;
    })

struct Relax {  // Floyd and Warshall: step k
  int *distance;
  int n, k;
  DEVICE void operator()(int x, int y) const {
    const int via = distance[y * n + k] + distance[k * n + x];
    if (via < distance[y * n + x]) distance[y * n + x] = via;
  }
};
CASE(shortest_paths, ARRAYS(inOut<int>(128 * 128, 1, 1000)),
     for (int k = 0; k < 128; ++k) plane(128, 128, 16, 16, Relax{P(int, 0), 128, k});)

struct Factors {
  const double *a;
  double *factor;
  int n, t;
  DEVICE void operator()(int i) const { factor[i + t + 1] = a[(i + t + 1) * n + t] / (a[t * n + t] + n); }
};
struct Eliminate {
  double *a;
  const double *factor;
  int n, t;
  DEVICE void operator()(int x, int y) const { a[(y + t + 1) * n + x + t] -= factor[y + t + 1] * a[t * n + x + t]; }
};
CASE(
    elimination, ARRAYS(inOut<double>(96 * 96, 0, 1), inOut<double>(96, 0, 1)), for (int t = 0; t < 95; ++t) {
      each(95 - t, 64, Factors{P(const double, 0), P(double, 1), 96, t});
      plane(96 - t, 95 - t, 8, 8, Eliminate{P(double, 0), P(const double, 1), 96, t});
    })

struct Nearest {  // of 16 centres in eight dimensions
  const float *points, *centres;
  float *distance;  // which centre it is depends on rounding where two are as near
  int items;
  DEVICE void operator()(int i) const {
    float best = 1e30f;
    for (int c = 0; c < 16; ++c) {
      float sum = 0;
      for (int d = 0; d < 8; ++d) {
        const float q = points[d * items + i] - centres[c * 8 + d];
        sum += q * q;
      }
      if (sum < best) best = sum;
    }
    distance[i] = best;
  }
};
EACH(nearest, 1 << 16, 256, (in<float>(8 << 16, -1, 1), in<float>(128, -1, 1), out<float>(1 << 16)),
     Nearest{P(const float, 0), P(const float, 1), P(float, 2), 1 << 16})

struct Lattice {  // a step of a two-dimensional lattice gas with nine directions, relaxed towards equilibrium
  const float *from;
  float *to;
  int side;
  DEVICE void operator()(int x, int y) const {
    const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float w[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    const int plane = side * side;
    float f[9], rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; ++k) {
      f[k] = from[k * plane + ((y - cy[k]) & (side - 1)) * side + ((x - cx[k]) & (side - 1))];
      rho += f[k], ux += cx[k] * f[k], uy += cy[k] * f[k];
    }
    ux /= rho, uy /= rho;
    for (int k = 0; k < 9; ++k) {
      const float cu = 3 * (cx[k] * ux + cy[k] * uy);
      const float equal = w[k] * rho * (1 + cu + 0.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
      to[k * plane + y * side + x] = f[k] + 0.6f * (equal - f[k]);
    }
  }
};
PLANE(lattice, 256, 256, 32, 4, (in<float>(9 << 16, 0.5, 1), out<float>(9 << 16)),
      Lattice{P(const float, 0), P(float, 1), 256})

struct Forces {  // all pairs
  const float *x;
  float *f;
  int n;
  DEVICE void operator()(int i) const {
    float fx = 0, fy = 0;
    for (int j = 0; j < n; ++j) {
      const float dx = x[2 * j] - x[2 * i], dy = x[2 * j + 1] - x[2 * i + 1], r = dx * dx + dy * dy + 0.01f;
      const float k = 1 / (r * sqrtf(r));
      fx += dx * k, fy += dy * k;
    }
    f[2 * i] = fx, f[2 * i + 1] = fy;
  }
};
EACH(forces, 2048, 128, (in<float>(4096, -1, 1), out<float>(4096)), Forces{P(const float, 0), P(float, 1), 2048})

}  // namespace
}  // namespace heldout
