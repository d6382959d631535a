// SPDX-License-Identifier: Apache-2.0
// cvt between all scalar types, packing conversions, 8-bit floats.
//
// Rules beside the obvious: .ftz concerns f32 inputs and results only. A float becomes an integer by
// rounding and clamping to its range; NaN becomes 0, except that from f64 or to 64 bits it becomes the
// value with only the top bit set. .sat clamps to the result's range, for floats to [0, 1] with NaN to 0.
#include <algorithm>

#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

Value flushF32(LaneBuilder &b, const Instruction &i, Value v) {
  return b.typeOf(v) == ScalarType::f32 ? flush(b, i, v) : v;
}

void intToInt(LaneBuilder &b, const Instruction &i) {
  Type to = i.type(0), from = i.type(1);
  Value v = b.operand(i, 1, from);
  if (i.has(Mod::sat)) {
    // Clamp in 128 bits' worth of room: compare in the wider type, where both ranges are exact.
    unsigned bits = bitWidth(to), wide = std::max(bitWidth(from), bits);
    std::uint64_t most = isSigned(to) ? ~0ull >> (65 - bits) : ~0ull >> (64 - bits);
    if (isSigned(from)) {
      // Low end: -2^(n-1), or 0 for an unsigned result. High end: only if the source can exceed it.
      std::uint64_t least = isSigned(to) ? ~most : 0;
      Value x = resize(b, v, integerOf(wide), true);
      if (!isSigned(to) || bits < bitWidth(from)) x = b.integer(IntOp::smax, x, like(b, x, least));
      if (bits < bitWidth(from)) x = b.integer(IntOp::smin, x, like(b, x, most));
      v = x;
    } else if (bits < bitWidth(from) || (isSigned(to) && bits == bitWidth(from))) {
      v = b.integer(IntOp::umin, v, like(b, v, most));
    }
  }
  b.define(i, 0, resize(b, v, scalarType(to), isSigned(from)), to);
}

void intToFloat(LaneBuilder &b, const Instruction &i) {
  Type to = i.type(0), from = i.type(1);
  Value r = b.intToFloat(b.operand(i, 1, from), scalarType(to), isSigned(from), roundingOf(i));
  b.define(i, 0, i.has(Mod::sat) ? saturate(b, r) : r, to);
}

void floatToInt(LaneBuilder &b, const Instruction &i) {
  Type to = i.type(0), from = i.type(1);
  Value v = flushF32(b, i, b.operand(i, 1, from));
  Value r = b.floatToInt(v, scalarType(to), isSigned(to), roundingOf(i));
  bool zero = from != Type::f64 && bitWidth(to) < 64;
  Value ofNan = like(b, r, zero ? 0 : 1ull << (bitWidth(to) - 1));
  b.define(i, 0, b.select(isNan(b, v), ofNan, r), to);
}

Value clampToFinite(LaneBuilder &b, Value v, Type to) {
  std::uint64_t largest = to == Type::bf16 ? 0x7f7f : 0x7bff;  // bf16, f16
  Value infinite = b.fcompare(FCompare::oeq, b.fabs(v), like(b, v, to == Type::bf16 ? 0x7f80 : 0x7c00));
  return b.select(infinite, b.copysign(like(b, v, largest), v), v);
}

// One value to a narrower or equal float type, with all that cvt may ask for.
Value narrow(LaneBuilder &b, const Instruction &i, Value v, Type to) {
  ScalarType target = scalarType(to);
  v = flushF32(b, i, v);
  Value r = b.floatToFloat(v, target, roundingOf(i));
  if (i.has(Mod::satfinite)) r = clampToFinite(b, r, to);
  if (i.has(Mod::relu)) r = b.select(b.fcompare(FCompare::ogt, r, like(b, r, 0)), r, like(b, r, 0));
  if (target == ScalarType::f16 || target == ScalarType::bf16 || i.has(Mod::relu))
    r = b.select(isNan(b, v), canonicalNan(b, target), r);
  r = flushF32(b, i, r);
  return i.has(Mod::sat) ? saturate(b, r) : r;
}
void floatToFloat(LaneBuilder &b, const Instruction &i) {
  b.define(i, 0, narrow(b, i, b.operand(i, 1, i.type(1)), i.type(0)), i.type(0));
}
// Same type on both sides: rounds to an integral value if .rni, .rzi, … is written.
void roundFloat(LaneBuilder &b, const Instruction &i) {
  Value v = flushF32(b, i, b.operand(i, 1, i.type(1)));
  if (i.has(Mod::rni) || i.has(Mod::rzi) || i.has(Mod::rmi) || i.has(Mod::rpi)) v = b.roundToIntegral(v, roundingOf(i));
  b.define(i, 0, i.has(Mod::sat) ? saturate(b, v) : v, i.type(0));
}

// d = {a high, b low}
void narrowPair(LaneBuilder &b, const Instruction &i) {
  Type packed = i.type(0), element = elementType(packed);
  Value high = narrow(b, i, b.operand(i, 1, Type::f32), element),
        low = narrow(b, i, b.operand(i, 2, Type::f32), element);
  b.define(i, 0, pack(b, {low, high}, packed), packed);
}

// tf32 is f32 with 10 bits of mantissa; the rest of the word is zero.
void toTf32(LaneBuilder &b, const Instruction &i) {
  Value v = b.operand(i, 1, Type::f32), bits = b.bitcast(v, ScalarType::i32);
  Value bias = i32(b, 0);
  if (i.has(Mod::rna)) bias = i32(b, 0x1000);
  if (i.has(Mod::rn)) bias = add(b, i32(b, 0xfff), bitAnd(b, b.shift(ShiftOp::lshr, bits, i32(b, 13)), i32(b, 1)));
  Value rounded = bitAnd(b, add(b, bits, bias), i32(b, ~0x1fffu));
  Value magnitude = bitAnd(b, bits, i32(b, 0x7fffffff));
  rounded = b.select(b.compare(Compare::uge, magnitude, i32(b, 0x7f800000)), bits, rounded);  // infinities stay
  if (i.has(Mod::satfinite)) {
    Value sign = bitAnd(b, bits, i32(b, 0x80000000u));
    Value over = b.compare(Compare::ugt, bitAnd(b, rounded, i32(b, 0x7fffffff)), i32(b, 0x7f7fe000));
    rounded = b.select(over, bitOr(b, sign, i32(b, 0x7f7fe000)), rounded);
  }
  if (i.has(Mod::relu)) rounded = b.select(b.compare(Compare::slt, bits, i32(b, 0)), i32(b, 0), rounded);
  b.define(i, 0, b.select(isNan(b, v), i32(b, 0x7fffffff), rounded), Type::b32);
}

// ---- 8-bit floats ------------------------------------------------------------------------------------

struct Narrow {
  unsigned mantissa;  // bits
  int bias;
  std::uint32_t most;  // largest finite magnitude
};
constexpr Narrow kE4m3{3, 7, 0x7e}, kE5m2{2, 15, 0x7b};
Narrow layoutOf(Type type) { return type == Type::e5m2x2 ? kE5m2 : kE4m3; }

// f32 to an 8-bit float in the low bits of an i32: nearest even, clamped to the largest finite value, NaN
// to 0x7f. Normal results round by carrying into the cut bits; subnormal ones by adding a power of two
// whose last place is the smallest subnormal.
Value toNarrow(LaneBuilder &b, const Instruction &i, Value v, Narrow to) {
  unsigned cut = 23 - to.mantissa;
  Value bits = b.bitcast(v, ScalarType::i32);
  Value sign = bitAnd(b, b.shift(ShiftOp::lshr, bits, i32(b, 24)), i32(b, 0x80));
  Value magnitude = bitAnd(b, bits, i32(b, 0x7fffffff));
  Value lastBit = bitAnd(b, b.shift(ShiftOp::lshr, magnitude, i32(b, cut)), i32(b, 1));
  Value rounded =
      b.shift(ShiftOp::lshr, add(b, add(b, magnitude, i32(b, (1u << (cut - 1)) - 1)), lastBit), i32(b, cut));
  Value normal = sub(b, rounded, i32(b, static_cast<std::uint32_t>(127 - to.bias) << to.mantissa));
  std::uint32_t magic = static_cast<std::uint32_t>(127 + 1 - to.bias + 23 - static_cast<int>(to.mantissa)) << 23;
  Value shifted = b.floating(FloatOp::add, b.bitcast(magnitude, ScalarType::f32), b.constant(ScalarType::f32, magic));
  Value subnormal = sub(b, b.bitcast(shifted, ScalarType::i32), i32(b, magic));
  Value isNormal = b.compare(Compare::uge, magnitude, i32(b, static_cast<std::uint32_t>(127 + 1 - to.bias) << 23));
  Value r = b.integer(IntOp::umin, b.select(isNormal, normal, subnormal), i32(b, to.most));
  r = bitOr(b, r, sign);
  if (i.has(Mod::relu)) r = b.select(b.compare(Compare::slt, bits, i32(b, 0)), i32(b, 0), r);
  return b.select(b.compare(Compare::ugt, magnitude, i32(b, 0x7f800000)), i32(b, 0x7f), r);
}
void defineNarrowPair(LaneBuilder &b, const Instruction &i, Value high, Value low) {
  Narrow to = layoutOf(i.type(0));
  Value word = bitOr(b, b.shift(ShiftOp::shl, toNarrow(b, i, high, to), i32(b, 8)), toNarrow(b, i, low, to));
  b.define(i, 0, b.trunc(word, ScalarType::i16), Type::b16);
}
void floatsToNarrow(LaneBuilder &b, const Instruction &i) {
  defineNarrowPair(b, i, b.operand(i, 1, Type::f32), b.operand(i, 2, Type::f32));
}
void halvesToNarrow(LaneBuilder &b, const Instruction &i) {
  std::vector<Value> halves = unpack(b, b.operand(i, 1, Type::f16x2), Type::f16x2);
  defineNarrowPair(b, i, b.floatToFloat(halves[1], ScalarType::f32), b.floatToFloat(halves[0], ScalarType::f32));
}
// An 8-bit float's exponent and mantissa at the place of f16's, then scaled by the difference in bias; exact.
Value fromNarrow(LaneBuilder &b, const Instruction &i, Value byte, Type from) {
  Value magnitude = bitAnd(b, byte, like(b, byte, 0x7f)),
        sign = b.shift(ShiftOp::shl, bitAnd(b, byte, like(b, byte, 0x80)), i32(b, 8));
  bool e5m2 = from == Type::e5m2x2;
  Value r = b.bitcast(b.shift(ShiftOp::shl, magnitude, i32(b, e5m2 ? 8 : 7)), ScalarType::f16);
  if (!e5m2) r = b.floating(FloatOp::mul, r, floatConstant(b, ScalarType::f16, 256.0f));
  r = b.bitcast(bitOr(b, b.bitcast(r, ScalarType::i16), sign), ScalarType::f16);
  if (i.has(Mod::relu)) r = b.select(b.fcompare(FCompare::ogt, r, like(b, r, 0)), r, like(b, r, 0));
  Value nan = b.compare(Compare::ugt, magnitude, like(b, byte, e5m2 ? 0x7c : 0x7e));
  return b.select(nan, canonicalNan(b, ScalarType::f16), r);
}
void narrowToHalves(LaneBuilder &b, const Instruction &i) {
  Value word = b.operand(i, 1, Type::b16);
  Value low = fromNarrow(b, i, bitAnd(b, word, like(b, word, 0xff)), i.type(1));
  Value high = fromNarrow(b, i, b.shift(ShiftOp::lshr, word, i32(b, 8)), i.type(1));
  b.define(i, 0, pack(b, {low, high}, Type::f16x2), Type::f16x2);
}

// cvt.pack: two s32 clamped to the narrow type, above the low part of c if there is one.
void packIntegers(LaneBuilder &b, const Instruction &i) {
  Type to = i.type(0);
  bool isSignedResult = to == Type::s16 || to == Type::s8 || to == Type::s4 || to == Type::s2;
  unsigned bits = bitWidth(to);
  std::uint32_t most = isSignedResult ? (1u << (bits - 1)) - 1 : (1u << bits) - 1;
  std::uint32_t least = isSignedResult ? ~most : 0;
  auto clamped = [&](unsigned index) {
    Value v = b.operand(i, index, Type::s32);
    v = b.integer(IntOp::smin, b.integer(IntOp::smax, v, i32(b, least)), i32(b, most));
    return bitAnd(b, v, i32(b, (1u << bits) - 1));
  };
  Value d = bitOr(b, b.shift(ShiftOp::shl, clamped(1), i32(b, bits)), clamped(2));
  if (i.operands.size() == 4) d = bitOr(b, b.shift(ShiftOp::shl, b.operand(i, 3, Type::b32), i32(b, 2 * bits)), d);
  b.define(i, 0, d, Type::b32);
}

#define INTS "u8 u16 u32 u64 s8 s16 s32 s64"
constexpr auto kCvt = "data-movement-and-conversion-instructions-cvt";
constexpr auto kPack = "data-movement-and-conversion-instructions-cvt-pack";
constexpr State run = State::executes;
constexpr State parsed = State::parsesOnly;

constexpr Form kForms[] = {
    {"cvt{.sat}.dtype.atype d, a", "dtype = " INTS "; atype = " INTS "; d: dtype wide; a: atype wide special",
     ptx(1, 0), sm(0), pure, run, intToInt, kCvt},
    {"cvt.rnd{.sat}.f16.atype d, a", "rnd = rn rz rm rp; atype = " INTS "; d: f16 wide; a: atype wide", ptx(1, 0),
     sm(0), pure, run, intToFloat, kCvt},
    {"cvt.rnd{.ftz}{.sat}.f32.atype d, a", "rnd = rn rz rm rp; atype = " INTS "; d: f32 wide; a: atype wide", ptx(1, 0),
     sm(0), pure, run, intToFloat, kCvt},
    {"cvt.rnd{.sat}.f64.atype d, a", "rnd = rn rz rm rp; atype = " INTS "; d: f64 wide; a: atype wide", ptx(1, 0),
     sm(13), pure, run, intToFloat, kCvt},
    {"cvt.rnd.bf16.atype d, a", "rnd = rn rz rm rp; atype = u16 u32 u64 s16 s32 s64; d: bf16 wide; a: atype wide",
     ptx(7, 8), sm(90), pure, run, intToFloat, kCvt},
    {"cvt.rnd{.sat}.dtype.f16 d, a", "rnd = rni rzi rmi rpi; dtype = " INTS "; d: dtype wide; a: f16 wide", ptx(1, 0),
     sm(0), pure, run, floatToInt, kCvt},
    {"cvt.rnd{.ftz}{.sat}.dtype.f32 d, a", "rnd = rni rzi rmi rpi; dtype = " INTS "; d: dtype wide; a: f32 wide",
     ptx(1, 0), sm(0), pure, run, floatToInt, kCvt},
    {"cvt.rnd{.sat}.dtype.f64 d, a", "rnd = rni rzi rmi rpi; dtype = " INTS "; d: dtype wide; a: f64 wide", ptx(1, 0),
     sm(13), pure, run, floatToInt, kCvt},
    {"cvt.rnd.dtype.bf16 d, a", "rnd = rni rzi rmi rpi; dtype = u16 u32 u64 s16 s32 s64; d: dtype wide; a: bf16 wide",
     ptx(7, 8), sm(90), pure, run, floatToInt, kCvt},

    {"cvt.rnd{.ftz}{.sat}.f16.f32 d, a", "rnd = rn rz rm rp; d: f16 wide; a: f32 wide", ptx(1, 0), sm(0), pure, run,
     floatToFloat, kCvt},
    {"cvt.rnd{.sat}.f16.f64 d, a", "rnd = rn rz rm rp; d: f16 wide; a: f64 wide", ptx(1, 0), sm(13), pure, run,
     floatToFloat, kCvt},
    {"cvt.rnd{.ftz}{.sat}.f32.f64 d, a", "rnd = rn rz rm rp; d: f32 wide; a: f64 wide", ptx(1, 0), sm(13), pure, run,
     floatToFloat, kCvt},
    {"cvt{.ftz}{.sat}.f32.f16 d, a", "d: f32 wide; a: f16 wide", ptx(1, 0), sm(0), pure, run, floatToFloat, kCvt},
    {"cvt{.ftz}{.sat}.f64.f32 d, a", "d: f64 wide; a: f32 wide", ptx(1, 0), sm(13), pure, run, floatToFloat, kCvt},
    {"cvt{.sat}.f64.f16 d, a", "d: f64 wide; a: f16 wide", ptx(1, 0), sm(13), pure, run, floatToFloat, kCvt},
    {"cvt{.rnd}{.ftz}{.sat}.f32.f32 d, a", "rnd = rni rzi rmi rpi; d: f32 wide; a: f32 wide", ptx(1, 0), sm(0), pure,
     run, roundFloat, kCvt},
    {"cvt{.rnd}{.sat}.f16.f16 d, a", "rnd = rni rzi rmi rpi; d: f16 wide; a: f16 wide", ptx(1, 0), sm(0), pure, run,
     roundFloat, kCvt},
    {"cvt{.rnd}{.sat}.f64.f64 d, a", "rnd = rni rzi rmi rpi; d: f64 wide; a: f64 wide", ptx(1, 0), sm(13), pure, run,
     roundFloat, kCvt},
    {"cvt.rnd{.relu}{.satfinite}.dtype.f32 d, a", "rnd = rn rz; dtype = f16 bf16; d: dtype wide; a: f32 wide",
     ptx(7, 0), sm(80), pure, run, floatToFloat, kCvt},
    {"cvt.rnd{.relu}{.satfinite}.dtype.f32 d, a, b", "rnd = rn rz; dtype = f16x2 bf16x2; a: f32; b: f32", ptx(7, 0),
     sm(80), pure, run, narrowPair, kCvt},
    {"cvt.rnd.bf16.atype d, a", "rnd = rm rp; atype = f32; d: bf16 wide; a: f32 wide", ptx(7, 8), sm(90), pure, run,
     floatToFloat, kCvt},
    {"cvt.rnd.bf16.atype d, a", "rnd = rn rz rm rp; atype = f16 f64; d: bf16 wide; a: atype wide", ptx(7, 8), sm(90),
     pure, run, floatToFloat, kCvt},
    {"cvt.f32.bf16 d, a", "d: f32 wide; a: bf16 wide", ptx(7, 1), sm(80), pure, run, floatToFloat, kCvt},
    {"cvt.f64.bf16 d, a", "d: f64 wide; a: bf16 wide", ptx(7, 8), sm(90), pure, run, floatToFloat, kCvt},
    {"cvt.rnd.f16.bf16 d, a", "rnd = rn rz rm rp; d: f16 wide; a: bf16 wide", ptx(7, 8), sm(90), pure, run,
     floatToFloat, kCvt},
    {"cvt{.rnd}.bf16.bf16 d, a", "rnd = rni rzi rmi rpi; d: bf16 wide; a: bf16 wide", ptx(7, 8), sm(90), pure, run,
     roundFloat, kCvt},
    {"cvt.rna{.satfinite}.tf32.f32 d, a", "d: b32; a: f32", ptx(7, 0), sm(80), pure, run, toTf32, kCvt},
    {"cvt.rnd{.relu}.tf32.f32 d, a", "rnd = rn rz; d: b32; a: f32", ptx(7, 8), sm(90), pure, run, toTf32, kCvt},
    {"cvt.rnd.satfinite{.relu}.tf32.f32 d, a", "rnd = rn rz; d: b32; a: f32", ptx(8, 6), sm(100), pure, run, toTf32,
     kCvt},

    {"cvt.rn.satfinite{.relu}.dtype.f32 d, a, b", "dtype = e4m3x2 e5m2x2; d: b16; a: f32; b: f32", ptx(7, 8), sm(89),
     pure, run, floatsToNarrow, kCvt},
    {"cvt.rn.satfinite{.relu}.dtype.f16x2 d, a", "dtype = e4m3x2 e5m2x2; d: b16; a: f16x2", ptx(7, 8), sm(89), pure,
     run, halvesToNarrow, kCvt},
    {"cvt.rn{.relu}.f16x2.atype d, a", "atype = e4m3x2 e5m2x2; d: f16x2; a: b16", ptx(7, 8), sm(89), pure, run,
     narrowToHalves, kCvt},
    {"cvt.rn.satfinite{.relu}.e2m1x2.f32 d, a, b", "d: b8; a: f32; b: f32", ptx(8, 6), arch(100), pure, parsed, nullptr,
     kCvt},
    {"cvt.rn.satfinite{.relu}.dtype.f32 d, a, b", "dtype = e2m3x2 e3m2x2; d: b16; a: f32; b: f32", ptx(8, 6), arch(100),
     pure, parsed, nullptr, kCvt},
    {"cvt.rn{.relu}.f16x2.e2m1x2 d, a", "d: f16x2; a: b8", ptx(8, 6), arch(100), pure, parsed, nullptr, kCvt},
    {"cvt.rn{.relu}.f16x2.atype d, a", "atype = e2m3x2 e3m2x2; d: f16x2; a: b16", ptx(8, 6), arch(100), pure, parsed,
     nullptr, kCvt},
    {"cvt.rnd{.satfinite}.ue8m0x2.f32 d, a, b", "rnd = rz rp; d: b16; a: f32; b: f32", ptx(8, 6), arch(100), pure,
     parsed, nullptr, kCvt},
    {"cvt.rnd{.satfinite}.ue8m0x2.bf16x2 d, a", "rnd = rz rp; d: b16; a: bf16x2", ptx(8, 6), arch(100), pure, parsed,
     nullptr, kCvt},
    {"cvt.rn.bf16x2.ue8m0x2 d, a", "d: bf16x2; a: b16", ptx(8, 6), arch(100), pure, parsed, nullptr, kCvt},

    {"cvt.pack.sat.dtype.s32 d, a, b", "dtype = u16 s16; d: b32; a: s32; b: s32", ptx(6, 5), sm(72), pure, run,
     packIntegers, kPack},
    {"cvt.pack.sat.dtype.s32.b32 d, a, b, c", "dtype = u8 s8; d: b32; a: s32; b: s32; c: b32", ptx(6, 5), sm(72), pure,
     run, packIntegers, kPack},
    {"cvt.pack.sat.dtype.s32.b32 d, a, b, c", "dtype = u2 s2 u4 s4; d: b32; a: s32; b: s32; c: b32", ptx(6, 5), sm(75),
     pure, run, packIntegers, kPack},
};

#undef INTS

}  // namespace

std::span<const Form> convertForms() { return kForms; }

}  // namespace strata::ptx
