// SPDX-License-Identifier: Apache-2.0
// Names of types, spaces, special registers, opcodes and modifiers; widths of types.
#include <array>

#include "ptx/lane_builder.h"
#include "ptx/types.h"

namespace strata::ptx {
namespace {

struct TypeRow {
  std::string_view text;
  std::uint16_t bits;
};
// In the order of enum Type.
constexpr TypeRow kTypes[] = {
    {"none", 0},    {"pred", 1},   {"b8", 8},      {"b16", 16},    {"b32", 32},        {"b64", 64},     {"b128", 128},
    {"u8", 8},      {"u16", 16},   {"u32", 32},    {"u64", 64},    {"u16x2", 32},      {"s8", 8},       {"s16", 16},
    {"s32", 32},    {"s64", 64},   {"s16x2", 32},  {"f16", 16},    {"f16x2", 32},      {"bf16", 16},    {"bf16x2", 32},
    {"tf32", 32},   {"f32", 32},   {"f32x2", 64},  {"f64", 64},    {"e4m3", 8},        {"e5m2", 8},     {"e4m3x2", 16},
    {"e5m2x2", 16}, {"e2m1x2", 8}, {"e2m3x2", 16}, {"e3m2x2", 16}, {"ue8m0x2", 16},    {"s4", 4},       {"u4", 4},
    {"b1", 1},      {"s2", 2},     {"u2", 2},      {"texref", 64}, {"samplerref", 64}, {"surfref", 64},
};
static_assert(std::size(kTypes) == static_cast<std::size_t>(Type::surfref) + 1);

struct SpecialRow {
  std::string_view text;
  Type type;
};
constexpr SpecialRow kSpecials[] = {
#define PTX_SPECIAL(id, text, type) {text, Type::type},
#include "ptx/isa/special_registers.def"
#undef PTX_SPECIAL
};

constexpr std::string_view kOpcodes[] = {
#define PTX_OPCODE(id, text) text,
#include "ptx/isa/opcodes.def"
#undef PTX_OPCODE
};

constexpr std::string_view kMods[] = {
#define PTX_MOD(id, text) text,
#include "ptx/isa/modifiers.def"
#undef PTX_MOD
};

constexpr std::string_view kSpaces[] = {"generic", "reg", "sreg", "const", "global", "local", "param", "shared", "tex"};

}  // namespace

std::uint32_t bitWidth(Type type) { return kTypes[static_cast<std::size_t>(type)].bits; }
std::uint32_t byteSize(Type type) { return type == Type::none ? 0 : (bitWidth(type) + 7) / 8; }
std::string_view name(Type type) { return kTypes[static_cast<std::size_t>(type)].text; }
std::string_view name(Space space) { return kSpaces[static_cast<std::size_t>(space)]; }
std::string_view name(SpecialRegister special) { return kSpecials[static_cast<std::size_t>(special)].text; }
Type typeOf(SpecialRegister special) { return kSpecials[static_cast<std::size_t>(special)].type; }
std::string_view name(Opcode opcode) { return kOpcodes[static_cast<std::size_t>(opcode)]; }
std::string_view name(Mod mod) { return kMods[static_cast<std::size_t>(mod)]; }

ScalarType scalarType(Type type) {
  switch (type) {
    case Type::f16: return ScalarType::f16;
    case Type::bf16: return ScalarType::bf16;
    case Type::f32:
    case Type::tf32: return ScalarType::f32;
    case Type::f64: return ScalarType::f64;
    default: break;
  }
  switch (bitWidth(type)) {
    case 1: return ScalarType::i1;
    case 16: return ScalarType::i16;
    case 32: return ScalarType::i32;
    case 64: return ScalarType::i64;
    case 128: return ScalarType::i128;
    default: return ScalarType::i8;  // b8 and the types narrower than a byte
  }
}

}  // namespace strata::ptx
