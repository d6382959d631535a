// SPDX-License-Identifier: Apache-2.0
// Logic and shifts.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

template <IntOp op>
void binary(LaneBuilder &b, const Instruction &i) {
  b.define(i, 0, b.integer(op, b.operand(i, 1, i.type()), b.operand(i, 2, i.type())), i.type());
}
void complement(LaneBuilder &b, const Instruction &i) {
  b.define(i, 0, bitNot(b, b.operand(i, 1, i.type())), i.type());
}
void logicalNot(LaneBuilder &b, const Instruction &i) {
  Value a = b.operand(i, 1, i.type());
  b.define(i, 0, b.zext(equal(b, a, like(b, a, 0)), b.typeOf(a)), i.type());
}

// The truth table immLut as a sum of minterms over a, b, c (bit 7: all three set).
Value lookUp(LaneBuilder &b, Value x, Value y, Value z, unsigned table) {
  Value terms;
  for (unsigned row = 0; row < 8; ++row) {
    if (!(table >> row & 1)) continue;
    Value term = bitAnd(b, row & 4 ? x : bitNot(b, x), row & 2 ? y : bitNot(b, y));
    term = bitAnd(b, term, row & 1 ? z : bitNot(b, z));
    terms = terms ? bitOr(b, terms, term) : term;
  }
  return terms ? terms : like(b, x, 0);
}
// immLut is a literal; the operand is the instruction's own, not a value.
unsigned tableOf(const Instruction &i, unsigned index) { return static_cast<unsigned>(i.operands[index].bits) & 0xff; }
void lop3(LaneBuilder &b, const Instruction &i) {
  Value x = b.operand(i, 1, Type::b32), y = b.operand(i, 2, Type::b32), z = b.operand(i, 3, Type::b32);
  b.define(i, 0, lookUp(b, x, y, z, tableOf(i, 4)), Type::b32);
}
// lop3.op d|p: p = (d != 0) op q
void lop3Predicate(LaneBuilder &b, const Instruction &i) {
  Value x = b.operand(i, 1, Type::b32), y = b.operand(i, 2, Type::b32), z = b.operand(i, 3, Type::b32);
  Value d = lookUp(b, x, y, z, tableOf(i, 4));
  Value nonZero = b.compare(Compare::ne, d, i32(b, 0)), q = b.operand(i, 5, Type::pred);
  if (b.wants(i, 0, 0)) b.defineElement(i, 0, 0, d, Type::b32);
  Value p = i.has(Mod::or_) ? bitOr(b, nonZero, q) : bitAnd(b, nonZero, q);
  if (b.wants(i, 0, 1)) b.defineElement(i, 0, 1, p, Type::pred);
}

// shf: a 64-bit window over b:a. .wrap takes the amount modulo 32, .clamp stops at 32.
void shf(LaneBuilder &b, const Instruction &i) {
  const bool left = i.has(Mod::l);
  Value low = b.operand(i, 1, Type::b32), high = b.operand(i, 2, Type::b32), amount = b.operand(i, 3, Type::u32);
  Value d = left ? b.funnelLeft(high, low, amount) : b.funnelRight(high, low, amount);
  if (!i.has(Mod::wrap)) d = b.select(b.compare(Compare::ult, amount, i32(b, 32)), d, left ? low : high);
  b.define(i, 0, d, Type::b32);
}

template <ShiftOp unsignedOp, ShiftOp signedOp>
void shift(LaneBuilder &b, const Instruction &i) {
  ShiftOp op = isSigned(i.type()) ? signedOp : unsignedOp;
  b.define(i, 0, b.shift(op, b.operand(i, 1, i.type()), b.operand(i, 2, Type::u32)), i.type());
}

constexpr auto kBits = "type = pred b16 b32 b64; a: type; b: type";
constexpr auto kBits1 = "type = pred b16 b32 b64";
constexpr State run = State::executes;
constexpr auto shl = &shift<ShiftOp::shl, ShiftOp::shl>;
constexpr auto shr = &shift<ShiftOp::lshr, ShiftOp::ashr>;

constexpr Form kForms[] = {
    {"and.type d, {!}a, {!}b", kBits, ptx(1, 0), sm(0), pure, run, binary<IntOp::and_>,
     "logic-and-shift-instructions-and"},
    {"or.type d, {!}a, {!}b", kBits, ptx(1, 0), sm(0), pure, run, binary<IntOp::or_>,
     "logic-and-shift-instructions-or"},
    {"xor.type d, {!}a, {!}b", kBits, ptx(1, 0), sm(0), pure, run, binary<IntOp::xor_>,
     "logic-and-shift-instructions-xor"},
    {"not.type d, {!}a", kBits1, ptx(1, 0), sm(0), pure, run, complement, "logic-and-shift-instructions-not"},
    {"cnot.type d, a", "type = b16 b32 b64", ptx(1, 0), sm(0), pure, run, logicalNot,
     "logic-and-shift-instructions-cnot"},
    {"lop3.b32 d, a, b, c, immLut", "immLut: b32 imm", ptx(4, 3), sm(50), pure, run, lop3,
     "logic-and-shift-instructions-lop3"},
    {"lop3.op.b32 d|p, a, b, c, immLut, {!}q", "op = and or; immLut: b32 imm; q: pred", ptx(8, 2), sm(70), pure, run,
     lop3Predicate, "logic-and-shift-instructions-lop3"},
    {"shf.dir.mode.b32 d, a, b, c", "dir = l r; mode = clamp wrap; c: u32", ptx(3, 1), sm(32), pure, run, shf,
     "logic-and-shift-instructions-shf"},
    {"shl.type d, a, b", "type = b16 b32 b64; b: u32", ptx(1, 0), sm(0), pure, run, shl,
     "logic-and-shift-instructions-shl"},
    {"shr.type d, a, b", "type = b16 b32 b64 u16 u32 u64 s16 s32 s64; b: u32", ptx(1, 0), sm(0), pure, run, shr,
     "logic-and-shift-instructions-shr"},
};

}  // namespace

std::span<const Form> logicForms() { return kForms; }

}  // namespace strata::ptx
