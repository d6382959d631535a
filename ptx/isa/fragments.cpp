// SPDX-License-Identifier: Apache-2.0
#include "ptx/isa/fragments.h"

namespace strata::ptx {

Value fetch(LaneBuilder &b, Value value, Value from) {
  auto word = [&](Value v) {
    return b.intrinsic("shfl.idx", {i32(b, ~0u), v, from, i32(b, 31)}, {ScalarType::i32, ScalarType::i1})[0];
  };
  if (bitsOf(b.typeOf(value)) == 32) return word(value);
  Value low = word(b.trunc(value, ScalarType::i32));
  Value high = word(b.trunc(shiftRight(b, value, 32), ScalarType::i32));
  return bitOr(b, b.zext(low, ScalarType::i64), shiftLeft(b, b.zext(high, ScalarType::i64), 32));
}

std::vector<Value> elementsOf(LaneBuilder &b, Value reg, Type type) {
  std::vector<Value> elements;
  switch (type) {
    case Type::f64: return {b.bitcast(reg, ScalarType::f64)};
    case Type::tf32: return {b.bitcast(bitAnd(b, reg, i32(b, ~0x1fffu)), ScalarType::f32)};
    case Type::f16:
    case Type::bf16:
      for (Value half : unpack(b, reg, type == Type::f16 ? Type::f16x2 : Type::bf16x2))
        elements.push_back(b.floatToFloat(half, ScalarType::f32));
      return elements;
    default: break;
  }
  unsigned bits = bitWidth(type);
  for (unsigned e = 0; e < 32 / bits; ++e) {
    Value field = shiftRight(b, shiftLeft(b, reg, 32 - bits * (e + 1)), 32 - bits);
    if (isSigned(type) || type == Type::s4)
      field = b.shift(ShiftOp::ashr, shiftLeft(b, field, 32 - bits), i32(b, 32 - bits));
    elements.push_back(b.sext(field, ScalarType::i64));
  }
  return elements;
}

Value multiplyAdd(LaneBuilder &b, Value x, Value y, Value sum) {
  return isFloat(b.typeOf(x)) ? b.fma(x, y, sum) : add(b, mul(b, x, y), sum);
}

std::vector<Value> accumulators(LaneBuilder &b, const Instruction &i, Type type) {
  std::vector<Value> sums;
  for (unsigned k = 0; k < i.operands[3].elements.size(); ++k) {
    if (type == Type::f16) {
      for (Value half : unpack(b, b.element(i, 3, k, Type::b32), Type::f16x2))
        sums.push_back(b.floatToFloat(half, ScalarType::f32));
    } else {
      Value v = b.element(i, 3, k, type);
      sums.push_back(type == Type::s32 ? b.sext(v, ScalarType::i64) : v);
    }
  }
  return sums;
}
void defineResults(LaneBuilder &b, const Instruction &i, Type type, const std::vector<Value> &sums) {
  for (unsigned k = 0; k < i.operands[0].elements.size(); ++k) {
    if (!b.wants(i, 0, k)) continue;
    if (type == Type::f16) {
      std::vector<Value> halves = {b.floatToFloat(sums[2 * k], ScalarType::f16),
                                   b.floatToFloat(sums[2 * k + 1], ScalarType::f16)};
      b.defineElement(i, 0, k, pack(b, halves, Type::f16x2), Type::b32);
    } else if (type == Type::s32) {
      Value v = sums[k];
      if (i.has(Mod::satfinite)) {
        v = b.integer(IntOp::smin, v, b.constant(ScalarType::i64, 0x7fffffff));
        v = b.integer(IntOp::smax, v, b.constant(ScalarType::i64, 0xffffffff80000000ull));
      }
      b.defineElement(i, 0, k, b.trunc(v, ScalarType::i32), Type::s32);
    } else {
      b.defineElement(i, 0, k, sums[k], type);
    }
  }
}

}  // namespace strata::ptx
