// SPDX-License-Identifier: Apache-2.0
// Comparison and selection.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

FCompare floatComparison(const Instruction &i) {
  for (Mod mod : i.modifiers) switch (mod) {
      case Mod::eq: return FCompare::oeq;
      case Mod::ne: return FCompare::one;
      case Mod::lt: return FCompare::olt;
      case Mod::le: return FCompare::ole;
      case Mod::gt: return FCompare::ogt;
      case Mod::ge: return FCompare::oge;
      case Mod::equ: return FCompare::ueq;
      case Mod::neu: return FCompare::une;
      case Mod::ltu: return FCompare::ult;
      case Mod::leu: return FCompare::ule;
      case Mod::gtu: return FCompare::ugt;
      case Mod::geu: return FCompare::uge;
      case Mod::num: return FCompare::num;
      case Mod::nan: return FCompare::nan;
      default: break;
    }
  return FCompare::oeq;
}

Compare integerComparison(const Instruction &i, bool isSigned) {
  for (Mod mod : i.modifiers) switch (mod) {
      case Mod::eq: return Compare::eq;
      case Mod::ne: return Compare::ne;
      case Mod::lt: return isSigned ? Compare::slt : Compare::ult;
      case Mod::le: return isSigned ? Compare::sle : Compare::ule;
      case Mod::gt: return isSigned ? Compare::sgt : Compare::ugt;
      case Mod::ge: return isSigned ? Compare::sge : Compare::uge;
      case Mod::lo: return Compare::ult;
      case Mod::ls: return Compare::ule;
      case Mod::hi: return Compare::ugt;
      case Mod::hs: return Compare::uge;
      default: break;
    }
  return Compare::eq;
}

Value compare(LaneBuilder &b, const Instruction &i, Value x, Value y, Type type) {
  if (isFloat(b.typeOf(x))) return b.fcompare(floatComparison(i), flush(b, i, x), flush(b, i, y));
  return b.compare(integerComparison(i, isSigned(type)), x, y);
}

// .and .or .xor with predicate operand `index`; as it is if no such operator is written.
Value combine(LaneBuilder &b, const Instruction &i, Value t, unsigned index) {
  if (i.has(Mod::and_)) return bitAnd(b, t, b.operand(i, index, Type::pred));
  if (i.has(Mod::or_)) return bitOr(b, t, b.operand(i, index, Type::pred));
  if (i.has(Mod::xor_)) return bitXor(b, t, b.operand(i, index, Type::pred));
  return t;
}

void setp(LaneBuilder &b, const Instruction &i) {
  Type type = i.type();
  Value t = compare(b, i, b.operand(i, 1, type), b.operand(i, 2, type), type);
  defineFirst(b, i, combine(b, i, t, 3), Type::pred);
  if (wantsSecond(b, i)) defineSecond(b, i, combine(b, i, bitNot(b, t), 3));
}

// p for the low halves, q for the high ones.
void setpPacked(LaneBuilder &b, const Instruction &i) {
  Type type = i.type();
  std::vector<Value> x = unpack(b, b.operand(i, 1, type), type), y = unpack(b, b.operand(i, 2, type), type);
  for (unsigned e = 0; e < 2; ++e) {
    if (!b.wants(i, 0, e)) continue;
    b.defineElement(i, 0, e, combine(b, i, compare(b, i, x[e], y[e], type), 3), Type::pred);
  }
}

// What `set` writes for true and false: all ones or 1.0, and zero.
Value truthValue(LaneBuilder &b, Value t, Type type) {
  ScalarType scalar = scalarType(type);
  Value yes = isFloat(scalar) ? floatConstant(b, scalar, 1.0f) : b.constant(scalar, ~0ull >> (64 - bitWidth(type)));
  return b.select(t, yes, b.constant(scalar, 0));
}
void set(LaneBuilder &b, const Instruction &i) {
  Type to = i.type(0), from = i.type(1);
  Value t = compare(b, i, b.operand(i, 1, from), b.operand(i, 2, from), from);
  b.define(i, 0, truthValue(b, combine(b, i, t, 3), to), to);
}
void setPacked(LaneBuilder &b, const Instruction &i) {
  Type to = i.type(0), from = i.type(1);
  Type element = elementCount(to) == 2 ? elementType(to) : Type::u16;  // .u32.f16x2: two halves of ones
  std::vector<Value> x = unpack(b, b.operand(i, 1, from), from), y = unpack(b, b.operand(i, 2, from), from), out;
  for (unsigned e = 0; e < 2; ++e)
    out.push_back(truthValue(b, combine(b, i, compare(b, i, x[e], y[e], from), 3), element));
  Type packed = elementCount(to) == 2 ? to : Type::u16x2;
  b.define(i, 0, pack(b, out, packed), packed);
}

void selp(LaneBuilder &b, const Instruction &i) {
  Type type = i.type();
  b.define(i, 0, b.select(b.operand(i, 3, Type::pred), b.operand(i, 1, type), b.operand(i, 2, type)), type);
}
void slct(LaneBuilder &b, const Instruction &i) {
  Type type = i.type(0), control = i.type(1);
  Value c = b.operand(i, 3, control), zero = b.constant(scalarType(control), 0);
  Value takeFirst =
      control == Type::f32 ? b.fcompare(FCompare::oge, flush(b, i, c), zero) : b.compare(Compare::sge, c, zero);
  b.define(i, 0, b.select(takeFirst, b.operand(i, 1, type), b.operand(i, 2, type)), type);
}

#define BITS "cmp = eq ne; type = b16 b32 b64"
#define UNSIGNED "cmp = eq ne lt le gt ge lo ls hi hs; type = u16 u32 u64"
#define SIGNED "cmp = eq ne lt le gt ge; type = s16 s32 s64"
#define FLOATS "cmp = eq ne lt le gt ge equ neu ltu leu gtu geu num nan"
#define BOOLEAN "; op = and or xor; c: pred"
constexpr auto kF32 = FLOATS "; type = f32";
constexpr State run = State::executes;
constexpr auto kSetp = "comparison-and-selection-instructions-setp";
constexpr auto kSet = "comparison-and-selection-instructions-set";
constexpr auto kHalfSetp = "half-precision-comparison-instructions-setp";
constexpr auto kHalfSet = "half-precision-comparison-instructions-set";

constexpr Form kForms[] = {
    {"set.cmp.dtype.type d, a, b", BITS "; dtype = u32 s32 f32; a: type; b: type", ptx(1, 0), sm(0), pure, run, set,
     kSet},
    {"set.cmp.dtype.type d, a, b", UNSIGNED "; dtype = u32 s32 f32; a: type; b: type", ptx(1, 0), sm(0), pure, run, set,
     kSet},
    {"set.cmp.dtype.type d, a, b", SIGNED "; dtype = u32 s32 f32; a: type; b: type", ptx(1, 0), sm(0), pure, run, set,
     kSet},
    {"set.cmp{.ftz}.dtype.f32 d, a, b", FLOATS "; dtype = u32 s32 f32; a: f32; b: f32", ptx(1, 0), sm(0), pure, run,
     set, kSet},
    {"set.cmp.dtype.f64 d, a, b", FLOATS "; dtype = u32 s32 f32; a: f64; b: f64", ptx(1, 0), sm(13), pure, run, set,
     kSet},
    {"set.cmp.op.dtype.type d, a, b, {!}c", BITS "; dtype = u32 s32 f32; a: type; b: type" BOOLEAN, ptx(1, 0), sm(0),
     pure, run, set, kSet},
    {"set.cmp.op.dtype.type d, a, b, {!}c", UNSIGNED "; dtype = u32 s32 f32; a: type; b: type" BOOLEAN, ptx(1, 0),
     sm(0), pure, run, set, kSet},
    {"set.cmp.op.dtype.type d, a, b, {!}c", SIGNED "; dtype = u32 s32 f32; a: type; b: type" BOOLEAN, ptx(1, 0), sm(0),
     pure, run, set, kSet},
    {"set.cmp.op{.ftz}.dtype.f32 d, a, b, {!}c", FLOATS "; dtype = u32 s32 f32; a: f32; b: f32" BOOLEAN, ptx(1, 0),
     sm(0), pure, run, set, kSet},
    {"set.cmp.op.dtype.f64 d, a, b, {!}c", FLOATS "; dtype = u32 s32 f32; a: f64; b: f64" BOOLEAN, ptx(1, 0), sm(13),
     pure, run, set, kSet},
    {"set.cmp{.ftz}.dtype.f16 d, a, b", FLOATS "; dtype = u16 s16 u32 s32 f16; a: f16; b: f16", ptx(4, 2), sm(53), pure,
     run, set, kHalfSet},
    {"set.cmp.op{.ftz}.dtype.f16 d, a, b, {!}c", FLOATS "; dtype = u16 s16 u32 s32 f16; a: f16; b: f16" BOOLEAN,
     ptx(4, 2), sm(53), pure, run, set, kHalfSet},
    {"set.cmp.dtype.bf16 d, a, b", FLOATS "; dtype = u16 s16 u32 s32 bf16; a: bf16; b: bf16", ptx(7, 8), sm(90), pure,
     run, set, kHalfSet},
    {"set.cmp.op.dtype.bf16 d, a, b, {!}c", FLOATS "; dtype = u16 s16 u32 s32 bf16; a: bf16; b: bf16" BOOLEAN,
     ptx(7, 8), sm(90), pure, run, set, kHalfSet},
    {"set.cmp{.ftz}.dtype.f16x2 d, a, b", FLOATS "; dtype = u32 s32 f16x2; a: f16x2; b: f16x2", ptx(4, 2), sm(53), pure,
     run, setPacked, kHalfSet},
    {"set.cmp.op{.ftz}.dtype.f16x2 d, a, b, {!}c", FLOATS "; dtype = u32 s32 f16x2; a: f16x2; b: f16x2" BOOLEAN,
     ptx(4, 2), sm(53), pure, run, setPacked, kHalfSet},
    {"set.cmp.dtype.bf16x2 d, a, b", FLOATS "; dtype = u32 s32 bf16x2; a: bf16x2; b: bf16x2", ptx(7, 8), sm(90), pure,
     run, setPacked, kHalfSet},
    {"set.cmp.op.dtype.bf16x2 d, a, b, {!}c", FLOATS "; dtype = u32 s32 bf16x2; a: bf16x2; b: bf16x2" BOOLEAN,
     ptx(7, 8), sm(90), pure, run, setPacked, kHalfSet},

    {"setp.cmp.type p{|q}, a, b", BITS, ptx(1, 0), sm(0), pure, run, setp, kSetp},
    {"setp.cmp.type p{|q}, a, b", UNSIGNED, ptx(1, 0), sm(0), pure, run, setp, kSetp},
    {"setp.cmp.type p{|q}, a, b", SIGNED, ptx(1, 0), sm(0), pure, run, setp, kSetp},
    {"setp.cmp{.ftz}.type p{|q}, a, b", kF32, ptx(1, 0), sm(0), pure, run, setp, kSetp},
    {"setp.cmp.f64 p{|q}, a, b", FLOATS, ptx(1, 0), sm(13), pure, run, setp, kSetp},
    {"setp.cmp.op.type p{|q}, a, b, {!}c", BITS BOOLEAN, ptx(1, 0), sm(0), pure, run, setp, kSetp},
    {"setp.cmp.op.type p{|q}, a, b, {!}c", UNSIGNED BOOLEAN, ptx(1, 0), sm(0), pure, run, setp, kSetp},
    {"setp.cmp.op.type p{|q}, a, b, {!}c", SIGNED BOOLEAN, ptx(1, 0), sm(0), pure, run, setp, kSetp},
    {"setp.cmp.op{.ftz}.f32 p{|q}, a, b, {!}c", FLOATS BOOLEAN, ptx(1, 0), sm(0), pure, run, setp, kSetp},
    {"setp.cmp.op.f64 p{|q}, a, b, {!}c", FLOATS BOOLEAN, ptx(1, 0), sm(13), pure, run, setp, kSetp},
    {"setp.cmp{.ftz}.f16 p, a, b", FLOATS, ptx(4, 2), sm(53), pure, run, setp, kHalfSetp},
    {"setp.cmp.op{.ftz}.f16 p, a, b, {!}c", FLOATS BOOLEAN, ptx(4, 2), sm(53), pure, run, setp, kHalfSetp},
    {"setp.cmp{.ftz}.f16x2 p|q, a, b", FLOATS, ptx(4, 2), sm(53), pure, run, setpPacked, kHalfSetp},
    {"setp.cmp.op{.ftz}.f16x2 p|q, a, b, {!}c", FLOATS BOOLEAN, ptx(4, 2), sm(53), pure, run, setpPacked, kHalfSetp},
    {"setp.cmp.bf16 p, a, b", FLOATS, ptx(7, 8), sm(90), pure, run, setp, kHalfSetp},
    {"setp.cmp.op.bf16 p, a, b, {!}c", FLOATS BOOLEAN, ptx(7, 8), sm(90), pure, run, setp, kHalfSetp},
    {"setp.cmp.bf16x2 p|q, a, b", FLOATS, ptx(7, 8), sm(90), pure, run, setpPacked, kHalfSetp},
    {"setp.cmp.op.bf16x2 p|q, a, b, {!}c", FLOATS BOOLEAN, ptx(7, 8), sm(90), pure, run, setpPacked, kHalfSetp},

    {"selp.type d, a, b, {!}c", "type = b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64; c: pred", ptx(1, 0), sm(0), pure,
     run, selp, "comparison-and-selection-instructions-selp"},
    {"slct.dtype.s32 d, a, b, c", "dtype = b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64; a: dtype; b: dtype; c: s32",
     ptx(1, 0), sm(0), pure, run, slct, "comparison-and-selection-instructions-slct"},
    {"slct{.ftz}.dtype.f32 d, a, b, c",
     "dtype = b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64; a: dtype; b: dtype; c: f32", ptx(1, 0), sm(0), pure, run,
     slct, "comparison-and-selection-instructions-slct"},
};

#undef BITS
#undef UNSIGNED
#undef SIGNED
#undef FLOATS
#undef BOOLEAN

}  // namespace

std::span<const Form> compareForms() { return kForms; }

}  // namespace strata::ptx
