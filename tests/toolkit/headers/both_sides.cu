// SPDX-License-Identifier: Apache-2.0
// Functions that exist on both sides give the same bits on both: half, bfloat16 and 8-bit arithmetic and
// conversions, SIMD in a word, integer minima. Fresh random bits at every run.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdio>
#include <random>
#include <vector>

struct Words {
  unsigned a, b, c;
};
constexpr int kResults = 42;

template <typename Type>
__host__ __device__ unsigned bitsOf(Type value) {
  unsigned bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(Type) < 4 ? sizeof(Type) : 4);
  return bits;
}
// All NaN are one: payloads are not specified.
__host__ __device__ unsigned halfBits(__half2 v) {
  unsigned x = __hisnan(v.x) ? 0x7fff : v.x.__x, y = __hisnan(v.y) ? 0x7fff : v.y.__x;
  return x | y << 16;
}
__host__ __device__ unsigned bfloatBits(__nv_bfloat162 v) {
  unsigned x = __hisnan(v.x) ? 0x7fff : v.x.__x, y = __hisnan(v.y) ? 0x7fff : v.y.__x;
  return x | y << 16;
}

__host__ __device__ void evaluate(Words w, unsigned *out) {
  __half2 a = __builtin_bit_cast(__half2, w.a), b = __builtin_bit_cast(__half2, w.b), c = __builtin_bit_cast(__half2, w.c);
  __nv_bfloat162 d = __builtin_bit_cast(__nv_bfloat162, w.a), e = __builtin_bit_cast(__nv_bfloat162, w.b),
                 f = __builtin_bit_cast(__nv_bfloat162, w.c);
  float x = __builtin_bit_cast(float, w.a), y = __builtin_bit_cast(float, w.b);
  int i = 0;
  out[i++] = halfBits(__half2(static_cast<__half>(d.x), static_cast<__half>(d.y)));
  out[i++] = bfloatBits(__nv_bfloat162(static_cast<__nv_bfloat16>(a.x), __nv_bfloat16(a.y)));
  out[i++] = halfBits(__hadd2_rn(a, b));
  out[i++] = halfBits(__hmul2_rn(a, b));
  out[i++] = halfBits(__hsub2(a, b));
  out[i++] = halfBits(__hfma2(a, b, c));
  out[i++] = halfBits(__h2div(a, b));
  out[i++] = halfBits(__hmax2(a, b));
  out[i++] = halfBits(__hmin2_nan(a, b));
  out[i++] = halfBits(__hfma2_relu(a, b, c));
  out[i++] = halfBits(__hadd2_sat(a, b));
  out[i++] = __hle2_mask(a, b) ^ __hgtu2_mask(a, c);
  out[i++] = bfloatBits(__hadd2(d, e));
  out[i++] = bfloatBits(__hmul2(d, e));
  out[i++] = bfloatBits(__hfma2(d, e, f));
  out[i++] = bfloatBits(__h2div(d, e));
  out[i++] = bfloatBits(__hmin2(d, e));
  out[i++] = __hbeq2(d, e) + __hblt2(d, f) * 2;
  out[i++] = halfBits(__floats2half2_rn(x, y));
  out[i++] = halfBits(__half2(__float2half_rz(x * 0x1p-110f), __float2half_ru(y)));
  out[i++] = halfBits(__half2(__float2half_rd(x), __double2half(static_cast<double>(y) * 1.0000000001)));
  out[i++] = bfloatBits(__floats2bfloat162_rn(x, y));
  out[i++] = bfloatBits(__nv_bfloat162(__float2bfloat16_rz(x), __float2bfloat16_ru(y)));
  out[i++] = halfBits(__half2(__int2half_rn(static_cast<int>(w.a)), __ull2half_rz(w.b)));
  out[i++] = bfloatBits(__nv_bfloat162(__ll2bfloat16_rn(static_cast<long long>(static_cast<int>(w.a)) * static_cast<int>(w.b)), __uint2bfloat16_rd(w.c)));
  out[i++] = static_cast<unsigned>(__half2int_rn(a.x)) ^ __half2uint_ru(b.x);
  out[i++] = static_cast<unsigned>(__half2ll_rd(a.y)) + static_cast<unsigned short>(__half2short_rz(b.y));
  out[i++] = static_cast<unsigned>(__bfloat162int_rz(d.x)) ^ static_cast<unsigned>(__bfloat162ull_rn(e.x));
  out[i++] = bitsOf(__half22float2(a).x != __half22float2(a).x ? 0.0f : __half22float2(a).x);
  out[i++] = __nv_cvt_float2_to_fp8x2(float2{x, y}, __NV_SATFINITE, __NV_E4M3);
  out[i++] = __nv_cvt_float2_to_fp8x2(float2{x, y}, __NV_SATFINITE, __NV_E5M2);
  out[i++] = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3) + 256 * __nv_cvt_float_to_fp8(y, __NV_NOSAT, __NV_E5M2);
  out[i++] = halfBits(__half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(w.a), __NV_E4M3)));
  out[i++] = halfBits(__half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(w.b), __NV_E5M2)));
  out[i++] = __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf);
  out[i++] = __vadd4(w.a, w.b) ^ __vsubss4(w.a, w.c) ^ __vaddus2(w.b, w.c);
  out[i++] = __vavgs4(w.a, w.b) ^ __vavgu2(w.a, w.b) ^ __vabsss2(w.c);
  out[i++] = __vcmpgts4(w.a, w.b) ^ __vsetleu2(w.a, w.b) ^ __vsads4(w.a, w.c);
  out[i++] = __viaddmax_s16x2_relu(w.a, w.b, w.c) ^ __vimin3_u16x2(w.a, w.b, w.c);
  out[i++] = static_cast<unsigned>(__viaddmin_s32(static_cast<int>(w.a), static_cast<int>(w.b), static_cast<int>(w.c)));
  out[i++] = min(static_cast<int>(w.a), w.b) ^ max(w.a, w.c);
  out[i++] = bitsOf(max(x, y) != max(x, y) ? 0.0f : max(x, y));
}

__global__ void evaluateAll(const Words *words, unsigned *out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) evaluate(words[i], out + i * kResults);
}

int main() {
  const int count = 20000;
  unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::vector<Words> words(count);
  for (Words &w : words) w = {static_cast<unsigned>(random()), static_cast<unsigned>(random()), static_cast<unsigned>(random())};
  // halves and floats of moderate size, so that sums round
  for (int i = 0; i < count; i += 2)
    words[i] = {(words[i].a & 0x8fff8fffu) | 0x30003000u, (words[i].b & 0x8fff8fffu) | 0x30003000u, (words[i].c & 0x8fff8fffu) | 0x30003000u};
  Words *deviceWords;
  unsigned *deviceOut;
  std::vector<unsigned> out(count * kResults, 0xdeadbeef);
  cudaMalloc(&deviceWords, count * sizeof(Words));
  cudaMalloc(&deviceOut, out.size() * 4);
  cudaMemcpy(deviceWords, words.data(), count * sizeof(Words), cudaMemcpyHostToDevice);
  cudaMemcpy(deviceOut, out.data(), out.size() * 4, cudaMemcpyHostToDevice);
  evaluateAll<<<(count + 127) / 128, 128>>>(deviceWords, deviceOut, count);
  cudaError_t error = cudaMemcpy(out.data(), deviceOut, out.size() * 4, cudaMemcpyDeviceToHost);
  if (error) return std::printf("%s\n", cudaGetErrorString(error)), 1;
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    unsigned expected[kResults];
    evaluate(words[i], expected);
    for (int k = 0; k < kResults; ++k)
      if (out[i * kResults + k] != expected[k] && wrong++ < 20)
        std::printf("result %d of %08x %08x %08x: device %08x, host %08x\n", k, words[i].a, words[i].b, words[i].c,
                    out[i * kResults + k], expected[k]);
  }
  std::printf("%s: %d wrong of %d, seed %u\n", wrong ? "FAILED" : "PASSED", wrong, count * kResults, seed);
  return wrong != 0;
}
