// SPDX-License-Identifier: Apache-2.0
// Meanings that f32, f64 and the half types share; the types come from the instruction.
#pragma once

#include "ptx/isa/lane.h"

namespace strata::ptx {

void floatAdd(LaneBuilder &b, const Instruction &i);
void floatSub(LaneBuilder &b, const Instruction &i);
void floatMul(LaneBuilder &b, const Instruction &i);
void floatFma(LaneBuilder &b, const Instruction &i);  // fma, mad; .relu
void floatNeg(LaneBuilder &b, const Instruction &i);
void floatAbs(LaneBuilder &b, const Instruction &i);
void floatMin(LaneBuilder &b, const Instruction &i);  // .NaN, .xorsign.abs; two or three inputs
void floatMax(LaneBuilder &b, const Instruction &i);
template <Approx function>
void floatApprox(LaneBuilder &b, const Instruction &i) {
  elementwise<1>(b, i, i.type(), [&](auto v) { return flush(b, i, b.approx(function, flush(b, i, v[0]))); });
}

}  // namespace strata::ptx
