// SPDX-License-Identifier: Apache-2.0
// The CPU that kernels run on: what it can do, by CPUID.

#include "base/knobs.h"
#include "simt/exec/cache_key.h"
#include "simt/simt.h"

namespace strata::simt {
namespace {

// __builtin_cpu_supports looks at CPUID and at what the system saves (XCR0). These are the levels x86-64-v3
// and v4 as far as generated code relies on them.
bool hasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("popcnt") &&
         __builtin_cpu_supports("movbe") && __builtin_cpu_supports("f16c");
}

bool hasAvx512() {
  return hasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

void cpuid(std::uint32_t leaf, std::uint32_t subleaf, std::uint32_t (&out)[4]) {
  asm volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(subleaf));
}

std::string readFeatureWords() {
  std::string words;
  auto add = [&words](std::uint32_t word) { words += std::to_string(word) + ","; };
  std::uint32_t out[4];
  cpuid(0, 0, out);
  const std::uint32_t leaves = out[0];
  cpuid(1, 0, out);
  constexpr std::uint32_t kOsxsave = 1u << 27;
  add(out[0]), add(out[2]), add(out[3]);  // ebx holds the core's number
  if (out[2] & kOsxsave) {
    std::uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    add(low), add(high);
  }
  if (leaves >= 7)
    for (std::uint32_t subleaf = 0; subleaf < 2; ++subleaf) {
      cpuid(7, subleaf, out);
      for (std::uint32_t word : out) add(word);
    }
  cpuid(0x80000001, 0, out);
  add(out[2]), add(out[3]);
  return words;
}

}  // namespace

const std::string &cpuFeatureWords() {
  static const auto &words = *new std::string(readFeatureWords());
  return words;
}

static bool has(Simd simd) { return simd == Simd::avx512 ? hasAvx512() : simd == Simd::avx2 ? hasAvx2() : true; }

Result<Simd> hostSimd() {
  __builtin_cpu_init();
  const std::string &wanted = knobs::get().STRATA_SIMD;
  if (wanted == "auto") return has(Simd::avx512) ? Simd::avx512 : has(Simd::avx2) ? Simd::avx2 : Simd::portable;
  const SimdLevel *level = levelOf(std::string_view(wanted));
  if (!level) return internalError("a SIMD target '" + wanted + "' that base/knobs.def does not allow");
  if (has(level->simd)) return level->simd;
  return environmentError("STRATA_SIMD=" + wanted + ": this CPU or its system does not support it");
}

}  // namespace strata::simt
