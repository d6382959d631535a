// SPDX-License-Identifier: Apache-2.0
// Lane IR's intrinsics and what is true of each: the rows of intrinsics.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simt/abi.h"

namespace strata::simt {

enum class LaneIntrinsic : std::uint8_t {
#define LANE_INTRINSIC(id, ...) id,
#include "simt/intrinsics.def"
#undef LANE_INTRINSIC
  elementwise,   // pure maths: computed in every lane by itself
  laneFunction,  // a function with a body
  unknown,
};

// The columns, as intrinsics.def explains them.
struct IntrinsicRow {
  enum class Group : std::uint8_t { index, collective, barrier, machine, end, check, device, own };
  enum class Result : std::uint8_t { none, lanes, members, warp };
  enum class Effect : std::uint8_t { pure, ordered, memory };
  enum class Waits : std::uint8_t { nobody, warp, block, others };
  LaneIntrinsic id;
  std::string_view name, signature;
  Group group;
  Result result;
  Effect effect;
  Waits waits;
  int kind;  // or -1
  int slot;  // byte in Runtime, or -1
  std::string_view operands;

  // Lanes that call it have to be the same in transformed code.
  constexpr bool isConvergent() const {
    return group == Group::collective || group == Group::barrier || group == Group::machine;
  }
};

inline constexpr IntrinsicRow kIntrinsics[] = {
#define AT(slot) static_cast<int>(offsetof(Runtime, slot))
#define NOWHERE -1
#define LANE_INTRINSIC(id, name, signature, group, result, effect, waits, kind, slot, operands)               \
  {LaneIntrinsic::id,            name, signature, IntrinsicRow::Group::group,   IntrinsicRow::Result::result, \
   IntrinsicRow::Effect::effect, IntrinsicRow::Waits::waits, kind, slot, operands},
#include "simt/intrinsics.def"
#undef LANE_INTRINSIC
#undef NOWHERE
#undef AT
};

// Null for what has no row: elementwise and lane functions, unknown ones.
constexpr const IntrinsicRow *rowOf(LaneIntrinsic id) {
  return id < LaneIntrinsic::elementwise ? &kIntrinsics[static_cast<unsigned>(id)] : nullptr;
}
constexpr const IntrinsicRow *rowOf(std::string_view name) {
  for (const IntrinsicRow &row : kIntrinsics)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace strata::simt
