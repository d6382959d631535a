// SPDX-License-Identifier: Apache-2.0
// The vocabulary in which meanings are written: short forms over LaneBuilder that several families share.
#pragma once

#include <array>
#include <vector>

#include "ptx/isa/form.h"
#include "ptx/lane_builder.h"

namespace strata::ptx {

inline bool isSigned(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64 || type == Type::s16x2;
}
inline bool isFloat(ScalarType type) { return type >= ScalarType::f16; }
inline unsigned bitsOf(ScalarType type) {
  constexpr unsigned bits[] = {1, 8, 16, 32, 64, 128, 16, 16, 32, 64};
  return bits[static_cast<unsigned>(type)];
}
inline ScalarType integerOf(unsigned bits) {
  switch (bits) {
    case 1: return ScalarType::i1;
    case 8: return ScalarType::i8;
    case 16: return ScalarType::i16;
    case 32: return ScalarType::i32;
    case 64: return ScalarType::i64;
    default: return ScalarType::i128;
  }
}

inline Value i32(LaneBuilder &b, std::uint32_t value) { return b.constant(ScalarType::i32, value); }
inline Value like(LaneBuilder &b, Value v, std::uint64_t bits) { return b.constant(b.typeOf(v), bits); }
// Zero-, sign-extends or cuts an integer to a width.
inline Value resize(LaneBuilder &b, Value v, ScalarType to, bool isSigned) {
  unsigned from = bitsOf(b.typeOf(v)), want = bitsOf(to);
  if (from == want) return v;
  if (from > want) return b.trunc(v, to);
  return isSigned ? b.sext(v, to) : b.zext(v, to);
}

inline Value add(LaneBuilder &b, Value x, Value y) { return b.integer(IntOp::add, x, y); }
inline Value sub(LaneBuilder &b, Value x, Value y) { return b.integer(IntOp::sub, x, y); }
inline Value mul(LaneBuilder &b, Value x, Value y) { return b.integer(IntOp::mul, x, y); }
inline Value bitAnd(LaneBuilder &b, Value x, Value y) { return b.integer(IntOp::and_, x, y); }
inline Value bitOr(LaneBuilder &b, Value x, Value y) { return b.integer(IntOp::or_, x, y); }
inline Value bitXor(LaneBuilder &b, Value x, Value y) { return b.integer(IntOp::xor_, x, y); }
inline Value bitNot(LaneBuilder &b, Value x) { return b.unary(Unary::not_, x); }
inline Value minimum(LaneBuilder &b, Value x, Value y, bool isSigned) {
  return b.integer(isSigned ? IntOp::smin : IntOp::umin, x, y);
}
inline Value maximum(LaneBuilder &b, Value x, Value y, bool isSigned) {
  return b.integer(isSigned ? IntOp::smax : IntOp::umax, x, y);
}
inline Value equal(LaneBuilder &b, Value x, Value y) { return b.compare(Compare::eq, x, y); }

// ---- Floating point --------------------------------------------------------------------------------

// .rn .rz .rm .rp (and the integral .rni …, .rna); nearest-even if none is written.
Rounding roundingOf(const Instruction &i);
// .ftz
Value flush(LaneBuilder &b, const Instruction &i, Value v);
// Clamp to [0, 1]; NaN becomes +0.
Value saturate(LaneBuilder &b, Value v);
Value canonicalNan(LaneBuilder &b, ScalarType type);
// A float constant of any scalar type from a value that all of them hold exactly.
Value floatConstant(LaneBuilder &b, ScalarType type, float value);
inline Value isNan(LaneBuilder &b, Value v) { return b.fcompare(FCompare::nan, v, v); }

// ---- Packed types ----------------------------------------------------------------------------------

Type elementType(Type packed);  // f16x2 -> f16; a scalar type is its own element
unsigned elementCount(Type packed);
std::vector<Value> unpack(LaneBuilder &b, Value packed, Type type);
Value pack(LaneBuilder &b, const std::vector<Value> &elements, Type type);

// Applies fn(elements of operands 1, 2, …) to each element of `type` and writes operand 0.
template <unsigned inputs, class Fn>
void elementwise(LaneBuilder &b, const Instruction &i, Type type, Fn fn) {
  std::array<std::vector<Value>, inputs> in;
  for (unsigned k = 0; k < inputs; ++k) in[k] = unpack(b, b.operand(i, k + 1, type), type);
  std::vector<Value> out;
  for (unsigned e = 0; e < elementCount(type); ++e) {
    std::array<Value, inputs> values;
    for (unsigned k = 0; k < inputs; ++k) values[k] = in[k][e];
    out.push_back(fn(values));
  }
  b.define(i, 0, pack(b, out, type), type);
}

// ---- d and d|p ---------------------------------------------------------------------------------------

// Operand 0, whether it stands alone or as the first of a pair.
inline void defineFirst(LaneBuilder &b, const Instruction &i, Value v, Type type) {
  if (i.operands[0].kind != Operand::Kind::pair) b.define(i, 0, v, type);
  else if (b.wants(i, 0, 0)) b.defineElement(i, 0, 0, v, type);
}
inline bool wantsSecond(LaneBuilder &b, const Instruction &i) {
  return i.operands[0].kind == Operand::Kind::pair && b.wants(i, 0, 1);
}
inline void defineSecond(LaneBuilder &b, const Instruction &i, Value predicate) {
  if (wantsSecond(b, i)) b.defineElement(i, 0, 1, predicate, Type::pred);
}

// Memory order, scope and hints of an instruction by its modifiers.
Access accessOf(const Instruction &i);
// The state space of a .space modifier; generic if there is none.
Space spaceOf(const Instruction &i);

// A hint, or a form that has nothing to do on this machine.
inline void nothing(LaneBuilder &, const Instruction &) {}

}  // namespace strata::ptx
