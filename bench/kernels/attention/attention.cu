// SPDX-License-Identifier: Apache-2.0
// One head, naive: a warp a query; scores, softmax and weighted sum of values.
#include "../case.h"

constexpr int kDim = 64;

__global__ void attention(const float *q, const float *k, const float *v, float *scores, float *out, int n) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  const float *mine = q + row * kDim;
  float *s = scores + (size_t)row * n, highest = -1e30f, sum = 0;
  for (int j = threadIdx.x; j < n; j += 32) {
    float dot = 0;
    for (int d = 0; d < kDim; ++d) dot += mine[d] * k[d * n + j];
    s[j] = dot * 0.125f;
    highest = fmaxf(highest, s[j]);
  }
  for (int o = 16; o; o /= 2) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, o));
  for (int j = threadIdx.x; j < n; j += 32) {
    s[j] = __expf(s[j] - highest);
    sum += s[j];
  }
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  __syncwarp();
  float a = 0, b = 0;
  for (int j = 0; j < n; ++j) {
    a += s[j] * v[j * kDim + threadIdx.x];
    b += s[j] * v[j * kDim + 32 + threadIdx.x];
  }
  out[row * kDim + threadIdx.x] = a / sum;
  out[row * kDim + 32 + threadIdx.x] = b / sum;
}

void attentionOpenmp(const float *q, const float *k, const float *v, float *scores, float *out, int n);

static int added = bench::addCase([] {
  const int n = bench::size(2048, 128);
  bench::Case c;
  c.name = "attention";
  c.bytes = 16.0 * n * kDim;
  c.flops = 4.0 * n * n * kDim;
  for (int i = 0; i < 3; ++i) c.arrays.push_back(bench::Array::of(bench::randomFloats(n * kDim, -1, 1)));
  c.arrays.push_back(bench::Array::of(std::vector<float>((size_t)n * n)));
  c.arrays.push_back(bench::Array::poisoned<float>(n * kDim));
  c.cuda = [=](auto &p) { attention<<<n / 8, dim3(32, 8)>>>((float *)p[0], (float *)p[1], (float *)p[2], (float *)p[3], (float *)p[4], n); };
  c.openmp = [=](auto &p) { attentionOpenmp((float *)p[0], (float *)p[1], (float *)p[2], (float *)p[3], (float *)p[4], n); };
  c.ispc = {n, 16};
  c.opencl = {{{"attention", {n}, {8}}}, bench::OpenCl::pack(n)};
  c.tolerance = 1e-4;
  return c;
});
