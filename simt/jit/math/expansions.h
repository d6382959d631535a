// SPDX-License-Identifier: Apache-2.0
// The expansions that expand.cpp chooses from. Each takes and gives Vals of one shape.
#pragma once

#include "simt/jit/math/elementwise.h"
#include "simt/target/cpu_features.h"

namespace strata::simt::math {

enum class Direction { nearestEven, nearestAway, zero, down, up };

// target/*_approx.cpp: f32, within PTX's error bounds, special cases as PTX's tables give them.
Val approxRcp(const CpuFeatures &cpu, Val x);
Val approxRsqrt(const CpuFeatures &cpu, Val x);
Val approxSin(const CpuFeatures &cpu, Val x);
Val approxCos(const CpuFeatures &cpu, Val x);
Val approxEx2(const CpuFeatures &cpu, Val x);
Val approxLg2(const CpuFeatures &cpu, Val x);
Val approxTanh(const CpuFeatures &cpu, Val x);

// target/*_minmax.cpp
Val minimumNumber(const CpuFeatures &cpu, Val a, Val b);
Val maximumNumber(const CpuFeatures &cpu, Val a, Val b);
Val flushSubnormal(const CpuFeatures &cpu, Val x);

// target/*_directed.cpp: operation is fadd, fsub, fmul, fdiv, fsqrt or fma; f32 and f64; direction zero, down or up.
Val directed(const CpuFeatures &cpu, llvm::StringRef operation, Direction direction, llvm::ArrayRef<Val> args);
// The neighbour of r (= x in a smaller format, rounded to nearest) that x rounds to in this direction.
// residual < 0: x lies below r; > 0: above; 0 (or NaN): x is r.
Val adjust(Val r, Val residual, Direction direction);

// convert.cpp: conversions that are rounded once, for any direction.
Val widen(const CpuFeatures &cpu, Val x, llvm::Type *to);
Val narrow(const CpuFeatures &cpu, Val x, llvm::Type *to, Direction direction);
Val integerToFloat(const CpuFeatures &cpu, Val x, llvm::Type *to, bool isSigned, Direction direction);

// round_integral.cpp: without SSE 4.1, and round-half-away on every CPU.
Val roundIntegral(Val x, Direction direction);

// soft_fma.cpp: fma on CPUs without it.
Val softFma(Val a, Val b, Val c, Direction direction);

// division.cpp: vector udiv/sdiv/urem/srem, total: any divisor may stand in an inactive lane.
Val divideVector(Val a, Val b, bool isSigned, bool remainder);

}  // namespace strata::simt::math
