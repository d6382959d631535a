// SPDX-License-Identifier: Apache-2.0
// cuda_fp4.h, cuda_fp6.h, and the scales of cuda_fp8.h (e8m0): each half and each bfloat16 in each rounding, on the host against a search through all numbers
// of the format, on the device against the host; random floats and doubles; the types.
#include <cuda_fp4.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#define CHECK(condition) \
  if (!(condition)) return std::printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition), 1

struct Format {
  int exponentBits, mantissaBits;
  unsigned codes() const { return 1u << (exponentBits + mantissaBits); }  // of one sign
  double value(unsigned code) const {
    const int bias = (1 << (exponentBits - 1)) - 1, exponent = static_cast<int>(code >> mantissaBits);
    const double fraction = std::ldexp(code & ((1u << mantissaBits) - 1), -mantissaBits);
    return exponent ? std::ldexp(1 + fraction, exponent - bias) : std::ldexp(fraction, 1 - bias);
  }
};
constexpr Format kFormats[] = {{2, 1}, {2, 3}, {3, 2}};  // e2m1 e2m3 e3m2
constexpr cudaRoundMode kModes[] = {cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf};

// By search; no rounding of its own.
unsigned expected(const Format &format, double x, cudaRoundMode mode) {
  const unsigned count = format.codes();
  if (std::isnan(x)) return count - 1;
  const unsigned sign = std::signbit(x) ? count : 0;
  const double magnitude = std::fabs(x);
  if (magnitude >= format.value(count - 1)) return sign | (count - 1);
  unsigned low = 0;
  while (format.value(low + 1) <= magnitude) ++low;
  const double below = magnitude - format.value(low), above = format.value(low + 1) - magnitude;
  if (below == 0) return sign | low;
  const bool away = mode == cudaRoundNearest  ? above < below || (above == below && low % 2)
                    : mode == cudaRoundPosInf ? !sign
                    : mode == cudaRoundMinInf ? sign != 0
                                              : false;
  return sign | (low + away);
}

template <class Raw>
__host__ __device__ unsigned fromRaw(int format, Raw x, cudaRoundMode mode);
template <>
__host__ __device__ unsigned fromRaw(int format, __half_raw x, cudaRoundMode mode) {
  return format == 0 ? __nv_cvt_halfraw_to_fp4(x, __NV_E2M1, mode) : __nv_cvt_halfraw_to_fp6(x, format == 1 ? __NV_E2M3 : __NV_E3M2, mode);
}
template <>
__host__ __device__ unsigned fromRaw(int format, __nv_bfloat16_raw x, cudaRoundMode mode) {
  return format == 0 ? __nv_cvt_bfloat16raw_to_fp4(x, __NV_E2M1, mode) : __nv_cvt_bfloat16raw_to_fp6(x, format == 1 ? __NV_E2M3 : __NV_E3M2, mode);
}
unsigned fromFloat(int format, float x, cudaRoundMode mode) {
  return format == 0 ? __nv_cvt_float_to_fp4(x, __NV_E2M1, mode) : __nv_cvt_float_to_fp6(x, format == 1 ? __NV_E2M3 : __NV_E3M2, mode);
}
unsigned fromDouble(int format, double x, cudaRoundMode mode) {
  return format == 0 ? __nv_cvt_double_to_fp4(x, __NV_E2M1, mode) : __nv_cvt_double_to_fp6(x, format == 1 ? __NV_E2M3 : __NV_E3M2, mode);
}
__host__ __device__ float decoded(int format, unsigned char code) {
  return __half2float(__half(format == 0 ? __nv_cvt_fp4_to_halfraw(code, __NV_E2M1) : __nv_cvt_fp6_to_halfraw(code, format == 1 ? __NV_E2M3 : __NV_E3M2)));
}

constexpr unsigned kInputs = 65536, kModeCount = 4, kFormatCount = 3;

template <class Raw>
__global__ void convertAll(unsigned char *out, float *values) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const cudaRoundMode modes[] = {cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf};
  Raw raw;
  raw.x = static_cast<unsigned short>(i);
  for (unsigned f = 0; f < kFormatCount; ++f) {
    for (unsigned m = 0; m < kModeCount; ++m) out[(f * kModeCount + m) * kInputs + i] = static_cast<unsigned char>(fromRaw(static_cast<int>(f), raw, modes[m]));
    values[f * kInputs + i] = decoded(static_cast<int>(f), static_cast<unsigned char>(i & 63));
  }
}

float valueOf(__half_raw x) { return __half2float(__half(x)); }
float valueOf(__nv_bfloat16_raw x) { return __bfloat162float(__nv_bfloat16(x)); }

template <class Raw>
int checkAll() {
  unsigned char *out;
  float *values;
  const unsigned total = kInputs * kModeCount * kFormatCount;
  CHECK(!cudaMallocManaged(&out, total) && !cudaMallocManaged(&values, kFormatCount * kInputs * sizeof(float)));
  std::memset(out, 0xee, total);
  convertAll<Raw><<<kInputs / 256, 256>>>(out, values);
  CHECK(!cudaDeviceSynchronize());
  for (unsigned f = 0; f < kFormatCount; ++f)
    for (unsigned i = 0; i < kInputs; ++i) {
      Raw raw;
      raw.x = static_cast<unsigned short>(i);
      for (unsigned m = 0; m < kModeCount; ++m) {
        const unsigned want = expected(kFormats[f], valueOf(raw), kModes[m]);
        CHECK(fromRaw(static_cast<int>(f), raw, kModes[m]) == want);
        CHECK(out[(f * kModeCount + m) * kInputs + i] == want);
      }
      const unsigned code = i & (2 * kFormats[f].codes() - 1), magnitude = code & (kFormats[f].codes() - 1);
      const float value = decoded(static_cast<int>(f), static_cast<unsigned char>(code));
      CHECK(std::fabs(value) == kFormats[f].value(magnitude) && std::signbit(value) == (code != magnitude));
      if (i < 64) CHECK(values[f * kInputs + i] == decoded(static_cast<int>(f), static_cast<unsigned char>(i)));
    }
  return cudaFree(out) || cudaFree(values);
}

int checkRandom(unsigned seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200000; ++i) {
    const unsigned long long word = random();
    const double near = std::ldexp(static_cast<double>(word >> 11), static_cast<int>(word % 16) - 62) * (word & 1024 ? -1 : 1);  // up to 2^6
    double any;
    std::memcpy(&any, &word, sizeof any);
    for (double x : {near, any, std::nextafter(std::floor(near * 8) / 8, near), std::floor(near * 8) / 8})
      for (int f = 0; f < 3; ++f)
        for (cudaRoundMode mode : kModes) {
          CHECK(fromDouble(f, x, mode) == expected(kFormats[f], x, mode));
          CHECK(fromFloat(f, static_cast<float>(x), mode) == expected(kFormats[f], static_cast<float>(x), mode));
        }
  }
  return 0;
}

int checkTypes() {
  const __nv_fp4_e2m1 six(1000.0f), minus(-2.6), one(1);
  CHECK(six.__x == 7 && minus.__x == 0xd && static_cast<float>(minus) == -3.0f && static_cast<int>(minus) == -3 && static_cast<unsigned>(minus) == 0);
  CHECK(static_cast<bool>(one) && !static_cast<bool>(__nv_fp4_e2m1(-0.0f)) && static_cast<double>(six) == 6.0);
  const __nv_fp4x2_e2m1 two(float2{1.5f, -4.0f});
  CHECK(two.__x == 0xe3 && static_cast<float2>(two).x == 1.5f && static_cast<float2>(two).y == -4.0f);
  const __nv_fp4x4_e2m1 four(float4{0.5f, 1.0f, -6.0f, 0.0f}), halves(__floats2half2_rn(0.5f, 1.0f), __floats2half2_rn(-6.0f, 0.0f));
  CHECK(four.__x == 0x0f21 && halves.__x == four.__x && static_cast<float4>(four).z == -6.0f && sizeof four == 2);
  const __nv_fp6_e3m2 large(1e30), small(0.0625f);
  CHECK(static_cast<float>(large) == 28.0f && small.__x == 1 && static_cast<short>(large) == 28);
  const __nv_fp6x4_e2m3 wide(double4_16a{7.5, -0.125, 1, 2});
  CHECK(wide.__x == 0x1008211fu && static_cast<float4>(wide).y == -0.125f && sizeof wide == 4);
  CHECK(__nv_fp6x2_e2m3(__floats2bfloat162_rn(1.0f, -1.0f)).__x == 0x2808);
  return 0;
}

// Of a scale, by search.
unsigned expectedScale(double x, __nv_saturation_t saturate, cudaRoundMode mode) {
  if (std::isnan(x)) return 0xff;
  const bool up = mode == cudaRoundPosInf;
  if (std::isinf(x)) return saturate == __NV_SATFINITE ? 0xfe : 0xff;
  unsigned code = 0;
  const auto power = [](unsigned of) { return std::ldexp(1.0, static_cast<int>(of) - 127); };
  while (code < 0xff && (up ? power(code) < std::fabs(x) : power(code + 1) <= std::fabs(x))) ++code;
  if (code < 0xff) return code;
  return saturate == __NV_SATFINITE || !up ? 0xfe : 0xff;
}

int checkScales(unsigned seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 50000; ++i) {
    const unsigned long long word = random();
    const double near = std::ldexp(1 + static_cast<double>(word >> 12) / 4503599627370496.0, static_cast<int>(word % 300) - 160) * (word & 512 ? -1 : 1);
    double any;
    std::memcpy(&any, &word, sizeof any);
    const double power = std::ldexp(1.0, static_cast<int>(word % 300) - 160);
    for (double x : {near, any, power, std::nextafter(power, 0.0), 0.0, HUGE_VAL})
      for (__nv_saturation_t saturate : {__NV_NOSAT, __NV_SATFINITE})
        for (cudaRoundMode mode : {cudaRoundZero, cudaRoundPosInf}) {
          CHECK(__nv_cvt_double_to_e8m0(x, saturate, mode) == expectedScale(x, saturate, mode));
          const float f = static_cast<float>(x);
          CHECK(__nv_cvt_float_to_e8m0(f, saturate, mode) == expectedScale(f, saturate, mode));
        }
  }
  for (int code = 0; code < 255; ++code) {
    __nv_fp8_e8m0 scale;
    scale.__x = static_cast<unsigned char>(code);
    CHECK(static_cast<double>(scale) == std::ldexp(1.0, code - 127) && static_cast<bool>(scale));
  }
  CHECK(__nv_fp8_e8m0(-5).__x == 130 && __nv_fp8_e8m0((1ll << 60) + 1).__x == 188 && __nv_fp8_e8m0(1ull << 63).__x == 190 && __nv_fp8_e8m0(0L).__x == 0);
  CHECK(__nv_fp8x4_e8m0(float4{1, 2, 3, 0.5f}).__x == 0x7e81807fu && __nv_fp8x2_e8m0(double2{1, 1.5}).__x == 0x807f);
  CHECK(__low2float(static_cast<__nv_bfloat162>(__nv_fp8x2_e8m0(float2{4, 8}))) == 4.0f);
  return 0;
}

int main() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  return checkAll<__half_raw>() || checkAll<__nv_bfloat16_raw>() || checkRandom(seed) || checkTypes() || checkScales(seed);
}
