// SPDX-License-Identifier: Apache-2.0
// What mma.sync and wmma share: matrix fragments spread over a warp, their elements and sums.
#pragma once

#include "ptx/isa/lane.h"

namespace strata::ptx {

inline Value lane(LaneBuilder &b) { return b.special(SpecialRegister::laneid); }
inline Value shiftRight(LaneBuilder &b, Value v, unsigned n) { return b.shift(ShiftOp::lshr, v, i32(b, n)); }
inline Value shiftLeft(LaneBuilder &b, Value v, unsigned n) { return b.shift(ShiftOp::shl, v, i32(b, n)); }

// `value` of lane `from`; 32 or 64 bits.
Value fetch(LaneBuilder &b, Value value, Value from);
// The elements of one register, as the numbers that are multiplied: f32, f64, or i64 for integers.
std::vector<Value> elementsOf(LaneBuilder &b, Value reg, Type type);
Value multiplyAdd(LaneBuilder &b, Value x, Value y, Value sum);
// Accumulators (operand 3) as they are summed: f32, f64, or i64 for integers.
std::vector<Value> accumulators(LaneBuilder &b, const Instruction &i, Type type);
// Writes sums to operand 0; .satfinite is obeyed.
void defineResults(LaneBuilder &b, const Instruction &i, Type type, const std::vector<Value> &sums);

}  // namespace strata::ptx
