// SPDX-License-Identifier: Apache-2.0
// The Mandelbrot set: every lane of a warp leaves its loop at another iteration. Writes a PNG when a
// file name is given: 12_mandelbrot picture.png [width] [height]
#include "check.h"
#include "png.h"

constexpr int kIterations = 256;

__host__ __device__ inline int escapeTime(float cx, float cy) {
  float x = 0, y = 0;
  int i = 0;
  for (; i < kIterations && x * x + y * y < 4; ++i) {
    float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
  }
  return i;
}

__host__ __device__ inline float coordinate(int pixel, int pixels, float low, float high) {
  return low + (high - low) * ((float)pixel / (float)pixels);
}

__global__ void mandelbrot(int *out, int width, int height) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  out[py * width + px] = escapeTime(coordinate(px, width, -2.2f, 0.8f), coordinate(py, height, -1.2f, 1.2f));
}

static std::vector<unsigned char> colours(const std::vector<int> &times) {
  std::vector<unsigned char> rgb;
  rgb.reserve(times.size() * 3);
  for (int t : times) {
    double v = t == kIterations ? 0 : std::sqrt(t / (double)kIterations);
    rgb.push_back((unsigned char)(255 * std::fmin(1, 3 * v)));
    rgb.push_back((unsigned char)(255 * std::fmin(1, 1.5 * v * v + v)));
    rgb.push_back((unsigned char)(t == kIterations ? 0 : 64 + 191 * v));
  }
  return rgb;
}

int main(int argc, char **argv) {
  int width = argument(argc, argv, 2, 600), height = argument(argc, argv, 3, 480);
  int *dout = poisonedDevice<int>((size_t)width * height);

  mandelbrot<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(dout, width, height);
  CHECK(cudaGetLastError());

  auto out = toHost(dout, (size_t)width * height);
  // Contraction to fused multiply-adds may differ between host and device, and the edge of the set is
  // chaotic: nearly all pixels must agree, and the rest must be near the edge.
  size_t different = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      different += out[y * width + x] != escapeTime(coordinate(x, width, -2.2f, 0.8f), coordinate(y, height, -1.2f, 1.2f));
  Verdict verdict;
  verdict.expect(different <= out.size() / 50, "pixels", 0, different, out.size() / 50);
  if (argc > 1) {
    if (!writePng(argv[1], colours(out), width, height)) return std::fprintf(stderr, "cannot write %s\n", argv[1]), 1;
    std::printf("%s: %d x %d\n", argv[1], width, height);
  }
  CHECK(cudaFree(dout));
  return verdict.report("Mandelbrot");
}
