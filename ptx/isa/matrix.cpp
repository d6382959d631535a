// SPDX-License-Identifier: Apache-2.0
// Matrix fragments: ldmatrix, stmatrix, movmatrix, mma.sync; wgmma is known, not executed yet.
//
// A fragment is spread over the warp. With g = lane / 4 and t = lane % 4, and P elements in a register:
//   A, register i: row g + 8 (i odd, of two row halves), k from (i / halves) * 4P + t * P
//   B, register i: column g, k from i * 4P + t * P
//   C and D:       row g (and g + 8), columns 2t and 2t + 1
// So a lane's results need row g of A, which the four lanes 4g … 4g + 3 hold, and columns 2t and 2t + 1 of
// B, held by lanes 8t … 8t + 3 and 8t + 4 … 8t + 7. The meaning fetches them with shuffles and multiplies.
// The order of a tensor core's sums is not specified; here it is k ascending, in f32 for f16 and bf16.
#include "ptx/isa/families.h"
#include "ptx/isa/fragments.h"

namespace strata::ptx {
namespace {

// ---- 8x8 matrices of 16-bit elements in memory: lane 8m + r gives the address of row r of matrix m --------

Access matrixAccess(const Instruction &i) {
  Access access;
  access.space = spaceOf(i);
  return access;
}
// Where this lane's element `e` of matrix m lies: row lane / 4, columns 2 * (lane % 4) + e; .trans: swapped.
Value elementAddress(LaneBuilder &b, Value rows, unsigned m, unsigned e, bool transposed) {
  Value g = shiftRight(b, lane(b), 2), pair = shiftLeft(b, bitAnd(b, lane(b), i32(b, 3)), 1);
  Value row = transposed ? add(b, pair, i32(b, e)) : g, column = transposed ? g : add(b, pair, i32(b, e));
  Value base = fetch(b, rows, add(b, row, i32(b, 8 * m)));
  return add(b, base, b.zext(shiftLeft(b, column, 1), ScalarType::i64));
}
void loadMatrix(LaneBuilder &b, const Instruction &i) {
  Access access = matrixAccess(i);
  Value rows = b.address(i, 1, access.space);
  bool transposed = i.has(Mod::trans);
  std::vector<Value> results;
  for (unsigned m = 0; m < i.operands[0].elements.size(); ++m) {
    if (!transposed) {
      results.push_back(b.load(access, ScalarType::i32, 1, elementAddress(b, rows, m, 0, false))[0]);
      continue;
    }
    std::vector<Value> halves;
    for (unsigned e = 0; e < 2; ++e)
      halves.push_back(b.load(access, ScalarType::i16, 1, elementAddress(b, rows, m, e, true))[0]);
    results.push_back(pack(b, halves, Type::u16x2));
  }
  for (unsigned m = 0; m < results.size(); ++m)
    if (b.wants(i, 0, m)) b.defineElement(i, 0, m, results[m], Type::b32);
}
void storeMatrix(LaneBuilder &b, const Instruction &i) {
  Access access = matrixAccess(i);
  Value rows = b.address(i, 0, access.space);
  bool transposed = i.has(Mod::trans);
  for (unsigned m = 0; m < i.operands[1].elements.size(); ++m) {
    Value pair = b.element(i, 1, m, Type::b32);
    if (!transposed) {
      b.store(access, elementAddress(b, rows, m, 0, false), {pair});
      continue;
    }
    std::vector<Value> halves = unpack(b, pair, Type::u16x2);
    for (unsigned e = 0; e < 2; ++e) b.store(access, elementAddress(b, rows, m, e, true), {halves[e]});
  }
}
// Element (r, c) of the result is (c, r) of the source: lane 4c + r / 2, half r % 2.
void moveMatrix(LaneBuilder &b, const Instruction &i) {
  Value source = b.operand(i, 1, Type::b32);
  Value r = shiftRight(b, lane(b), 2), c = shiftLeft(b, bitAnd(b, lane(b), i32(b, 3)), 1);
  std::vector<Value> halves;
  for (unsigned e = 0; e < 2; ++e) {
    Value from = add(b, shiftLeft(b, add(b, c, i32(b, e)), 2), shiftRight(b, r, 1));
    Value word = fetch(b, source, from);
    Value shift = shiftLeft(b, bitAnd(b, r, i32(b, 1)), 4);
    halves.push_back(b.trunc(b.shift(ShiftOp::lshr, word, shift), ScalarType::i16));
  }
  b.define(i, 0, pack(b, halves, Type::u16x2), Type::b32);
}

// ---- mma.sync ----------------------------------------------------------------------------------------------

// Types: d, a, b, c.
void mma(LaneBuilder &b, const Instruction &i) {
  Type aType = i.type(1), bType = i.type(2);
  Type registerType = aType == Type::f64 ? Type::b64 : Type::b32;
  auto aCount = static_cast<unsigned>(i.operands[1].elements.size()),
       bCount = static_cast<unsigned>(i.operands[2].elements.size());
  unsigned halves = aCount / bCount;  // of 8 rows
  Value g = shiftRight(b, lane(b), 2), t = bitAnd(b, lane(b), i32(b, 3));
  std::vector<Value> sums = accumulators(b, i, i.type(3));
  for (unsigned block = 0; block < bCount; ++block) {
    Value bRegister = b.element(i, 2, block, registerType);
    for (unsigned s = 0; s < 4; ++s) {
      std::vector<Value> columns[2];
      for (unsigned c = 0; c < 2; ++c)
        columns[c] = elementsOf(b, fetch(b, bRegister, add(b, shiftLeft(b, t, 3), i32(b, 4 * c + s))), bType);
      for (unsigned h = 0; h < halves; ++h) {
        Value aRegister = b.element(i, 1, block * halves + h, registerType);
        std::vector<Value> row = elementsOf(b, fetch(b, aRegister, add(b, shiftLeft(b, g, 2), i32(b, s))), aType);
        for (unsigned c = 0; c < 2; ++c)
          for (std::size_t e = 0; e < row.size(); ++e)
            sums[2 * h + c] = multiplyAdd(b, row[e], columns[c][e], sums[2 * h + c]);
      }
    }
  }
  defineResults(b, i, i.type(0), sums);
}

#define MMA(shape, types) "mma.sync.aligned." shape ".row.col." types " d, a, b, c"
#define INT8 "atype = u8 s8; btype = u8 s8; "
#define INT4 "atype = u4 s4; btype = u4 s4; "
#define SS "; ss = shared shared::cta"
#define LD(n) "ldmatrix.sync.aligned.m8n8." n "{.trans}{.ss}.b16 d, [a]"
#define ST(n) "stmatrix.sync.aligned.m8n8." n "{.trans}{.ss}.b16 [a], b"
#define K(k)                                                                                                            \
  "shape = m64n8k" k " m64n16k" k " m64n24k" k " m64n32k" k " m64n40k" k " m64n48k" k " m64n56k" k " m64n64k" k " m64n72k" k \
  " m64n80k" k " m64n88k" k " m64n96k" k " m64n104k" k " m64n112k" k " m64n120k" k " m64n128k" k " m64n136k" k " m64n144k" k \
  " m64n152k" k " m64n160k" k " m64n168k" k " m64n176k" k " m64n184k" k " m64n192k" k " m64n200k" k " m64n208k" k " m64n216k" k \
  " m64n224k" k " m64n232k" k " m64n240k" k " m64n248k" k " m64n256k" k "; "
#define WGMMA "d: b32 list; b: b64; scaleD: pred; scaleA: s32 imm; scaleB: s32 imm; transA: s32 imm; transB: s32 imm; "

constexpr auto kLd = "warp-level-matrix-instructions-ldmatrix";
constexpr auto kSt = "warp-level-matrix-instructions-stmatrix";
constexpr auto kMma = "warp-level-matrix-instructions-mma";
constexpr auto kSparse = "warp-level-matrix-instructions-for-sparse-mma";
constexpr auto kWgmma = "asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-async";
constexpr State run = State::executes;
constexpr State parsed = State::parsesOnly;
constexpr Effects warp = convergent | sideEffect;

constexpr Form kForms[] = {
    {LD("x1"), "d: b32 x1" SS, ptx(6, 5), sm(75), warp | reads, run, loadMatrix, kLd},
    {LD("x2"), "d: b32 x2" SS, ptx(6, 5), sm(75), warp | reads, run, loadMatrix, kLd},
    {LD("x4"), "d: b32 x4" SS, ptx(6, 5), sm(75), warp | reads, run, loadMatrix, kLd},
    {ST("x1"), "b: b32 x1" SS, ptx(7, 8), sm(90), warp | writes, run, storeMatrix, kSt},
    {ST("x2"), "b: b32 x2" SS, ptx(7, 8), sm(90), warp | writes, run, storeMatrix, kSt},
    {ST("x4"), "b: b32 x4" SS, ptx(7, 8), sm(90), warp | writes, run, storeMatrix, kSt},
    {"movmatrix.sync.aligned.m8n8.trans.b16 d, a", "d: b32; a: b32", ptx(7, 8), sm(75), warp, run, moveMatrix,
     "warp-level-matrix-instructions-movmatrix"},

    {MMA("m8n8k4", "f64.f64.f64.f64"), "d: f64 x2; a: f64 x1; b: f64 x1; c: f64 x2", ptx(7, 0), sm(80), warp, run, mma,
     kMma},
    {MMA("m16n8k4", "f64.f64.f64.f64"), "d: f64 x4; a: f64 x2; b: f64 x1; c: f64 x4", ptx(7, 8), sm(90), warp, run, mma,
     kMma},
    {MMA("m16n8k8", "f64.f64.f64.f64"), "d: f64 x4; a: f64 x4; b: f64 x2; c: f64 x4", ptx(7, 8), sm(90), warp, run, mma,
     kMma},
    {MMA("m16n8k16", "f64.f64.f64.f64"), "d: f64 x4; a: f64 x8; b: f64 x4; c: f64 x4", ptx(7, 8), sm(90), warp, run,
     mma, kMma},
    {MMA("m16n8k8", "f32.f16.f16.f32"), "d: f32 x4; a: b32 x2; b: b32 x1; c: f32 x4", ptx(6, 5), sm(75), warp, run, mma,
     kMma},
    {MMA("m16n8k8", "f16.f16.f16.f16"), "d: b32 x2; a: b32 x2; b: b32 x1; c: b32 x2", ptx(6, 5), sm(75), warp, run, mma,
     kMma},
    {MMA("m16n8k16", "f32.f16.f16.f32"), "d: f32 x4; a: b32 x4; b: b32 x2; c: f32 x4", ptx(7, 0), sm(80), warp, run,
     mma, kMma},
    {MMA("m16n8k16", "f16.f16.f16.f16"), "d: b32 x2; a: b32 x4; b: b32 x2; c: b32 x2", ptx(7, 0), sm(80), warp, run,
     mma, kMma},
    {MMA("m16n8k8", "f32.bf16.bf16.f32"), "d: f32 x4; a: b32 x2; b: b32 x1; c: f32 x4", ptx(7, 0), sm(80), warp, run,
     mma, kMma},
    {MMA("m16n8k16", "f32.bf16.bf16.f32"), "d: f32 x4; a: b32 x4; b: b32 x2; c: f32 x4", ptx(7, 0), sm(80), warp, run,
     mma, kMma},
    {MMA("m16n8k4", "f32.tf32.tf32.f32"), "d: f32 x4; a: b32 x2; b: b32 x1; c: f32 x4", ptx(7, 0), sm(80), warp, run,
     mma, kMma},
    {MMA("m16n8k8", "f32.tf32.tf32.f32"), "d: f32 x4; a: b32 x4; b: b32 x2; c: f32 x4", ptx(7, 0), sm(80), warp, run,
     mma, kMma},
    {MMA("m8n8k16{.satfinite}", "s32.atype.btype.s32"), INT8 "d: s32 x2; a: b32 x1; b: b32 x1; c: s32 x2", ptx(6, 5),
     sm(75), warp, run, mma, kMma},
    {MMA("m16n8k16{.satfinite}", "s32.atype.btype.s32"), INT8 "d: s32 x4; a: b32 x2; b: b32 x1; c: s32 x4", ptx(7, 0),
     sm(80), warp, run, mma, kMma},
    {MMA("m16n8k32{.satfinite}", "s32.atype.btype.s32"), INT8 "d: s32 x4; a: b32 x4; b: b32 x2; c: s32 x4", ptx(7, 0),
     sm(80), warp, run, mma, kMma},
    {MMA("m8n8k32{.satfinite}", "s32.atype.btype.s32"), INT4 "d: s32 x2; a: b32 x1; b: b32 x1; c: s32 x2", ptx(6, 5),
     sm(75), warp, run, mma, kMma},
    {MMA("m16n8k32{.satfinite}", "s32.atype.btype.s32"), INT4 "d: s32 x4; a: b32 x2; b: b32 x1; c: s32 x4", ptx(7, 0),
     sm(80), warp, run, mma, kMma},
    {MMA("m16n8k64{.satfinite}", "s32.atype.btype.s32"), INT4 "d: s32 x4; a: b32 x4; b: b32 x2; c: s32 x4", ptx(7, 0),
     sm(80), warp, run, mma, kMma},
    {MMA("m16n8k32", "f32.atype.btype.f32"),
     "atype = e4m3 e5m2; btype = e4m3 e5m2; d: f32 x4; a: b32 x4; b: b32 x2; c: f32 x4", ptx(8, 4), sm(89), warp,
     parsed, nullptr, kMma},
    {"mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f32 d, a, b, c",
     "alayout = row col; blayout = row col; d: f32 x8; a: b32 x2; b: b32 x2; c: f32 x8", ptx(6, 4), sm(70), warp,
     parsed, nullptr, kMma},
    {"mma.sync.aligned.m8n8k4.alayout.blayout.f16.f16.f16.f16 d, a, b, c",
     "alayout = row col; blayout = row col; d: b32 x4; a: b32 x2; b: b32 x2; c: b32 x4", ptx(6, 4), sm(70), warp,
     parsed, nullptr, kMma},
    {"mma.sync.aligned.shape.row.col.s32.b1.b1.s32.op.popc d, a, b, c",
     "shape = m8n8k128 m16n8k128 m16n8k256; op = xor and; d: s32 list; a: b32 list; b: b32 list; c: s32 list",
     ptx(7, 0), sm(80), warp, parsed, nullptr, kMma},
    {"mma.sp.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c, e, f",
     "shape = m16n8k8 m16n8k16 m16n8k32 m16n8k64; dtype = f16 f32 s32; atype = f16 bf16 tf32 u8 s8 e4m3 e5m2; btype = "
     "f16 bf16 tf32 u8 s8 e4m3 e5m2; ctype = f16 f32 s32; d: b32 list; a: b32 list; b: b32 "
     "list; c: b32 list; e: b32; f: b32 imm",
     ptx(7, 1), sm(80), warp, parsed, nullptr, kSparse},
    {"mma.sp::ordered_metadata.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c, e, f",
     "shape = m16n8k8 m16n8k16 m16n8k32 m16n8k64; dtype = f16 f32 s32; atype = f16 bf16 tf32 u8 s8 e4m3 e5m2; btype = "
     "f16 bf16 tf32 u8 s8 e4m3 e5m2; ctype = f16 f32 s32; d: b32 list; a: b32 list; b: b32 "
     "list; c: b32 list; e: b32; f: b32 imm",
     ptx(8, 5), sm(80), warp, parsed, nullptr, kSparse},

    {"wgmma.fence.sync.aligned", "", ptx(8, 0), arch(90), warp, parsed, nullptr,
     "asynchronous-warpgroup-level-matrix-instructions-wgmma-fence"},
    {"wgmma.commit_group.sync.aligned", "", ptx(8, 0), arch(90), warp, parsed, nullptr,
     "asynchronous-warpgroup-level-matrix-instructions-wgmma-commit-group"},
    {"wgmma.wait_group.sync.aligned n", "n: u32 imm", ptx(8, 0), arch(90), warp, parsed, nullptr,
     "asynchronous-warpgroup-level-matrix-instructions-wgmma-wait-group"},
    {"wgmma.mma_async.sync.aligned.shape.dtype.f16.f16 d, a, b, scaleD, scaleA, scaleB, transA, transB",
     K("16") WGMMA "dtype = f16 f32; a: b64", ptx(8, 0), arch(90), warp, parsed, nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.dtype.f16.f16 d, a, b, scaleD, scaleA, scaleB, transB",
     K("16") WGMMA "dtype = f16 f32; a: b32 x4", ptx(8, 0), arch(90), warp, parsed, nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16 d, a, b, scaleD, scaleA, scaleB, transA, transB",
     K("16") WGMMA "a: b64", ptx(8, 0), arch(90), warp, parsed, nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16 d, a, b, scaleD, scaleA, scaleB, transB",
     K("16") WGMMA "a: b32 x4", ptx(8, 0), arch(90), warp, parsed, nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32 d, a, b, scaleD, scaleA, scaleB", K("8") WGMMA "a: b64",
     ptx(8, 0), arch(90), warp, parsed, nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32 d, a, b, scaleD, scaleA, scaleB", K("8") WGMMA "a: b32 x4",
     ptx(8, 0), arch(90), warp, parsed, nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d, a, b, scaleD, scaleA, scaleB",
     K("32") WGMMA "dtype = f16 f32; atype = e4m3 e5m2; btype = e4m3 e5m2; a: b64", ptx(8, 0), arch(90), warp, parsed,
     nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d, a, b, scaleD, scaleA, scaleB",
     K("32") WGMMA "dtype = f16 f32; atype = e4m3 e5m2; btype = e4m3 e5m2; a: b32 x4", ptx(8, 0), arch(90), warp,
     parsed, nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.s32.atype.btype{.satfinite} d, a, b, scaleD",
     K("32") WGMMA "atype = u8 s8; btype = u8 s8; a: b64", ptx(8, 0), arch(90), warp, parsed, nullptr, kWgmma},
    {"wgmma.mma_async.sync.aligned.shape.s32.atype.btype{.satfinite} d, a, b, scaleD",
     K("32") WGMMA "atype = u8 s8; btype = u8 s8; a: b32 x4", ptx(8, 0), arch(90), warp, parsed, nullptr, kWgmma},
};

#undef MMA
#undef INT8
#undef INT4
#undef SS
#undef LD
#undef ST
#undef K
#undef WGMMA

}  // namespace

std::span<const Form> matrixForms() { return kForms; }

}  // namespace strata::ptx
