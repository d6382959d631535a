// SPDX-License-Identifier: Apache-2.0
// PTX's fundamental types, state spaces, special registers, opcodes and modifiers as enums. The lists
// of opcodes and modifiers are X-macros (ptx/isa/opcodes.def, ptx/isa/modifiers.def).
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  u16x2,
  s8,
  s16,
  s32,
  s64,
  s16x2,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  s4,
  u4,
  b1,
  s2,
  u2,
  texref,
  samplerref,
  surfref,
};
std::uint32_t bitWidth(Type type);  // 1 for pred, 0 for none
std::uint32_t byteSize(Type type);  // storage; 1 for pred
std::string_view name(Type type);   // "f32", no dot

enum class Space : std::uint8_t { generic, reg, sreg, const_, global, local, param, shared, tex };
std::string_view name(Space space);

// Special registers, `%tid.x` one enumerator per component.
enum class SpecialRegister : std::uint8_t {
#define PTX_SPECIAL(id, text, type) id,
#include "ptx/isa/special_registers.def"
#undef PTX_SPECIAL
};
std::string_view name(SpecialRegister special);
Type typeOf(SpecialRegister special);

enum class Opcode : std::uint16_t {
#define PTX_OPCODE(id, text) id,
#include "ptx/isa/opcodes.def"
#undef PTX_OPCODE
};
std::string_view name(Opcode opcode);

enum class Mod : std::uint16_t {
#define PTX_MOD(id, text) id,
#include "ptx/isa/modifiers.def"
#undef PTX_MOD
};
std::string_view name(Mod mod);

}  // namespace strata::ptx
