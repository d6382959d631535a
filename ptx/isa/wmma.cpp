// SPDX-License-Identifier: Apache-2.0
// wmma.load, wmma.mma, wmma.store. PTX leaves the place of an element in a fragment open; here a fragment is made of
// the blocks of mma.sync. With g = lane / 4, t = lane % 4, P elements in a register, rows and columns in blocks of 8:
//   A, register (step, block of rows):     row g + 8 * block, k from step * 4P + t * P
//   B, register (step, block of columns):  column g + 8 * block, k likewise
//   C and D, elements (block of rows, block of columns): row g, columns 2t and 2t + 1 of the blocks
// Fragments with room for more (f16's always have 8 registers) repeat theirs: what a program does to each element it
// does to the copies too.
#include "ptx/isa/families.h"
#include "ptx/isa/fragments.h"

namespace strata::ptx {
namespace {

struct Shape {
  unsigned m, n, k;
};

Shape shapeOf(const Instruction &i) {
  constexpr std::pair<Mod, Shape> shapes[] = {{Mod::m16n16k16, {16, 16, 16}}, {Mod::m8n32k16, {8, 32, 16}},
                                              {Mod::m32n8k16, {32, 8, 16}},   {Mod::m16n16k8, {16, 16, 8}},
                                              {Mod::m8n8k32, {8, 8, 32}},     {Mod::m8n8k4, {8, 8, 4}}};
  for (auto [mod, shape] : shapes)
    if (i.has(mod)) return shape;
  return {};
}

unsigned elementBits(Type type) { return type == Type::tf32 ? 32 : bitWidth(type); }
unsigned registerBits(unsigned elementBits) { return elementBits == 64 ? 64 : 32; }
unsigned perRegister(unsigned elementBits) { return registerBits(elementBits) / elementBits; }

// A matrix in memory: element (major, minor) lies at base + (major * stride + minor) elements.
class MatrixInMemory {
public:
  // `pitch` is the stride if the instruction has none.
  MatrixInMemory(LaneBuilder &b, const Instruction &i, unsigned pointer, unsigned strideOperand, unsigned pitch,
                 unsigned bits)
      : b_(b), bits_(bits) {
    access_.space = spaceOf(i);
    base_ = b.address(i, pointer, access_.space);
    Value stride = i.operands.size() > strideOperand ? b.operand(i, strideOperand, Type::u32) : i32(b, pitch);
    stride_ = b.zext(stride, ScalarType::i64);
  }
  const Access &access() const { return access_; }
  Value address(Value major, Value minor) {
    Value index = add(b_, mul(b_, b_.zext(major, ScalarType::i64), stride_), b_.zext(minor, ScalarType::i64));
    Value bytes = bits_ >= 8 ? mul(b_, index, b_.constant(ScalarType::i64, bits_ / 8))
                             : shiftRight(b_, index, bits_ == 4 ? 1 : 3);
    return add(b_, base_, bytes);
  }
  Value load(ScalarType type, Value major, Value minor) { return b_.load(access_, type, 1, address(major, minor))[0]; }

private:
  LaneBuilder &b_;
  unsigned bits_;
  Access access_;
  Value base_, stride_;
};

// One register of A or B: `outer` is its row or column, its elements have k, k + 1, …
Value loadRegister(LaneBuilder &b, MatrixInMemory &memory, bool alongK, Value outer, Value k, unsigned bits) {
  if (alongK) return memory.load(integerOf(registerBits(bits)), outer, k);
  Value word;
  for (unsigned e = 0; e < perRegister(bits); ++e) {
    Value element = memory.load(integerOf(bits), add(b, k, i32(b, e)), outer);
    if (bits >= 32) return element;
    element = shiftLeft(b, b.zext(element, ScalarType::i32), bits * e);
    word = e ? bitOr(b, word, element) : element;
  }
  return word;
}

void loadFactor(LaneBuilder &b, const Instruction &i) {
  const Shape shape = shapeOf(i);
  const unsigned bits = elementBits(i.type(0)), p = perRegister(bits);
  const bool isA = i.has(Mod::a), alongK = isA == i.has(Mod::row);
  const unsigned outer = isA ? shape.m : shape.n, blocks = outer / 8, count = blocks * (shape.k / (4 * p));
  MatrixInMemory memory(b, i, 1, 2, alongK ? shape.k : outer, bits);
  const Value g = shiftRight(b, lane(b), 2), t = bitAnd(b, lane(b), i32(b, 3));
  std::vector<Value> registers;
  for (unsigned r = 0; r < count; ++r) {
    Value k = add(b, mul(b, t, i32(b, p)), i32(b, r / blocks * 4 * p));
    registers.push_back(loadRegister(b, memory, alongK, add(b, g, i32(b, r % blocks * 8)), k, bits));
  }
  const Type type = registerBits(bits) == 64 ? Type::b64 : Type::b32;
  for (unsigned r = 0; r < i.operands[0].elements.size(); ++r)
    if (b.wants(i, 0, r)) b.defineElement(i, 0, r, registers[r % count], type);
}

// Calls fn(index of a pair, row, first column of the pair) for the pairs of C or D.
template <class Fn>
void forEachPair(LaneBuilder &b, const Shape &shape, Fn fn) {
  const Value g = shiftRight(b, lane(b), 2), column = shiftLeft(b, bitAnd(b, lane(b), i32(b, 3)), 1);
  const unsigned across = shape.n / 8;
  for (unsigned pair = 0; pair < shape.m / 8 * across; ++pair)
    fn(pair, add(b, g, i32(b, pair / across * 8)), add(b, column, i32(b, pair % across * 8)));
}

void loadAccumulator(LaneBuilder &b, const Instruction &i) {
  const Shape shape = shapeOf(i);
  const Type type = i.type(0);
  const bool isRow = i.has(Mod::row);
  MatrixInMemory memory(b, i, 1, 2, isRow ? shape.n : shape.m, elementBits(type));
  forEachPair(b, shape, [&](unsigned pair, Value row, Value column) {
    std::vector<Value> values;
    for (unsigned e = 0; e < 2; ++e) {
      Value c = add(b, column, i32(b, e));
      values.push_back(isRow ? memory.load(scalarType(type), row, c) : memory.load(scalarType(type), c, row));
    }
    if (type == Type::f16) {
      if (b.wants(i, 0, pair)) b.defineElement(i, 0, pair, pack(b, values, Type::f16x2), Type::b32);
      return;
    }
    for (unsigned e = 0; e < 2; ++e)
      if (b.wants(i, 0, 2 * pair + e)) b.defineElement(i, 0, 2 * pair + e, values[e], type);
  });
}

void storeAccumulator(LaneBuilder &b, const Instruction &i) {
  const Shape shape = shapeOf(i);
  const Type type = i.type(0);
  const bool isRow = i.has(Mod::row);
  MatrixInMemory memory(b, i, 0, 2, isRow ? shape.n : shape.m, elementBits(type));
  forEachPair(b, shape, [&](unsigned pair, Value row, Value column) {
    std::vector<Value> values;
    if (type == Type::f16) values = unpack(b, b.element(i, 1, pair, Type::b32), Type::f16x2);
    else values = {b.element(i, 1, 2 * pair, type), b.element(i, 1, 2 * pair + 1, type)};
    for (unsigned e = 0; e < 2; ++e) {
      Value c = add(b, column, i32(b, e));
      b.store(memory.access(), isRow ? memory.address(row, c) : memory.address(c, row), {values[e]});
    }
  });
}

// The numbers that lane `from` holds of one register of A or B.
std::vector<Value> fetchElements(LaneBuilder &b, const Instruction &i, unsigned operand, unsigned index, Type type,
                                 Value from) {
  const Type registerType = type == Type::f64 ? Type::b64 : Type::b32;
  return elementsOf(b, fetch(b, b.element(i, operand, index, registerType), from), type);
}

void multiply(LaneBuilder &b, const Instruction &i, Type dType, Type aType, Type bType, Type cType) {
  const Shape shape = shapeOf(i);
  const unsigned rows = shape.m / 8, columns = shape.n / 8, steps = shape.k / (4 * perRegister(elementBits(aType)));
  const Value g = shiftRight(b, lane(b), 2), t = bitAnd(b, lane(b), i32(b, 3));
  std::vector<Value> sums = accumulators(b, i, cType);
  for (unsigned step = 0; step < steps; ++step)
    for (unsigned s = 0; s < 4; ++s) {
      std::vector<std::vector<Value>> rowElements;
      for (unsigned h = 0; h < rows; ++h)
        rowElements.push_back(fetchElements(b, i, 1, step * rows + h, aType, add(b, shiftLeft(b, g, 2), i32(b, s))));
      for (unsigned column = 0; column < 2 * columns; ++column) {
        const Value from = add(b, shiftLeft(b, t, 3), i32(b, 4 * (column % 2) + s));
        const std::vector<Value> factors = fetchElements(b, i, 2, step * columns + column / 2, bType, from);
        for (unsigned h = 0; h < rows; ++h)
          for (std::size_t e = 0; e < factors.size(); ++e) {
            Value &sum = sums[2 * columns * h + column];
            sum = multiplyAdd(b, rowElements[h][e], factors[e], sum);
          }
      }
    }
  defineResults(b, i, dType, sums);
}
// Types: d, c.
void multiplyHalf(LaneBuilder &b, const Instruction &i) { multiply(b, i, i.type(0), Type::f16, Type::f16, i.type(1)); }
// Types: d, a, b, c.
void multiplyTyped(LaneBuilder &b, const Instruction &i) { multiply(b, i, i.type(0), i.type(1), i.type(2), i.type(3)); }

#define SS "ss = global shared shared::cta; "
#define LAYOUTS "layout = row col; "
#define SHAPES "shape = m16n16k16 m8n32k16 m32n8k16; "
#define BOTH "alayout = row col; blayout = row col; "
#define LOAD(matrix, layout, shape, types) "wmma.load." matrix ".sync.aligned." layout "." shape "{.ss}." types " d, [p]{, stride}"
#define STORE(layout, shape, type) "wmma.store.d.sync.aligned." layout "." shape "{.ss}." type " [p], r{, stride}"
#define MMA(layouts, shape, types) "wmma.mma.sync.aligned." layouts "." shape "." types " d, a, b, c"
#define STRIDE "; stride: u32"

constexpr auto kLoad = "warp-level-matrix-instructions-wmma-ld";
constexpr auto kStore = "warp-level-matrix-instructions-wmma-st";
constexpr auto kMma = "warp-level-matrix-instructions-wmma-mma";
constexpr State run = State::executes;
constexpr State parsed = State::parsesOnly;
constexpr Effects warp = convergent | sideEffect;

// A and B of 16 bits and less: how many registers A has, and B.
#define FACTORS(shape, type, a, b, version, target)                                                                                    \
  {LOAD("a", "layout", shape, type), LAYOUTS SS "d: b32 " a STRIDE, version, target, warp | reads, run, loadFactor, kLoad},              \
      {LOAD("b", "layout", shape, type), LAYOUTS SS "d: b32 " b STRIDE, version, target, warp | reads, run, loadFactor, kLoad}
#define BYTES(shape, a, b)                                                                                                             \
  {LOAD("a", "layout", shape, "type"), LAYOUTS SS "type = u8 s8; d: b32 " a STRIDE, ptx(6, 3), sm(72), warp | reads, run, loadFactor, kLoad},   \
      {LOAD("b", "layout", shape, "type"), LAYOUTS SS "type = u8 s8; d: b32 " b STRIDE, ptx(6, 3), sm(72), warp | reads, run, loadFactor, kLoad}, \
      {MMA("alayout.blayout", shape, "s32.u8.u8.s32{.satfinite}"), BOTH "d: s32 x8; a: b32 " a "; b: b32 " b "; c: s32 x8", ptx(6, 3), sm(72), warp, run, multiplyTyped, kMma}, \
      {MMA("alayout.blayout", shape, "s32.s8.s8.s32{.satfinite}"), BOTH "d: s32 x8; a: b32 " a "; b: b32 " b "; c: s32 x8", ptx(6, 3), sm(72), warp, run, multiplyTyped, kMma}
#define BFLOATS(shape, a, b)                        \
  FACTORS(shape, "bf16", a, b, ptx(7, 0), sm(80)), \
      {MMA("alayout.blayout", shape, "f32.bf16.bf16.f32"), BOTH "d: f32 x8; a: b32 " a "; b: b32 " b "; c: f32 x8", ptx(7, 0), sm(80), warp, run, multiplyTyped, kMma}
#define NIBBLES(type)                                                                                                             \
  {LOAD("a", "row", "m8n8k32", type), SS "d: b32 x1" STRIDE, ptx(6, 3), sm(75), warp | reads, run, loadFactor, kLoad},              \
      {LOAD("b", "col", "m8n8k32", type), SS "d: b32 x1" STRIDE, ptx(6, 3), sm(75), warp | reads, run, loadFactor, kLoad},          \
      {MMA("row.col", "m8n8k32", "s32." type "." type ".s32{.satfinite}"), "d: s32 x2; a: b32 x1; b: b32 x1; c: s32 x2", ptx(6, 3), sm(75), warp, run, multiplyTyped, kMma}

constexpr Form kForms[] = {
    FACTORS("shape", "f16", "x8; " SHAPES, "x8; " SHAPES, ptx(6, 0), sm(70)),
    {LOAD("c", "layout", "shape", "f16"), LAYOUTS SHAPES SS "d: b32 x4" STRIDE, ptx(6, 0), sm(70), warp | reads, run,
     loadAccumulator, kLoad},
    {LOAD("c", "layout", "shape", "f32"), LAYOUTS SHAPES SS "d: f32 x8" STRIDE, ptx(6, 0), sm(70), warp | reads, run,
     loadAccumulator, kLoad},
    {LOAD("c", "layout", "shape", "s32"), LAYOUTS SHAPES SS "d: s32 x8" STRIDE, ptx(6, 3), sm(72), warp | reads, run,
     loadAccumulator, kLoad},
    {STORE("layout", "shape", "f16"), LAYOUTS SHAPES SS "r: b32 x4" STRIDE, ptx(6, 0), sm(70), warp | writes, run,
     storeAccumulator, kStore},
    {STORE("layout", "shape", "f32"), LAYOUTS SHAPES SS "r: f32 x8" STRIDE, ptx(6, 0), sm(70), warp | writes, run,
     storeAccumulator, kStore},
    {STORE("layout", "shape", "s32"), LAYOUTS SHAPES SS "r: s32 x8" STRIDE, ptx(6, 3), sm(72), warp | writes, run,
     storeAccumulator, kStore},
    {MMA("alayout.blayout", "shape", "f32.f32"), BOTH SHAPES "d: f32 x8; a: b32 x8; b: b32 x8; c: f32 x8", ptx(6, 0),
     sm(70), warp, run, multiplyHalf, kMma},
    {MMA("alayout.blayout", "shape", "f32.f16"), BOTH SHAPES "d: f32 x8; a: b32 x8; b: b32 x8; c: b32 x4", ptx(6, 0),
     sm(70), warp, run, multiplyHalf, kMma},
    {MMA("alayout.blayout", "shape", "f16.f32"), BOTH SHAPES "d: b32 x4; a: b32 x8; b: b32 x8; c: f32 x8", ptx(6, 0),
     sm(70), warp, run, multiplyHalf, kMma},
    {MMA("alayout.blayout", "shape", "f16.f16"), BOTH SHAPES "d: b32 x4; a: b32 x8; b: b32 x8; c: b32 x4", ptx(6, 0),
     sm(70), warp, run, multiplyHalf, kMma},

    BYTES("m16n16k16", "x2", "x2"),
    BYTES("m32n8k16", "x4", "x1"),
    BYTES("m8n32k16", "x1", "x4"),
    BFLOATS("m16n16k16", "x4", "x4"),
    BFLOATS("m32n8k16", "x8", "x2"),
    BFLOATS("m8n32k16", "x2", "x8"),

    FACTORS("m16n16k8", "tf32", "x4", "x4", ptx(7, 0), sm(80)),
    {LOAD("c", "layout", "m16n16k8", "f32"), LAYOUTS SS "d: f32 x8" STRIDE, ptx(7, 0), sm(80), warp | reads, run,
     loadAccumulator, kLoad},
    {STORE("layout", "m16n16k8", "f32"), LAYOUTS SS "r: f32 x8" STRIDE, ptx(7, 0), sm(80), warp | writes, run,
     storeAccumulator, kStore},
    {MMA("alayout.blayout", "m16n16k8", "f32.tf32.tf32.f32"), BOTH "d: f32 x8; a: b32 x4; b: b32 x4; c: f32 x8",
     ptx(7, 0), sm(80), warp, run, multiplyTyped, kMma},

    {LOAD("a", "layout", "m8n8k4", "f64"), LAYOUTS SS "d: f64 x1" STRIDE, ptx(7, 0), sm(80), warp | reads, run,
     loadFactor, kLoad},
    {LOAD("b", "layout", "m8n8k4", "f64"), LAYOUTS SS "d: f64 x1" STRIDE, ptx(7, 0), sm(80), warp | reads, run,
     loadFactor, kLoad},
    {LOAD("c", "layout", "m8n8k4", "f64"), LAYOUTS SS "d: f64 x2" STRIDE, ptx(7, 0), sm(80), warp | reads, run,
     loadAccumulator, kLoad},
    {STORE("layout", "m8n8k4", "f64"), LAYOUTS SS "r: f64 x2" STRIDE, ptx(7, 0), sm(80), warp | writes, run,
     storeAccumulator, kStore},
    {MMA("alayout.blayout", "m8n8k4{.rn}", "f64.f64.f64.f64"), BOTH "d: f64 x2; a: f64 x1; b: f64 x1; c: f64 x2",
     ptx(7, 0), sm(80), warp, run, multiplyTyped, kMma},
    {MMA("alayout.blayout", "m8n8k4.rnd", "f64.f64.f64.f64"),
     BOTH "rnd = rz rm rp; d: f64 x2; a: f64 x1; b: f64 x1; c: f64 x2", ptx(7, 0), sm(80), warp, parsed, nullptr, kMma},

    NIBBLES("s4"),
    NIBBLES("u4"),
    {LOAD("c", "layout", "m8n8k32", "s32"), LAYOUTS SS "d: s32 x2" STRIDE, ptx(6, 3), sm(75), warp | reads, run,
     loadAccumulator, kLoad},
    {STORE("layout", "m8n8k32", "s32"), LAYOUTS SS "r: s32 x2" STRIDE, ptx(6, 3), sm(75), warp | writes, run,
     storeAccumulator, kStore},
    {LOAD("a", "row", "m8n8k128", "b1"), SS "d: b32 x1" STRIDE, ptx(6, 3), sm(75), warp | reads, parsed, nullptr,
     kLoad},
    {LOAD("b", "col", "m8n8k128", "b1"), SS "d: b32 x1" STRIDE, ptx(6, 3), sm(75), warp | reads, parsed, nullptr,
     kLoad},
    {LOAD("c", "layout", "m8n8k128", "s32"), LAYOUTS SS "d: s32 x2" STRIDE, ptx(6, 3), sm(75), warp | reads, parsed,
     nullptr, kLoad},
    {STORE("layout", "m8n8k128", "s32"), LAYOUTS SS "r: s32 x2" STRIDE, ptx(6, 3), sm(75), warp | writes, parsed,
     nullptr, kStore},
};

#undef SS
#undef LAYOUTS
#undef SHAPES
#undef BOTH
#undef LOAD
#undef STORE
#undef MMA
#undef STRIDE
#undef FACTORS
#undef BYTES
#undef BFLOATS
#undef NIBBLES

}  // namespace

std::span<const Form> wmmaForms() { return kForms; }

}  // namespace strata::ptx
