// SPDX-License-Identifier: Apache-2.0
// Heat flow in a box: a 7-point stencil, two buffers that swap roles each step.
#include <utility>

#include "check.h"

__global__ void step(const float *in, float *out, int nx, int ny, int nz, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  int i = (z * ny + y) * nx + x;
  bool edge = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
  if (edge) {
    out[i] = in[i];
    return;
  }
  float around = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];
  out[i] = in[i] + rate * (around - 6 * in[i]);
}

static std::vector<double> reference(const std::vector<float> &start, int nx, int ny, int nz, double rate, int steps) {
  std::vector<double> in(start.begin(), start.end()), out = in;
  for (int s = 0; s < steps; ++s) {
    for (int z = 1; z < nz - 1; ++z)
      for (int y = 1; y < ny - 1; ++y)
        for (int x = 1; x < nx - 1; ++x) {
          int i = (z * ny + y) * nx + x;
          double around = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];
          out[i] = in[i] + rate * (around - 6 * in[i]);
        }
    std::swap(in, out);
  }
  return in;
}

int main(int argc, char **argv) {
  int nx = argument(argc, argv, 1, 70), ny = argument(argc, argv, 2, 45), nz = argument(argc, argv, 3, 33);
  int steps = argument(argc, argv, 4, 8);
  const float rate = 0.1f;
  auto start = randomFloats((size_t)nx * ny * nz, 0, 100);
  float *in = toDevice(start), *out = poisonedDevice<float>(start.size());

  dim3 block(32, 4, 2), grid((nx + 31) / 32, (ny + 3) / 4, (nz + 1) / 2);
  for (int s = 0; s < steps; ++s) {
    step<<<grid, block>>>(in, out, nx, ny, nz, rate);
    std::swap(in, out);
  }
  CHECK(cudaGetLastError());

  auto got = toHost(in, start.size());
  auto want = reference(start, nx, ny, nz, rate, steps);
  Verdict verdict;
  for (size_t i = 0; i < got.size(); ++i) verdict.expect(close(got[i], want[i], 1e-5), "t", i, got[i], want[i]);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.report("3-D stencil");
}
