// SPDX-License-Identifier: Apache-2.0
// mov with packing and unpacking, prmt.
#include "ptx/isa/families.h"
#include "ptx/isa/lane.h"

namespace strata::ptx {
namespace {

void move(LaneBuilder &b, const Instruction &i) { b.define(i, 0, b.operand(i, 1, i.type()), i.type()); }

Type bitsType(unsigned bits) {
  switch (bits) {
    case 8: return Type::b8;
    case 16: return Type::b16;
    case 32: return Type::b32;
    default: return Type::b64;
  }
}

// d = {a0, a1, …}, a0 lowest.
void packVector(LaneBuilder &b, const Instruction &i) {
  auto count = static_cast<unsigned>(i.operands[1].elements.size());
  unsigned bits = bitWidth(i.type()) / count;
  ScalarType whole = scalarType(i.type());
  Value result;
  for (unsigned e = 0; e < count; ++e) {
    Value part = b.zext(b.element(i, 1, e, bitsType(bits)), whole);
    if (e) part = b.shift(ShiftOp::shl, part, i32(b, bits * e));
    result = result ? bitOr(b, result, part) : part;
  }
  b.define(i, 0, result, i.type());
}
void unpackVector(LaneBuilder &b, const Instruction &i) {
  auto count = static_cast<unsigned>(i.operands[0].elements.size());
  unsigned bits = bitWidth(i.type()) / count;
  Value whole = b.operand(i, 1, i.type());
  for (unsigned e = 0; e < count; ++e) {
    if (!b.wants(i, 0, e)) continue;
    Value part = e ? b.shift(ShiftOp::lshr, whole, i32(b, bits * e)) : whole;
    b.defineElement(i, 0, e, b.trunc(part, integerOf(bits)), bitsType(bits));
  }
}

// Index into the eight bytes {b, a} of byte k of the result, for the named modes.
Value namedSelector(LaneBuilder &b, const Instruction &i, Value c, unsigned k) {
  Value n = bitAnd(b, c, i32(b, 3));
  if (i.has(Mod::f4e)) return add(b, n, i32(b, k));
  if (i.has(Mod::b4e)) return bitAnd(b, sub(b, n, i32(b, k)), i32(b, 7));
  if (i.has(Mod::rc8)) return n;
  if (i.has(Mod::ecl)) return b.integer(IntOp::umax, n, i32(b, k));
  if (i.has(Mod::ecr)) return b.integer(IntOp::umin, n, i32(b, k));
  Value half = bitAnd(b, c, i32(b, 1));  // .rc16
  return add(b, b.shift(ShiftOp::shl, half, i32(b, 1)), i32(b, k & 1));
}

void prmt(LaneBuilder &b, const Instruction &i) {
  Value low = b.zext(b.operand(i, 1, Type::b32), ScalarType::i64);
  Value high = b.zext(b.operand(i, 2, Type::b32), ScalarType::i64);
  Value bytes = bitOr(b, low, b.shift(ShiftOp::shl, high, i32(b, 32)));
  Value c = b.operand(i, 3, Type::b32), result;
  bool generic = i.modifiers.empty();
  for (unsigned k = 0; k < 4; ++k) {
    Value nibble = b.shift(ShiftOp::lshr, c, i32(b, 4 * k));
    Value index = generic ? bitAnd(b, nibble, i32(b, 7)) : namedSelector(b, i, c, k);
    Value byte = b.trunc(b.shift(ShiftOp::lshr, bytes, b.shift(ShiftOp::shl, index, i32(b, 3))), ScalarType::i8);
    if (generic) {  // the nibble's top bit: the byte's sign, eight times
      Value replicate = b.compare(Compare::ne, bitAnd(b, nibble, i32(b, 8)), i32(b, 0));
      byte = b.select(replicate, b.shift(ShiftOp::ashr, byte, i32(b, 7)), byte);
    }
    Value placed = b.shift(ShiftOp::shl, b.zext(byte, ScalarType::i32), i32(b, 8 * k));
    result = result ? bitOr(b, result, placed) : placed;
  }
  b.define(i, 0, result, Type::b32);
}

constexpr auto kTypes = "type = b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64; a: type symbol special";
constexpr auto kMov = "data-movement-and-conversion-instructions-mov";
constexpr auto kMovPack = "data-movement-and-conversion-instructions-mov-2";
constexpr State run = State::executes;

constexpr Form kForms[] = {
    {"mov.type d, a", kTypes, ptx(1, 0), sm(0), pure, run, move, kMov},
    {"mov.pred d, a", "a: pred special", ptx(1, 0), sm(0), pure, run, move, kMov},
    {"mov.b128 d, a", "", ptx(8, 3), sm(70), pure, run, move, kMov},
    {"mov.b16 d, a", "a: b8 x2 reg", ptx(1, 0), sm(0), pure, run, packVector, kMovPack},
    {"mov.b32 d, a", "a: b16 x2", ptx(1, 0), sm(0), pure, run, packVector, kMovPack},
    {"mov.b32 d, a", "a: b8 x4 reg", ptx(1, 0), sm(0), pure, run, packVector, kMovPack},
    {"mov.b64 d, a", "a: b32 x2", ptx(1, 0), sm(0), pure, run, packVector, kMovPack},
    {"mov.b64 d, a", "a: b16 x4", ptx(1, 0), sm(0), pure, run, packVector, kMovPack},
    {"mov.b128 d, a", "a: b64 x2", ptx(8, 3), sm(70), pure, run, packVector, kMovPack},
    {"mov.b16 d, a", "d: b8 x2", ptx(1, 0), sm(0), pure, run, unpackVector, kMovPack},
    {"mov.b32 d, a", "d: b16 x2", ptx(1, 0), sm(0), pure, run, unpackVector, kMovPack},
    {"mov.b32 d, a", "d: b8 x4", ptx(1, 0), sm(0), pure, run, unpackVector, kMovPack},
    {"mov.b64 d, a", "d: b32 x2", ptx(1, 0), sm(0), pure, run, unpackVector, kMovPack},
    {"mov.b64 d, a", "d: b16 x4", ptx(1, 0), sm(0), pure, run, unpackVector, kMovPack},
    {"mov.b128 d, a", "d: b64 x2", ptx(8, 3), sm(70), pure, run, unpackVector, kMovPack},
    {"prmt.b32{.mode} d, a, b, c", "mode = f4e b4e rc8 ecl ecr rc16", ptx(2, 0), sm(20), pure, run, prmt,
     "data-movement-and-conversion-instructions-prmt"},
};

}  // namespace

std::span<const Form> moveForms() { return kForms; }

}  // namespace strata::ptx
