// SPDX-License-Identifier: Apache-2.0
#include "ptx/isa/lane.h"

#include <bit>

namespace strata::ptx {

Rounding roundingOf(const Instruction &i) {
  for (Mod mod : i.modifiers) switch (mod) {
      case Mod::rn:
      case Mod::rni: return Rounding::nearestEven;
      case Mod::rz:
      case Mod::rzi: return Rounding::zero;
      case Mod::rm:
      case Mod::rmi: return Rounding::down;
      case Mod::rp:
      case Mod::rpi: return Rounding::up;
      case Mod::rna: return Rounding::nearestAway;
      default: break;
    }
  return Rounding::nearestEven;
}

Value flush(LaneBuilder &b, const Instruction &i, Value v) { return i.has(Mod::ftz) ? b.flushSubnormal(v) : v; }

Value saturate(LaneBuilder &b, Value v) {
  ScalarType type = b.typeOf(v);
  Value zero = floatConstant(b, type, 0.0f), one = floatConstant(b, type, 1.0f);
  Value positive = b.select(b.fcompare(FCompare::ogt, v, zero), v, zero);  // NaN, -0 and less: +0
  return b.select(b.fcompare(FCompare::olt, positive, one), positive, one);
}

Value canonicalNan(LaneBuilder &b, ScalarType type) {
  switch (type) {
    case ScalarType::f64: return b.constant(type, 0x7fffffffffffffffull);
    case ScalarType::f32: return b.constant(type, 0x7fffffff);
    default: return b.constant(type, 0x7fff);
  }
}

Value floatConstant(LaneBuilder &b, ScalarType type, float value) {
  switch (type) {
    case ScalarType::f64: return b.constant(type, std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    case ScalarType::f32: return b.constant(type, std::bit_cast<std::uint32_t>(value));
    case ScalarType::bf16: return b.constant(type, std::bit_cast<std::uint32_t>(value) >> 16);
    default: break;
  }
  // f16: values used here are 0 and small powers of two.
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t exponent = (bits >> 23 & 0xff);
  std::uint32_t half = exponent == 0 ? 0 : ((exponent - 112) << 10) | (bits >> 13 & 0x3ff);
  return b.constant(type, (bits >> 16 & 0x8000) | half);
}

Type elementType(Type packed) {
  switch (packed) {
    case Type::f16x2: return Type::f16;
    case Type::bf16x2: return Type::bf16;
    case Type::f32x2: return Type::f32;
    case Type::u16x2: return Type::u16;
    case Type::s16x2: return Type::s16;
    default: return packed;
  }
}

unsigned elementCount(Type packed) { return elementType(packed) == packed ? 1 : 2; }

std::vector<Value> unpack(LaneBuilder &b, Value packed, Type type) {
  Type element = elementType(type);
  if (element == type) return {packed};
  unsigned bits = bitWidth(element);
  std::vector<Value> parts;
  for (unsigned e = 0; e < 2; ++e) {
    Value part = e ? b.shift(ShiftOp::lshr, packed, i32(b, bits)) : packed;
    parts.push_back(b.bitcast(b.trunc(part, integerOf(bits)), scalarType(element)));
  }
  return parts;
}

Value pack(LaneBuilder &b, const std::vector<Value> &elements, Type type) {
  Type element = elementType(type);
  if (element == type) return elements[0];
  unsigned bits = bitWidth(element);
  Value low = b.zext(b.bitcast(elements[0], integerOf(bits)), integerOf(2 * bits));
  Value high = b.zext(b.bitcast(elements[1], integerOf(bits)), integerOf(2 * bits));
  return bitOr(b, low, b.shift(ShiftOp::shl, high, i32(b, bits)));
}

}  // namespace strata::ptx
