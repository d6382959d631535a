// SPDX-License-Identifier: Apache-2.0
// Floating point: f32, f64, f32x2. Subnormal inputs and results become zeros under .ftz; .sat clamps to
// [0, 1]. div.approx, div.full and sqrt.approx may be off by 1 or 2 ulp: a correctly rounded result is
// one of those, so division is done exactly, but for div.approx by numbers beyond 2^126.
#include "ptx/isa/float.h"

#include "ptx/isa/families.h"

namespace strata::ptx {
namespace {

Value finish(LaneBuilder &b, const Instruction &i, Value v) {
  if (i.has(Mod::relu)) {
    Value zero = like(b, v, 0);
    Value clamped = b.select(b.fcompare(FCompare::ogt, v, zero), v, zero);
    v = b.select(isNan(b, v), canonicalNan(b, b.typeOf(v)), clamped);
  }
  v = flush(b, i, v);
  return i.has(Mod::sat) ? saturate(b, v) : v;
}

template <FloatOp op>
void binary(LaneBuilder &b, const Instruction &i) {
  Rounding r = roundingOf(i);
  elementwise<2>(b, i, i.type(),
                 [&](auto v) { return finish(b, i, b.floating(op, flush(b, i, v[0]), flush(b, i, v[1]), r)); });
}

// The smaller or larger of x and y; a NaN loses, or wins under .NaN.
template <bool isMax>
Value extreme(LaneBuilder &b, const Instruction &i, Value x, Value y) {
  x = flush(b, i, x);
  y = flush(b, i, y);
  Value sign;
  if (i.has(Mod::xorsign)) {
    ScalarType bits = integerOf(bitsOf(b.typeOf(x)));
    sign = b.bitcast(bitXor(b, b.bitcast(x, bits), b.bitcast(y, bits)), b.typeOf(x));
    x = b.fabs(x);
    y = b.fabs(y);
  }
  Value r = isMax ? b.fmax(x, y) : b.fmin(x, y);
  if (sign) r = b.copysign(r, sign);
  Value nan = b.fcompare(FCompare::nan, x, y);
  Value bothNan = bitAnd(b, isNan(b, x), isNan(b, y));
  return b.select(i.has(Mod::NaN) ? nan : bothNan, canonicalNan(b, b.typeOf(r)), r);
}

template <bool isMax>
void minMax(LaneBuilder &b, const Instruction &i) {
  if (i.operands.size() == 4)
    elementwise<3>(b, i, i.type(),
                   [&](auto v) { return extreme<isMax>(b, i, extreme<isMax>(b, i, v[0], v[1]), v[2]); });
  else elementwise<2>(b, i, i.type(), [&](auto v) { return extreme<isMax>(b, i, v[0], v[1]); });
}

void reciprocal(LaneBuilder &b, const Instruction &i) {
  Value a = flush(b, i, b.operand(i, 1, i.type()));
  Value r = b.floating(FloatOp::div, floatConstant(b, b.typeOf(a), 1.0f), a, roundingOf(i));
  b.define(i, 0, flush(b, i, r), i.type());
}
void squareRoot(LaneBuilder &b, const Instruction &i) {
  Value a = flush(b, i, b.operand(i, 1, i.type()));
  b.define(i, 0, flush(b, i, b.sqrt(a, roundingOf(i))), i.type());
}

// The coarse f64 approximations look at the upper word of the operand and give the upper word of the result.
Value upperWord(LaneBuilder &b, Value v) {
  Value bits = bitAnd(b, b.bitcast(v, ScalarType::i64), b.constant(ScalarType::i64, 0xffffffff00000000ull));
  return b.bitcast(bits, ScalarType::f64);
}
void coarseReciprocal(LaneBuilder &b, const Instruction &i) {
  Value a = flush(b, i, upperWord(b, b.operand(i, 1, Type::f64)));
  Value r = b.floating(FloatOp::div, floatConstant(b, ScalarType::f64, 1.0f), a);
  b.define(i, 0, upperWord(b, flush(b, i, r)), Type::f64);
}
Value reciprocalRoot(LaneBuilder &b, Value a) {
  return b.floating(FloatOp::div, floatConstant(b, ScalarType::f64, 1.0f), b.sqrt(a));
}
void coarseReciprocalRoot(LaneBuilder &b, const Instruction &i) {
  Value a = flush(b, i, upperWord(b, b.operand(i, 1, Type::f64)));
  b.define(i, 0, upperWord(b, flush(b, i, reciprocalRoot(b, a))), Type::f64);
}
void doubleReciprocalRoot(LaneBuilder &b, const Instruction &i) {
  b.define(i, 0, reciprocalRoot(b, b.operand(i, 1, Type::f64)), Type::f64);
}

// testp: by the exponent and mantissa fields.
void testp(LaneBuilder &b, const Instruction &i) {
  bool isDouble = i.type() == Type::f64;
  Value a = b.operand(i, 1, isDouble ? Type::b64 : Type::b32);
  std::uint64_t infinity = isDouble ? 0x7ff0000000000000ull : 0x7f800000ull;
  std::uint64_t smallestNormal = isDouble ? 0x0010000000000000ull : 0x00800000ull;
  Value magnitude = bitAnd(b, a, like(b, a, isDouble ? ~0ull >> 1 : 0x7fffffffull));
  Value limit = like(b, a, infinity), least = like(b, a, smallestNormal);
  Value finite = b.compare(Compare::ult, magnitude, limit);
  Value zero = equal(b, magnitude, like(b, a, 0));
  Value result;
  if (i.has(Mod::finite)) result = finite;
  else if (i.has(Mod::infinite)) result = equal(b, magnitude, limit);
  else if (i.has(Mod::number)) result = b.compare(Compare::ule, magnitude, limit);
  else if (i.has(Mod::notanumber)) result = b.compare(Compare::ugt, magnitude, limit);
  else if (i.has(Mod::normal))
    result = bitAnd(b, finite, bitOr(b, zero, b.compare(Compare::uge, magnitude, least)));  // zeros count as normal
  else result = bitAnd(b, b.compare(Compare::ult, magnitude, least), b.compare(Compare::ne, magnitude, like(b, a, 0)));
  b.define(i, 0, result, Type::pred);
}

void copySign(LaneBuilder &b, const Instruction &i) {  // d: sign of a, magnitude of b
  b.define(i, 0, b.copysign(b.operand(i, 2, i.type()), b.operand(i, 1, i.type())), i.type());
}

// .approx is a * (1 / b), where the reciprocal of what is larger than 2^126 is zero.
void divideCoarsely(LaneBuilder &b, const Instruction &i) {
  Value x = flush(b, i, b.operand(i, 1, Type::f32)), y = flush(b, i, b.operand(i, 2, Type::f32));
  if (i.has(Mod::approx)) {
    Value large = b.fcompare(FCompare::ogt, b.fabs(y), floatConstant(b, ScalarType::f32, 0x1p126f));
    y = b.select(large, b.copysign(b.constant(ScalarType::f32, 0x7f800000), y), y);
  }
  b.define(i, 0, flush(b, i, b.floating(FloatOp::div, x, y)), Type::f32);
}

constexpr auto kRound = "rnd = rn rz rm rp";
constexpr auto kTest = "op = finite infinite number notanumber normal subnormal; type = f32 f64; p: pred";
constexpr State run = State::executes;
constexpr auto divide = &binary<FloatOp::div>;

constexpr Form kForms[] = {
    {"testp.op.type p, a", kTest, ptx(2, 0), sm(20), pure, run, testp, "floating-point-instructions-testp"},
    {"copysign.type d, a, b", "type = f32 f64", ptx(2, 0), sm(20), pure, run, copySign,
     "floating-point-instructions-copysign"},
    {"add{.rnd}{.ftz}{.sat}.f32 d, a, b", kRound, ptx(1, 0), sm(0), pure, run, floatAdd,
     "floating-point-instructions-add"},
    {"add{.rnd}.f64 d, a, b", kRound, ptx(1, 0), sm(13), pure, run, floatAdd, "floating-point-instructions-add"},
    {"add{.rnd}{.ftz}.f32x2 d, a, b", kRound, ptx(8, 6), sm(100), pure, run, floatAdd,
     "floating-point-instructions-add"},
    {"sub{.rnd}{.ftz}{.sat}.f32 d, a, b", kRound, ptx(1, 0), sm(0), pure, run, floatSub,
     "floating-point-instructions-sub"},
    {"sub{.rnd}.f64 d, a, b", kRound, ptx(1, 0), sm(13), pure, run, floatSub, "floating-point-instructions-sub"},
    {"sub{.rnd}{.ftz}.f32x2 d, a, b", kRound, ptx(8, 6), sm(100), pure, run, floatSub,
     "floating-point-instructions-sub"},
    {"mul{.rnd}{.ftz}{.sat}.f32 d, a, b", kRound, ptx(1, 0), sm(0), pure, run, floatMul,
     "floating-point-instructions-mul"},
    {"mul{.rnd}.f64 d, a, b", kRound, ptx(1, 0), sm(13), pure, run, floatMul, "floating-point-instructions-mul"},
    {"mul{.rnd}{.ftz}.f32x2 d, a, b", kRound, ptx(8, 6), sm(100), pure, run, floatMul,
     "floating-point-instructions-mul"},
    {"fma.rnd{.ftz}{.sat}.f32 d, a, b, c", kRound, ptx(2, 0), sm(20), pure, run, floatFma,
     "floating-point-instructions-fma"},
    {"fma.rnd.f64 d, a, b, c", kRound, ptx(1, 4), sm(13), pure, run, floatFma, "floating-point-instructions-fma"},
    {"fma.rnd{.ftz}.f32x2 d, a, b, c", kRound, ptx(8, 6), sm(100), pure, run, floatFma,
     "floating-point-instructions-fma"},
    {"mad.rnd{.ftz}{.sat}.f32 d, a, b, c", kRound, ptx(2, 0), sm(20), pure, run, floatFma,
     "floating-point-instructions-mad"},
    {"mad.rnd.f64 d, a, b, c", kRound, ptx(1, 0), sm(13), pure, run, floatFma, "floating-point-instructions-mad"},
    {"div.mode{.ftz}.f32 d, a, b", "mode = approx full", ptx(1, 4), sm(0), pure, run, divideCoarsely,
     "floating-point-instructions-div"},
    {"div.rnd{.ftz}.f32 d, a, b", kRound, ptx(1, 4), sm(20), pure, run, divide, "floating-point-instructions-div"},
    {"div.rnd.f64 d, a, b", kRound, ptx(1, 4), sm(13), pure, run, divide, "floating-point-instructions-div"},
    {"abs{.ftz}.f32 d, a", "", ptx(1, 0), sm(0), pure, run, floatAbs, "floating-point-instructions-abs"},
    {"abs.f64 d, a", "", ptx(1, 0), sm(13), pure, run, floatAbs, "floating-point-instructions-abs"},
    {"neg{.ftz}.f32 d, a", "", ptx(1, 0), sm(0), pure, run, floatNeg, "floating-point-instructions-neg"},
    {"neg.f64 d, a", "", ptx(1, 0), sm(13), pure, run, floatNeg, "floating-point-instructions-neg"},
    {"min{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b", "", ptx(1, 0), sm(0), pure, run, floatMin,
     "floating-point-instructions-min"},
    {"min{.ftz}{.NaN}{.abs}.f32 d, a, b, c", "", ptx(8, 8), sm(100), pure, State::parsesOnly, nullptr,
     "floating-point-instructions-min"},
    {"min.f64 d, a, b", "", ptx(1, 0), sm(13), pure, run, floatMin, "floating-point-instructions-min"},
    {"max{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b", "", ptx(1, 0), sm(0), pure, run, floatMax,
     "floating-point-instructions-max"},
    {"max{.ftz}{.NaN}{.abs}.f32 d, a, b, c", "", ptx(8, 8), sm(100), pure, State::parsesOnly, nullptr,
     "floating-point-instructions-max"},
    {"max.f64 d, a, b", "", ptx(1, 0), sm(13), pure, run, floatMax, "floating-point-instructions-max"},
    {"rcp.approx{.ftz}.f32 d, a", "", ptx(1, 4), sm(0), pure, run, floatApprox<Approx::rcp>,
     "floating-point-instructions-rcp"},
    {"rcp.rnd{.ftz}.f32 d, a", kRound, ptx(1, 4), sm(20), pure, run, reciprocal, "floating-point-instructions-rcp"},
    {"rcp.rnd.f64 d, a", kRound, ptx(1, 4), sm(13), pure, run, reciprocal, "floating-point-instructions-rcp"},
    {"rcp.approx.ftz.f64 d, a", "", ptx(2, 1), sm(20), pure, run, coarseReciprocal,
     "floating-point-instructions-rcp-approx-ftz-f64"},
    {"sqrt.approx{.ftz}.f32 d, a", "", ptx(1, 4), sm(0), pure, run, floatApprox<Approx::sqrt>,
     "floating-point-instructions-sqrt"},
    {"sqrt.rnd{.ftz}.f32 d, a", kRound, ptx(1, 4), sm(20), pure, run, squareRoot, "floating-point-instructions-sqrt"},
    {"sqrt.rnd.f64 d, a", kRound, ptx(1, 4), sm(13), pure, run, squareRoot, "floating-point-instructions-sqrt"},
    {"rsqrt.approx{.ftz}.f32 d, a", "", ptx(1, 4), sm(0), pure, run, floatApprox<Approx::rsqrt>,
     "floating-point-instructions-rsqrt"},
    {"rsqrt.approx.f64 d, a", "", ptx(1, 4), sm(13), pure, run, doubleReciprocalRoot,
     "floating-point-instructions-rsqrt"},
    {"rsqrt.approx.ftz.f64 d, a", "", ptx(4, 0), sm(20), pure, run, coarseReciprocalRoot,
     "floating-point-instructions-rsqrt-approx-ftz-f64"},
    {"sin.approx{.ftz}.f32 d, a", "", ptx(1, 4), sm(0), pure, run, floatApprox<Approx::sin>,
     "floating-point-instructions-sin"},
    {"cos.approx{.ftz}.f32 d, a", "", ptx(1, 4), sm(0), pure, run, floatApprox<Approx::cos>,
     "floating-point-instructions-cos"},
    {"lg2.approx{.ftz}.f32 d, a", "", ptx(1, 4), sm(0), pure, run, floatApprox<Approx::lg2>,
     "floating-point-instructions-lg2"},
    {"ex2.approx{.ftz}.f32 d, a", "", ptx(1, 4), sm(0), pure, run, floatApprox<Approx::ex2>,
     "floating-point-instructions-ex2"},
    {"tanh.approx.f32 d, a", "", ptx(7, 0), sm(75), pure, run, floatApprox<Approx::tanh>,
     "floating-point-instructions-tanh"},
};

}  // namespace

void floatAdd(LaneBuilder &b, const Instruction &i) { binary<FloatOp::add>(b, i); }
void floatSub(LaneBuilder &b, const Instruction &i) { binary<FloatOp::sub>(b, i); }
void floatMul(LaneBuilder &b, const Instruction &i) { binary<FloatOp::mul>(b, i); }
void floatFma(LaneBuilder &b, const Instruction &i) {
  Rounding r = roundingOf(i);
  elementwise<3>(b, i, i.type(), [&](auto v) {
    return finish(b, i, b.fma(flush(b, i, v[0]), flush(b, i, v[1]), flush(b, i, v[2]), r));
  });
}
void floatNeg(LaneBuilder &b, const Instruction &i) {
  elementwise<1>(b, i, i.type(), [&](auto v) { return b.fneg(flush(b, i, v[0])); });
}
void floatAbs(LaneBuilder &b, const Instruction &i) {
  elementwise<1>(b, i, i.type(), [&](auto v) { return b.fabs(flush(b, i, v[0])); });
}
void floatMin(LaneBuilder &b, const Instruction &i) { minMax<false>(b, i); }
void floatMax(LaneBuilder &b, const Instruction &i) { minMax<true>(b, i); }

std::span<const Form> floatingPointForms() { return kForms; }

}  // namespace strata::ptx
