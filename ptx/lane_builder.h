// SPDX-License-Identifier: Apache-2.0
// What an instruction means, for one lane, is written against this interface (ptx/isa/*.cpp);
// simt/lower implements it with LLVM. A Value is an SSA value of a ScalarType. Operands are read and
// results written by the meaning itself, through operand()/define(), so that a meaning is one function:
//
//   void add_f32(LaneBuilder &b, const Instruction &i) {
//     Value r = b.fadd(flush(b, i, b.operand(i, 1, Type::f32)), flush(b, i, b.operand(i, 2, Type::f32)), rounding(i));
//     b.define(i, 0, saturate(b, i, flush(b, i, r)), Type::f32);
//   }
//
// Control flow (bra, brx.idx, call, ret, exit) is not here: simt/lower builds it from the tree.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "ptx/ptx.h"

namespace strata::ptx {

// Opaque handle (an llvm::Value in simt/lower).
struct Value {
  void *handle = nullptr;
  explicit operator bool() const { return handle; }
};

// Scalar types of lane IR. Packed PTX types (f16x2, …) are i32/i64 until a meaning unpacks them.
enum class ScalarType : std::uint8_t { i1, i8, i16, i32, i64, i128, f16, bf16, f32, f64 };
ScalarType scalarType(Type type);  // b/u/s -> iN; f16x2, bf16x2, b32 -> i32; tf32 -> f32; pred -> i1

enum class Rounding : std::uint8_t { nearestEven, zero, down, up, nearestAway };
enum class IntOp : std::uint8_t {
  add,
  sub,
  mul,
  and_,
  or_,
  xor_,
  udiv,
  sdiv,
  urem,
  srem,  // division by 0 gives all ones / the dividend, never traps; MIN/-1 wraps
  smin,
  smax,
  umin,
  umax,
  umulhi,
  smulhi,
  uaddsat,
  saddsat,
  usubsat,
  ssubsat,
};
enum class ShiftOp : std::uint8_t { shl, lshr, ashr };  // amount >= width: PTX's clamp (0, or sign fill)
enum class Unary : std::uint8_t { popcount, clz, reverse, not_, neg };
enum class Compare : std::uint8_t { eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge };
// Ordered comparisons are false on NaN, unordered (u…) true. num: neither is NaN; nan: one is.
enum class FCompare : std::uint8_t { oeq, one, olt, ole, ogt, oge, ueq, une, ult, ule, ugt, uge, num, nan };
enum class FloatOp : std::uint8_t { add, sub, mul, div };
// Approximate functions of f32 (and of f16/f64 where PTX has them), within PTX's stated error.
enum class Approx : std::uint8_t { rcp, rsqrt, sqrt, sin, cos, ex2, lg2, tanh, div };
enum class AtomicOp : std::uint8_t {
  exch,
  add,
  sub,
  and_,
  or_,
  xor_,
  smin,
  smax,
  umin,
  umax,
  inc,
  dec,
  fadd,
  fmin,
  fmax
};
enum class Order : std::uint8_t { weak, relaxed, acquire, release, acqRel, seqCst, volatile_ };
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

// A memory access. `address` is in the space's own window (shared: offset from the block's base).
struct Access {
  Space space = Space::generic;
  Order order = Order::weak;
  Scope scope = Scope::sys;
  bool nonTemporal = false;  // .cs/.lu/L1::no_allocate: a hint
  bool readOnly = false;     // ld.global.nc, ld.const, ld.param: memory does not change during the launch
};

class LaneBuilder {
public:
  virtual ~LaneBuilder() = default;

  // --- operands -------------------------------------------------------------------------------
  // Operand `index` read as `type`: registers are bit-cast (and zero-/sign-extended or truncated where
  // PTX's relaxed type checking allows a wider register), immediates converted, symbols give their address.
  virtual Value operand(const Instruction &i, unsigned index, Type type) = 0;
  // Element `element` of a vector or pair operand.
  virtual Value element(const Instruction &i, unsigned index, unsigned element, Type type) = 0;
  // Address operand [base + offset] as i64 in the window of `space`.
  virtual Value address(const Instruction &i, unsigned index, Space space) = 0;
  // Writes a result; a sink operand is ignored. Narrow results widen as PTX says (sign by `type`).
  virtual void define(const Instruction &i, unsigned index, Value value, Type type) = 0;
  virtual void defineElement(const Instruction &i, unsigned index, unsigned element, Value value, Type type) = 0;
  // True when operand d|p (or element) is present and not a sink.
  virtual bool wants(const Instruction &i, unsigned index, unsigned element) = 0;

  // --- constants, casts -----------------------------------------------------------------------
  virtual Value constant(ScalarType type, std::uint64_t bits) = 0;  // float types: the bit pattern
  virtual ScalarType typeOf(Value v) = 0;
  virtual Value bitcast(Value v, ScalarType to) = 0;
  virtual Value trunc(Value v, ScalarType to) = 0;
  virtual Value zext(Value v, ScalarType to) = 0;  // same width: no-op
  virtual Value sext(Value v, ScalarType to) = 0;

  // --- integers, bits -------------------------------------------------------------------------
  virtual Value integer(IntOp op, Value a, Value b) = 0;
  virtual Value shift(ShiftOp op, Value a, Value amount32) = 0;
  virtual Value funnelLeft(Value hi, Value lo, Value amount) = 0;  // amount modulo width
  virtual Value funnelRight(Value hi, Value lo, Value amount) = 0;
  virtual Value unary(Unary op, Value a) = 0;
  virtual Value compare(Compare op, Value a, Value b) = 0;
  virtual Value select(Value condition, Value a, Value b) = 0;

  // --- floating point: IEEE, exactly rounded, never contracted, subnormals kept --------------------
  virtual Value floating(FloatOp op, Value a, Value b, Rounding r = Rounding::nearestEven) = 0;
  virtual Value fma(Value a, Value b, Value c, Rounding r = Rounding::nearestEven) = 0;
  virtual Value sqrt(Value a, Rounding r = Rounding::nearestEven) = 0;
  virtual Value fneg(Value a) = 0;
  virtual Value fabs(Value a) = 0;
  virtual Value copysign(Value magnitude, Value sign) = 0;
  virtual Value fcompare(FCompare op, Value a, Value b) = 0;
  virtual Value fmin(Value a, Value b) = 0;  // IEEE minimumNumber: a NaN loses, -0 < +0
  virtual Value fmax(Value a, Value b) = 0;
  virtual Value flushSubnormal(Value a) = 0;  // subnormal -> zero of the same sign
  virtual Value approx(Approx fn, Value a) = 0;
  virtual Value roundToIntegral(Value a, Rounding r) = 0;  // stays a float
  virtual Value floatToFloat(Value a, ScalarType to, Rounding r = Rounding::nearestEven) = 0;
  virtual Value floatToInt(Value a, ScalarType to, bool isSigned,
                           Rounding r) = 0;  // saturates; NaN -> 0 (s/u32 and less), PTX's cvt rule
  virtual Value intToFloat(Value a, ScalarType to, bool isSigned, Rounding r = Rounding::nearestEven) = 0;

  // --- memory ---------------------------------------------------------------------------------
  // `count` consecutive elements of `type` (v2/v4/v8); the whole access must be aligned to its size.
  virtual std::vector<Value> load(const Access &access, ScalarType type, unsigned count, Value address) = 0;
  virtual void store(const Access &access, Value address, const std::vector<Value> &values) = 0;
  virtual Value atomic(AtomicOp op, const Access &access, Value address, Value operand) = 0;  // old value
  virtual Value compareExchange(const Access &access, Value address, Value expected, Value desired) = 0;
  virtual void fence(Order order, Scope scope) = 0;
  virtual Value toGeneric(Space from, Value address) = 0;  // cvta
  virtual Value fromGeneric(Space to, Value address) = 0;  // cvta.to
  virtual Value isSpace(Space space, Value generic) = 0;   // isspacep, i1
  virtual void copy(Space dstSpace, Value dst, Space srcSpace, Value src,
                    Value bytes) = 0;  // cp.async and kin: done at once

  // --- the lane's place, time -------------------------------------------------------------------
  virtual Value special(SpecialRegister which) = 0;

  // --- other lanes, the block, the machine: a named lane-IR intrinsic (simt/lane_ir.md) --------------
  // E.g. intrinsic("shfl.up", {mask, value, b, c}, {i32, i1}) -> two values. Unknown names are a bug.
  virtual std::vector<Value> intrinsic(std::string_view name, const std::vector<Value> &args,
                                       const std::vector<ScalarType> &results) = 0;
};

}  // namespace strata::ptx
