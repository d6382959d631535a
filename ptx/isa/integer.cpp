// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic and bit fields.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

// d = op(a, b), signed and unsigned variants.
template <IntOp unsignedOp, IntOp signedOp>
void binary(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  IntOp op = isSigned(t) ? signedOp : unsignedOp;
  elementwise<2>(b, i, t, [&](auto v) { return b.integer(op, v[0], v[1]); });
}

void addSat(LaneBuilder &b, const Instruction &i) {
  b.define(i, 0, b.integer(IntOp::saddsat, b.operand(i, 1, Type::s32), b.operand(i, 2, Type::s32)), Type::s32);
}
void subSat(LaneBuilder &b, const Instruction &i) {
  b.define(i, 0, b.integer(IntOp::ssubsat, b.operand(i, 1, Type::s32), b.operand(i, 2, Type::s32)), Type::s32);
}

// min, max; .relu: not below zero.
template <IntOp unsignedOp, IntOp signedOp>
void extreme(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  elementwise<2>(b, i, t, [&](auto v) {
    Value r = b.integer(isSigned(t) ? signedOp : unsignedOp, v[0], v[1]);
    return i.has(Mod::relu) ? maximum(b, r, like(b, r, 0), true) : r;
  });
}

// The full product of a and b, twice as wide.
Value wideProduct(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  ScalarType wide = integerOf(2 * bitWidth(t));
  return mul(b, resize(b, b.operand(i, 1, t), wide, isSigned(t)), resize(b, b.operand(i, 2, t), wide, isSigned(t)));
}
Type twice(Type t) {
  switch (bitWidth(t)) {
    case 16: return isSigned(t) ? Type::s32 : Type::u32;
    default: return isSigned(t) ? Type::s64 : Type::u64;
  }
}

// The half of a * b that .hi or .lo names.
Value product(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  IntOp op = !i.has(Mod::hi) ? IntOp::mul : isSigned(t) ? IntOp::smulhi : IntOp::umulhi;
  return b.integer(op, b.operand(i, 1, t), b.operand(i, 2, t));
}
void mulHalf(LaneBuilder &b, const Instruction &i) { b.define(i, 0, product(b, i), i.type()); }
void mulWide(LaneBuilder &b, const Instruction &i) { b.define(i, 0, wideProduct(b, i), twice(i.type())); }
void madHalf(LaneBuilder &b, const Instruction &i) {
  Value c = b.operand(i, 3, i.type()), p = product(b, i);
  b.define(i, 0, i.has(Mod::sat) ? b.integer(IntOp::saddsat, p, c) : add(b, p, c), i.type());
}
void madWide(LaneBuilder &b, const Instruction &i) {
  Type wide = twice(i.type());
  b.define(i, 0, add(b, wideProduct(b, i), b.operand(i, 3, wide)), wide);
}

// 24-bit operands, 48-bit product: .lo its bits 31…0, .hi its bits 47…16.
Value product24(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  Value factors[2];
  for (unsigned k = 0; k < 2; ++k) {
    Value v = b.shift(ShiftOp::shl, b.operand(i, k + 1, t), i32(b, 8));
    v = b.shift(isSigned(t) ? ShiftOp::ashr : ShiftOp::lshr, v, i32(b, 8));
    factors[k] = resize(b, v, ScalarType::i64, isSigned(t));
  }
  Value full = mul(b, factors[0], factors[1]);
  if (i.has(Mod::hi)) full = b.shift(ShiftOp::lshr, full, i32(b, 16));
  return b.trunc(full, ScalarType::i32);
}
void mul24(LaneBuilder &b, const Instruction &i) { b.define(i, 0, product24(b, i), i.type()); }
void mad24(LaneBuilder &b, const Instruction &i) {
  Value p = product24(b, i), c = b.operand(i, 3, i.type());
  b.define(i, 0, i.has(Mod::sat) ? b.integer(IntOp::saddsat, p, c) : add(b, p, c), i.type());
}

void sad(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  Value x = b.operand(i, 1, t), y = b.operand(i, 2, t);
  Value difference = sub(b, maximum(b, x, y, isSigned(t)), minimum(b, x, y, isSigned(t)));
  b.define(i, 0, add(b, b.operand(i, 3, t), difference), t);
}

void absolute(LaneBuilder &b, const Instruction &i) {
  elementwise<1>(b, i, i.type(), [&](auto v) { return maximum(b, v[0], b.unary(Unary::neg, v[0]), true); });
}
// abs(MIN) is MIN: max(MIN, -MIN = MIN).
void negate(LaneBuilder &b, const Instruction &i) {
  elementwise<1>(b, i, i.type(), [&](auto v) { return b.unary(Unary::neg, v[0]); });
}

void popc(LaneBuilder &b, const Instruction &i) {
  Value count = b.unary(Unary::popcount, b.operand(i, 1, i.type()));
  b.define(i, 0, resize(b, count, ScalarType::i32, false), Type::u32);
}
void clz(LaneBuilder &b, const Instruction &i) {
  Value count = b.unary(Unary::clz, b.operand(i, 1, i.type()));
  b.define(i, 0, resize(b, count, ScalarType::i32, false), Type::u32);
}
void brev(LaneBuilder &b, const Instruction &i) {
  b.define(i, 0, b.unary(Unary::reverse, b.operand(i, 1, i.type())), i.type());
}

// Position of the highest bit that differs from the sign; .shiftamt: the left shift that brings it to the top.
void bfind(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  Value a = b.operand(i, 1, t);
  if (isSigned(t)) a = bitXor(b, a, b.shift(ShiftOp::ashr, a, i32(b, bitWidth(t) - 1)));
  Value leading = resize(b, b.unary(Unary::clz, a), ScalarType::i32, false);
  Value none = equal(b, a, like(b, a, 0));
  Value found = i.has(Mod::shiftamt) ? leading : sub(b, i32(b, bitWidth(t) - 1), leading);
  b.define(i, 0, b.select(none, i32(b, ~0u), found), Type::u32);
}

// Position of the n-th (from 1) set bit of m, by halving; anything if there are fewer.
Value nthSetBit(LaneBuilder &b, Value m, Value n) {
  Value position = i32(b, 0);
  for (unsigned width : {16u, 8u, 4u, 2u, 1u}) {
    Value low = bitAnd(b, b.shift(ShiftOp::lshr, m, position), i32(b, (1u << width) - 1));
    Value count = b.unary(Unary::popcount, low);
    Value above = b.compare(Compare::ugt, n, count);
    n = b.select(above, sub(b, n, count), n);
    position = b.select(above, add(b, position, i32(b, width)), position);
  }
  return position;
}

// fns: with offset 0 the bit at base itself, with n > 0 the n-th set bit from base upwards, with n < 0
// downwards, base included. Downwards is upwards in the reversed word.
void fns(LaneBuilder &b, const Instruction &i) {
  Value mask = b.operand(i, 1, Type::b32), base = b.operand(i, 2, Type::b32), offset = b.operand(i, 3, Type::s32);
  Value down = b.compare(Compare::slt, offset, i32(b, 0));
  Value zero = equal(b, offset, i32(b, 0));
  Value word = b.select(down, b.unary(Unary::reverse, mask), mask);
  Value from = b.select(down, sub(b, i32(b, 31), base), base);
  Value n = b.select(down, b.unary(Unary::neg, offset), offset);
  n = b.select(zero, i32(b, 1), n);
  Value candidates = bitAnd(b, word, b.shift(ShiftOp::shl, i32(b, ~0u), from));
  Value only = bitAnd(b, candidates, b.shift(ShiftOp::shl, i32(b, 1), from));
  candidates = b.select(zero, only, candidates);
  Value position = nthSetBit(b, candidates, n);
  Value enough = b.compare(Compare::uge, b.unary(Unary::popcount, candidates), n);
  position = b.select(down, sub(b, i32(b, 31), position), position);
  b.define(i, 0, b.select(enough, position, i32(b, ~0u)), Type::b32);
}

// The lowest `length` bits set; all of them if length is the width or more.
Value lowMask(LaneBuilder &b, Value ones, Value length) { return bitNot(b, b.shift(ShiftOp::shl, ones, length)); }

// The low `length` (0 … width) bits of x, extended to the full width.
Value extendLow(LaneBuilder &b, Value x, Value length, bool isSigned) {
  unsigned width = bitsOf(b.typeOf(x));
  if (!isSigned) return bitAnd(b, x, lowMask(b, like(b, x, ~0ull), length));
  Value unused = sub(b, i32(b, width), b.integer(IntOp::umin, length, i32(b, width)));
  Value extended = b.shift(ShiftOp::ashr, b.shift(ShiftOp::shl, x, unused), unused);
  return b.select(equal(b, length, i32(b, 0)), like(b, x, 0), extended);
}

void bfe(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  Value a = b.operand(i, 1, t);
  Value position = bitAnd(b, b.operand(i, 2, Type::u32), i32(b, 0xff));
  Value length = bitAnd(b, b.operand(i, 3, Type::u32), i32(b, 0xff));
  Value shifted = b.shift(isSigned(t) ? ShiftOp::ashr : ShiftOp::lshr, a, position);
  b.define(i, 0, extendLow(b, shifted, length, isSigned(t)), t);
}

void bfi(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  Value field = b.operand(i, 1, t), into = b.operand(i, 2, t);
  Value position = bitAnd(b, b.operand(i, 3, Type::u32), i32(b, 0xff));
  Value length = bitAnd(b, b.operand(i, 4, Type::u32), i32(b, 0xff));
  Value mask = b.shift(ShiftOp::shl, lowMask(b, like(b, into, ~0ull), length), position);
  Value kept = bitAnd(b, into, bitNot(b, mask));
  b.define(i, 0, bitOr(b, kept, bitAnd(b, b.shift(ShiftOp::shl, field, position), mask)), t);
}

// .wrap takes positions modulo 32; .clamp stops at 32, which shifts do by themselves.
Value bounded(LaneBuilder &b, const Instruction &i, Value amount) {
  return i.has(Mod::wrap) ? bitAnd(b, amount, i32(b, 31)) : amount;
}
void szext(LaneBuilder &b, const Instruction &i) {
  Type t = i.type();
  Value length = bounded(b, i, b.operand(i, 2, Type::u32));
  b.define(i, 0, extendLow(b, b.operand(i, 1, t), length, isSigned(t)), t);
}
void bmsk(LaneBuilder &b, const Instruction &i) {
  Value start = bounded(b, i, b.operand(i, 1, Type::u32)), length = bounded(b, i, b.operand(i, 2, Type::u32));
  b.define(i, 0, b.shift(ShiftOp::shl, lowMask(b, i32(b, ~0u), length), start), Type::b32);
}

// Field `index` of `bits` bits, extended to 32.
Value field(LaneBuilder &b, Value word, unsigned bits, unsigned index, bool isSigned) {
  Value part = b.trunc(b.shift(ShiftOp::lshr, word, i32(b, bits * index)), integerOf(bits));
  return resize(b, part, ScalarType::i32, isSigned);
}
void dp4a(LaneBuilder &b, const Instruction &i) {
  Value x = b.operand(i, 1, Type::b32), y = b.operand(i, 2, Type::b32), sum = b.operand(i, 3, Type::b32);
  for (unsigned k = 0; k < 4; ++k)
    sum = add(b, sum, mul(b, field(b, x, 8, k, isSigned(i.type(0))), field(b, y, 8, k, isSigned(i.type(1)))));
  b.define(i, 0, sum, Type::b32);
}
void dp2a(LaneBuilder &b, const Instruction &i) {
  Value x = b.operand(i, 1, Type::b32), y = b.operand(i, 2, Type::b32), sum = b.operand(i, 3, Type::b32);
  unsigned first = i.has(Mod::hi) ? 2 : 0;
  for (unsigned k = 0; k < 2; ++k)
    sum = add(b, sum, mul(b, field(b, x, 16, k, isSigned(i.type(0))), field(b, y, 8, first + k, isSigned(i.type(1)))));
  b.define(i, 0, sum, Type::b32);
}

// ---- Extended precision: the carry flag is the last operand ----------------------------------------

// d = x + y (+ carry); the carry out of either addition.
void addWithCarry(LaneBuilder &b, const Instruction &i, Value x, Value y) {
  unsigned flag = static_cast<unsigned>(i.operands.size()) - 1;
  Value sum = add(b, x, y), carry = b.compare(Compare::ult, sum, x);
  if (i.form->effects & carryIn) {
    Value total = add(b, sum, b.zext(b.operand(i, flag, Type::pred), b.typeOf(sum)));
    carry = bitOr(b, carry, b.compare(Compare::ult, total, sum));
    sum = total;
  }
  b.define(i, 0, sum, i.type());
  if (i.form->effects & carryOut) b.define(i, flag, carry, Type::pred);
}
void addCarry(LaneBuilder &b, const Instruction &i) {
  addWithCarry(b, i, b.operand(i, 1, i.type()), b.operand(i, 2, i.type()));
}
void madCarry(LaneBuilder &b, const Instruction &i) { addWithCarry(b, i, product(b, i), b.operand(i, 3, i.type())); }
void subCarry(LaneBuilder &b, const Instruction &i) {
  unsigned flag = static_cast<unsigned>(i.operands.size()) - 1;
  Value x = b.operand(i, 1, i.type()), y = b.operand(i, 2, i.type());
  Value difference = sub(b, x, y), borrow = b.compare(Compare::ult, x, y);
  if (i.form->effects & carryIn) {
    Value in = b.zext(b.operand(i, flag, Type::pred), b.typeOf(x));
    borrow = bitOr(b, borrow, b.compare(Compare::ult, difference, in));
    difference = sub(b, difference, in);
  }
  b.define(i, 0, difference, i.type());
  if (i.form->effects & carryOut) b.define(i, flag, borrow, Type::pred);
}

constexpr auto kInteger = "type = u16 u32 u64 s16 s32 s64";
constexpr auto kMul = "half = hi lo; type = u16 u32 u64 s16 s32 s64";
constexpr auto kWide = "type = u16 u32 s16 s32; d: type*2; c: type*2";
constexpr auto kPacked = "type = u16x2 s16x2";
constexpr auto kCarry = "type = u32 s32 u64 s64";
constexpr auto kMadCarry = "half = hi lo; type = u32 s32 u64 s64";
constexpr auto kDot = "atype = u32 s32; btype = u32 s32; d: b32; a: b32; b: b32; c: b32";
constexpr State run = State::executes;

constexpr auto add_ = &binary<IntOp::add, IntOp::add>;
constexpr auto sub_ = &binary<IntOp::sub, IntOp::sub>;
constexpr auto min_ = &extreme<IntOp::umin, IntOp::smin>;
constexpr auto max_ = &extreme<IntOp::umax, IntOp::smax>;

constexpr Form kForms[] = {
    {"add.type d, a, b", kInteger, ptx(1, 0), sm(0), pure, run, add_, "integer-arithmetic-instructions-add"},
    {"add.sat.s32 d, a, b", "", ptx(1, 0), sm(0), pure, run, addSat, "integer-arithmetic-instructions-add"},
    {"add.type d, a, b", kPacked, ptx(8, 0), sm(90), pure, run, add_, "integer-arithmetic-instructions-add"},
    {"sub.type d, a, b", kInteger, ptx(1, 0), sm(0), pure, run, sub_, "integer-arithmetic-instructions-sub"},
    {"sub.sat.s32 d, a, b", "", ptx(1, 0), sm(0), pure, run, subSat, "integer-arithmetic-instructions-sub"},
    {"mul.half.type d, a, b", kMul, ptx(1, 0), sm(0), pure, run, mulHalf, "integer-arithmetic-instructions-mul"},
    {"mul.wide.type d, a, b", kWide, ptx(1, 0), sm(0), pure, run, mulWide, "integer-arithmetic-instructions-mul"},
    {"mad.half.type d, a, b, c", kMul, ptx(1, 0), sm(0), pure, run, madHalf, "integer-arithmetic-instructions-mad"},
    {"mad.wide.type d, a, b, c", kWide, ptx(1, 0), sm(0), pure, run, madWide, "integer-arithmetic-instructions-mad"},
    {"mad.hi.sat.s32 d, a, b, c", "", ptx(1, 0), sm(0), pure, run, madHalf, "integer-arithmetic-instructions-mad"},
    {"mul24.half.type d, a, b", "half = hi lo; type = u32 s32", ptx(1, 0), sm(0), pure, run, mul24,
     "integer-arithmetic-instructions-mul24"},
    {"mad24.half.type d, a, b, c", "half = hi lo; type = u32 s32", ptx(1, 0), sm(0), pure, run, mad24,
     "integer-arithmetic-instructions-mad24"},
    {"mad24.hi.sat.s32 d, a, b, c", "", ptx(1, 0), sm(0), pure, run, mad24, "integer-arithmetic-instructions-mad24"},
    {"sad.type d, a, b, c", kInteger, ptx(1, 0), sm(0), pure, run, sad, "integer-arithmetic-instructions-sad"},
    {"div.type d, a, b", kInteger, ptx(1, 0), sm(0), pure, run, &binary<IntOp::udiv, IntOp::sdiv>,
     "integer-arithmetic-instructions-div"},
    {"rem.type d, a, b", kInteger, ptx(1, 0), sm(0), pure, run, &binary<IntOp::urem, IntOp::srem>,
     "integer-arithmetic-instructions-rem"},
    {"abs.type d, a", "type = s16 s32 s64", ptx(1, 0), sm(0), pure, run, absolute,
     "integer-arithmetic-instructions-abs"},
    {"neg.type d, a", "type = s16 s32 s64", ptx(1, 0), sm(0), pure, run, negate, "integer-arithmetic-instructions-neg"},
    {"min.type d, a, b", kInteger, ptx(1, 0), sm(0), pure, run, min_, "integer-arithmetic-instructions-min"},
    {"min{.relu}.type d, a, b", "type = s16x2 s32", ptx(8, 0), sm(90), pure, run, min_,
     "integer-arithmetic-instructions-min"},
    {"min.u16x2 d, a, b", "", ptx(8, 0), sm(90), pure, run, min_, "integer-arithmetic-instructions-min"},
    {"max.type d, a, b", kInteger, ptx(1, 0), sm(0), pure, run, max_, "integer-arithmetic-instructions-max"},
    {"max{.relu}.type d, a, b", "type = s16x2 s32", ptx(8, 0), sm(90), pure, run, max_,
     "integer-arithmetic-instructions-max"},
    {"max.u16x2 d, a, b", "", ptx(8, 0), sm(90), pure, run, max_, "integer-arithmetic-instructions-max"},
    {"popc.type d, a", "type = b32 b64; d: u32", ptx(2, 0), sm(20), pure, run, popc,
     "integer-arithmetic-instructions-popc"},
    {"clz.type d, a", "type = b32 b64; d: u32", ptx(2, 0), sm(20), pure, run, clz,
     "integer-arithmetic-instructions-clz"},
    {"bfind{.shiftamt}.type d, a", "type = u32 u64 s32 s64; d: u32", ptx(2, 0), sm(20), pure, run, bfind,
     "integer-arithmetic-instructions-bfind"},
    {"fns.b32 d, mask, base, offset", "base: b32; offset: s32", ptx(6, 0), sm(30), pure, run, fns,
     "integer-arithmetic-instructions-fns"},
    {"brev.type d, a", "type = b32 b64", ptx(2, 0), sm(20), pure, run, brev, "integer-arithmetic-instructions-brev"},
    {"bfe.type d, a, b, c", "type = u32 u64 s32 s64; b: u32; c: u32", ptx(2, 0), sm(20), pure, run, bfe,
     "integer-arithmetic-instructions-bfe"},
    {"bfi.type d, a, b, c, e", "type = b32 b64; c: u32; e: u32", ptx(2, 0), sm(20), pure, run, bfi,
     "integer-arithmetic-instructions-bfi"},
    {"szext.mode.type d, a, b", "mode = clamp wrap; type = u32 s32; b: u32", ptx(7, 6), sm(70), pure, run, szext,
     "integer-arithmetic-instructions-szext"},
    {"bmsk.mode.b32 d, a, b", "mode = clamp wrap; a: u32; b: u32", ptx(7, 6), sm(70), pure, run, bmsk,
     "integer-arithmetic-instructions-bmsk"},
    {"dp4a.atype.btype d, a, b, c", kDot, ptx(5, 0), sm(61), pure, run, dp4a, "integer-arithmetic-instructions-dp4a"},
    {"dp2a.mode.atype.btype d, a, b, c",
     "mode = lo hi; atype = u32 s32; btype = u32 s32; d: b32; a: b32; b: b32; c: b32", ptx(5, 0), sm(61), pure, run,
     dp2a, "integer-arithmetic-instructions-dp2a"},

    {"add.cc.type d, a, b", kCarry, ptx(1, 2), sm(0), carryOut, run, addCarry,
     "extended-precision-arithmetic-instructions-add-cc"},
    {"addc.type d, a, b", kCarry, ptx(1, 2), sm(0), carryIn, run, addCarry,
     "extended-precision-arithmetic-instructions-addc"},
    {"addc.cc.type d, a, b", kCarry, ptx(1, 2), sm(0), carryIn | carryOut, run, addCarry,
     "extended-precision-arithmetic-instructions-addc"},
    {"sub.cc.type d, a, b", kCarry, ptx(1, 2), sm(0), carryOut, run, subCarry,
     "extended-precision-arithmetic-instructions-sub-cc"},
    {"subc.type d, a, b", kCarry, ptx(3, 0), sm(0), carryIn, run, subCarry,
     "extended-precision-arithmetic-instructions-subc"},
    {"subc.cc.type d, a, b", kCarry, ptx(3, 0), sm(0), carryIn | carryOut, run, subCarry,
     "extended-precision-arithmetic-instructions-subc"},
    {"mad.half.cc.type d, a, b, c", kMadCarry, ptx(3, 0), sm(20), carryOut, run, madCarry,
     "extended-precision-arithmetic-instructions-mad-cc"},
    {"madc.half.type d, a, b, c", kMadCarry, ptx(3, 0), sm(20), carryIn, run, madCarry,
     "extended-precision-arithmetic-instructions-madc"},
    {"madc.half.cc.type d, a, b, c", kMadCarry, ptx(3, 0), sm(20), carryIn | carryOut, run, madCarry,
     "extended-precision-arithmetic-instructions-madc"},
};

}  // namespace

std::span<const Form> integerForms() { return kForms; }

}  // namespace strata::ptx
