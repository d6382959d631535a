// SPDX-License-Identifier: Apache-2.0
// Video instructions: scalar ones on a byte, half or word of each operand, SIMD ones on two halves or four
// bytes. They compute exactly (in 64 bits), clamp under .sat, and then add to, compare with or merge into c.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

enum class Op { add, sub, absdiff, min, max, avrg, shl, shr, set };

Value constant64(LaneBuilder &b, std::int64_t v) { return b.constant(ScalarType::i64, static_cast<std::uint64_t>(v)); }

Value compare(LaneBuilder &b, const Instruction &i, Value x, Value y) {
  Compare op = Compare::eq;
  for (Mod mod : i.modifiers) switch (mod) {
      case Mod::ne: op = Compare::ne; break;
      case Mod::lt: op = Compare::slt; break;
      case Mod::le: op = Compare::sle; break;
      case Mod::gt: op = Compare::sgt; break;
      case Mod::ge: op = Compare::sge; break;
      default: break;
    }
  return b.zext(b.compare(op, x, y), ScalarType::i64);
}

// On 64-bit values, which hold every operand and result exactly.
Value apply(LaneBuilder &b, const Instruction &i, Op op, Value x, Value y) {
  switch (op) {
    case Op::add: return add(b, x, y);
    case Op::sub: return sub(b, x, y);
    case Op::min: return minimum(b, x, y, true);
    case Op::max: return maximum(b, x, y, true);
    case Op::absdiff: return sub(b, maximum(b, x, y, true), minimum(b, x, y, true));
    case Op::set: return compare(b, i, x, y);
    case Op::avrg: {  // rounds halves away from zero
      Value sum = add(b, x, y);
      Value bias = b.zext(b.compare(Compare::sge, sum, constant64(b, 0)), ScalarType::i64);
      return b.shift(ShiftOp::ashr, add(b, sum, bias), i32(b, 1));
    }
    case Op::shl:
    case Op::shr: {
      Value amount = b.trunc(y, ScalarType::i32);
      amount = i.has(Mod::wrap) ? bitAnd(b, amount, i32(b, 31)) : b.integer(IntOp::umin, amount, i32(b, 32));
      return b.shift(op == Op::shl ? ShiftOp::shl : ShiftOp::ashr, x, amount);
    }
  }
  return x;
}

// .sat: the range of a signed or unsigned integer of `bits` bits.
Value clamp(LaneBuilder &b, const Instruction &i, Value v, unsigned bits, bool isSignedResult) {
  if (!i.has(Mod::sat)) return v;
  std::int64_t most = (std::int64_t(1) << (isSignedResult ? bits - 1 : bits)) - 1,
               least = isSignedResult ? -most - 1 : 0;
  return maximum(b, minimum(b, v, constant64(b, most), true), constant64(b, least), true);
}

// ---- Scalar: selector b0 … b3, h0, h1 or none --------------------------------------------------------------

struct Part {
  unsigned bits = 32, shift = 0;
};
Part partOf(const Operand &o) {
  if (!o.selector[0]) return {};
  unsigned bits = o.selector[0] == 'b' ? 8 : 16;
  return {bits, bits * static_cast<unsigned>(o.selector[1] - '0')};
}
Value selected(LaneBuilder &b, const Instruction &i, unsigned index, Type type) {
  Part part = partOf(i.operands[index]);
  Value v = b.operand(i, index, type);
  if (part.bits < 32) v = b.trunc(b.shift(ShiftOp::lshr, v, i32(b, part.shift)), integerOf(part.bits));
  return resize(b, v, ScalarType::i64, isSigned(type));
}

template <Op op>
void scalar(LaneBuilder &b, const Instruction &i) {
  // vset has no result type: it is unsigned.
  bool isSet = op == Op::set;
  Type dType = isSet ? Type::u32 : i.type(0), aType = i.type(isSet ? 0 : 1), bType = i.type(isSet ? 1 : 2);
  Part into = partOf(i.operands[0]);
  Value v = apply(b, i, op, selected(b, i, 1, aType), selected(b, i, 2, bType));
  v = clamp(b, i, v, into.bits, isSigned(dType));
  if (i.operands.size() == 3) return b.define(i, 0, b.trunc(v, ScalarType::i32), dType);
  Value c = resize(b, b.operand(i, 3, dType), ScalarType::i64, isSigned(dType));
  if (into.bits < 32) {  // merge into c
    std::uint64_t mask = ((1ull << into.bits) - 1) << into.shift;
    Value placed = bitAnd(b, b.shift(ShiftOp::shl, v, i32(b, into.shift)), like(b, v, mask));
    v = bitOr(b, bitAnd(b, c, like(b, c, ~mask)), placed);
  } else {
    v = i.has(Mod::min) ? minimum(b, v, c, true) : i.has(Mod::max) ? maximum(b, v, c, true) : add(b, v, c);
  }
  b.define(i, 0, b.trunc(v, ScalarType::i32), dType);
}

// ---- SIMD: lanes of {b, a}, chosen by selectors h10 … h32 or b3210 … b7654 -----------------------------------

// Which element of {b, a} lane n of operand `index` is; by default the operand's own lane n.
unsigned sourceOf(const Operand &o, unsigned index, unsigned n, unsigned lanes) {
  if (!o.selector[0]) return index == 1 ? n : lanes + n;
  return static_cast<unsigned>(o.selector[lanes - n] - '0');
}
bool writesLane(const Operand &d, unsigned n) {
  if (!d.selector[0]) return true;
  for (unsigned k = 1; k < d.selector.size() && d.selector[k]; ++k)
    if (d.selector[k] == static_cast<char>('0' + n)) return true;
  return false;
}

template <Op op, unsigned lanes>
void simd(LaneBuilder &b, const Instruction &i) {
  constexpr unsigned bits = 32 / lanes;
  bool isSet = op == Op::set;
  Type dType = isSet ? Type::u32 : i.type(0), types[2] = {i.type(isSet ? 0 : 1), i.type(isSet ? 1 : 2)};
  Value both = bitOr(b, b.zext(b.operand(i, 1, Type::b32), ScalarType::i64),
                     b.shift(ShiftOp::shl, b.zext(b.operand(i, 2, Type::b32), ScalarType::i64), i32(b, 32)));
  Value c = b.operand(i, 3, Type::b32), result = c;
  for (unsigned n = 0; n < lanes; ++n) {
    if (!writesLane(i.operands[0], n)) continue;
    Value in[2];
    for (unsigned k = 0; k < 2; ++k) {
      unsigned source = sourceOf(i.operands[k + 1], k + 1, n, lanes);
      Value part = b.trunc(b.shift(ShiftOp::lshr, both, i32(b, bits * source)), integerOf(bits));
      in[k] = resize(b, part, ScalarType::i64, isSigned(types[k]));
    }
    Value v = b.trunc(clamp(b, i, apply(b, i, op, in[0], in[1]), bits, isSigned(dType)), ScalarType::i32);
    if (i.has(Mod::add)) {
      result = add(b, result, v);
      continue;
    }
    std::uint32_t mask = ((1u << bits) - 1) << (bits * n);
    Value placed = bitAnd(b, b.shift(ShiftOp::shl, v, i32(b, bits * n)), i32(b, mask));
    result = bitOr(b, bitAnd(b, result, i32(b, ~mask)), placed);
  }
  b.define(i, 0, result, Type::b32);
}

#define TYPES "dtype = u32 s32; atype = u32 s32; btype = u32 s32; "
#define SET "d: u32; c: u32; cmp = eq ne lt le gt ge; atype = u32 s32; btype = u32 s32; "
#define SHIFT "mode = clamp wrap; dtype = u32 s32; atype = u32 s32; b: u32 select1; "
#define SCALAR "a: atype select1; b: btype select1; c: dtype; op = add min max"
#define MERGE "a: atype select1; b: btype select1; c: dtype; d: dtype merge"
#define SIMD2 "a: atype select2; b: btype select2; d: b32 mask2; c: b32"
#define SIMD4 "a: atype select4; b: btype select4; d: b32 mask4; c: b32"
#define SCALAR_ROWS(name, op)                                                                                        \
  {name ".dtype.atype.btype{.sat} d, a, b", TYPES SCALAR, ptx(2, 0), sm(20), pure, run, scalar<op>, kScalar},         \
  {name ".dtype.atype.btype{.sat}.op d, a, b, c", TYPES SCALAR, ptx(2, 0), sm(20), pure, run, scalar<op>, kScalar},   \
  {name ".dtype.atype.btype{.sat} d, a, b, c", TYPES MERGE, ptx(2, 0), sm(20), pure, run, scalar<op>, kScalar}
#define SHIFT_ROWS(name, op)                                                                                                      \
  {name ".dtype.atype.u32{.sat}.mode d, a, b", SHIFT SCALAR, ptx(2, 0), sm(20), pure, run, scalar<op>, kScalar},                   \
  {name ".dtype.atype.u32{.sat}.mode.op d, a, b, c", SHIFT SCALAR, ptx(2, 0), sm(20), pure, run, scalar<op>, kScalar},             \
  {name ".dtype.atype.u32{.sat}.mode d, a, b, c", SHIFT MERGE, ptx(2, 0), sm(20), pure, run, scalar<op>, kScalar}
#define SIMD_ROWS(name, op)                                                                                                     \
  {name "2.dtype.atype.btype{.sat} d, a, b, c", TYPES SIMD2, ptx(3, 0), sm(30), pure, run, simd<op, 2>, kSimd2},                 \
  {name "2.dtype.atype.btype.add d, a, b, c", TYPES SIMD2, ptx(3, 0), sm(30), pure, run, simd<op, 2>, kSimd2},                   \
  {name "4.dtype.atype.btype{.sat} d, a, b, c", TYPES SIMD4, ptx(3, 0), sm(30), pure, run, simd<op, 4>, kSimd4},                 \
  {name "4.dtype.atype.btype.add d, a, b, c", TYPES SIMD4, ptx(3, 0), sm(30), pure, run, simd<op, 4>, kSimd4}

constexpr auto kScalar = "scalar-video-instructions";
constexpr auto kSimd2 = "simd-video-instructions-vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2";
constexpr auto kSimd4 = "simd-video-instructions-vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4";
constexpr State run = State::executes;

constexpr Form kForms[] = {
    SCALAR_ROWS("vadd", Op::add),
    SCALAR_ROWS("vsub", Op::sub),
    SCALAR_ROWS("vabsdiff", Op::absdiff),
    SCALAR_ROWS("vmin", Op::min),
    SCALAR_ROWS("vmax", Op::max),
    SHIFT_ROWS("vshl", Op::shl),
    SHIFT_ROWS("vshr", Op::shr),
    {"vset.atype.btype.cmp d, a, b", SET "a: atype select1; b: btype select1", ptx(2, 0), sm(20), pure, run,
     scalar<Op::set>, kScalar},
    {"vset.atype.btype.cmp.op d, a, b, c", SET "a: atype select1; b: btype select1; op = add min max", ptx(2, 0),
     sm(20), pure, run, scalar<Op::set>, kScalar},
    {"vset.atype.btype.cmp d, a, b, c",
     "d: u32 merge; c: u32; cmp = eq ne lt le gt ge; atype = u32 s32; btype = u32 s32; a: atype select1; b: btype "
     "select1",
     ptx(2, 0), sm(20), pure, run, scalar<Op::set>, kScalar},
    SIMD_ROWS("vadd", Op::add),
    SIMD_ROWS("vsub", Op::sub),
    SIMD_ROWS("vavrg", Op::avrg),
    SIMD_ROWS("vabsdiff", Op::absdiff),
    SIMD_ROWS("vmin", Op::min),
    SIMD_ROWS("vmax", Op::max),
    {"vset2.atype.btype.cmp{.add} d, a, b, c", "cmp = eq ne lt le gt ge; atype = u32 s32; btype = u32 s32; " SIMD2,
     ptx(3, 0), sm(30), pure, run, simd<Op::set, 2>, kSimd2},
    {"vset4.atype.btype.cmp{.add} d, a, b, c", "cmp = eq ne lt le gt ge; atype = u32 s32; btype = u32 s32; " SIMD4,
     ptx(3, 0), sm(30), pure, run, simd<Op::set, 4>, kSimd4},
};

#undef TYPES
#undef SET
#undef SHIFT
#undef SCALAR
#undef MERGE
#undef SIMD2
#undef SIMD4
#undef SCALAR_ROWS
#undef SHIFT_ROWS
#undef SIMD_ROWS

}  // namespace

std::span<const Form> videoForms() { return kForms; }

}  // namespace strata::ptx
