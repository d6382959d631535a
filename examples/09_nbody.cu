// SPDX-License-Identifier: Apache-2.0
// Gravity between all pairs of bodies; positions pass through shared memory a block at a time.
#include "check.h"

constexpr int kBlock = 128;
constexpr float kSoftening = 1e-3f;

__global__ void forces(const float4 *bodies, float4 *accelerations, int n) {
  __shared__ float4 tile[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  float4 self = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += kBlock) {
    int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);  // no mass: no force
    __syncthreads();
    for (int k = 0; k < kBlock; ++k) {
      float dx = tile[k].x - self.x, dy = tile[k].y - self.y, dz = tile[k].z - self.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
      float scale = tile[k].w * inverse * inverse * inverse;
      ax += dx * scale;
      ay += dy * scale;
      az += dz * scale;
    }
    __syncthreads();
  }
  if (i < n) accelerations[i] = make_float4(ax, ay, az, 0);
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 1500);
  std::vector<float4> bodies(n);
  auto values = randomFloats((size_t)n * 4);
  for (int i = 0; i < n; ++i)
    bodies[i] = make_float4(values[4 * i], values[4 * i + 1], values[4 * i + 2], std::fabs(values[4 * i + 3]));
  float4 *dbodies = toDevice(bodies), *dacc = poisonedDevice<float4>(n);

  forces<<<(n + kBlock - 1) / kBlock, kBlock>>>(dbodies, dacc, n);
  CHECK(cudaGetLastError());

  auto acc = toHost(dacc, n);
  Verdict verdict;
  for (int i = 0; i < n; ++i) {
    double a[3] = {0, 0, 0}, magnitude = 0;
    for (int j = 0; j < n; ++j) {
      double d[3] = {(double)bodies[j].x - bodies[i].x, (double)bodies[j].y - bodies[i].y, (double)bodies[j].z - bodies[i].z};
      double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + kSoftening;
      double scale = bodies[j].w / (square * std::sqrt(square));
      for (int c = 0; c < 3; ++c) a[c] += d[c] * scale;
      magnitude += scale * std::sqrt(square);
    }
    float got[3] = {acc[i].x, acc[i].y, acc[i].z};
    for (int c = 0; c < 3; ++c)
      verdict.expect(std::fabs(got[c] - a[c]) <= 1e-5 * magnitude, "a", 3 * i + c, got[c], a[c]);
  }
  CHECK(cudaFree(dbodies));
  CHECK(cudaFree(dacc));
  return verdict.report("n-body");
}
