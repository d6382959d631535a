// SPDX-License-Identifier: Apache-2.0
// The SIMD targets and what code is made for them: the rows of simd_levels.def.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace strata::simt {

enum class Simd : std::uint32_t {
#define SIMD_LEVEL(id, ...) id,
#include "simt/target/simd_levels.def"
#undef SIMD_LEVEL
};

// The columns, as simd_levels.def explains them.
struct SimdLevel {
  Simd simd;
  const char *name, *cpu;
  unsigned registerBytes, registers;
  bool masked;
  unsigned widestGap;
  unsigned spreadWord, spreadByte;

  unsigned spreadCost(unsigned elementBytes) const { return elementBytes >= 4 ? spreadWord : spreadByte; }
};

inline constexpr SimdLevel kSimdLevels[] = {
#define SIMD_LEVEL(id, cpu, registerBytes, registers, masked, gap, spreadWord, spreadByte) \
  {Simd::id, #id, cpu, registerBytes, registers, masked, gap, spreadWord, spreadByte},
#include "simt/target/simd_levels.def"
#undef SIMD_LEVEL
};
inline constexpr Simd kLeastSimd = std::begin(kSimdLevels)->simd, kMostSimd = (std::end(kSimdLevels) - 1)->simd;

constexpr const SimdLevel &levelOf(Simd simd) { return kSimdLevels[static_cast<std::uint32_t>(simd)]; }

// Null: there is none of this name.
constexpr const SimdLevel *levelOf(std::string_view name) {
  for (const SimdLevel &level : kSimdLevels)
    if (name == level.name) return &level;
  return nullptr;
}

}  // namespace strata::simt
