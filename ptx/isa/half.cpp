// SPDX-License-Identifier: Apache-2.0
// Half precision: f16, f16x2, bf16, bf16x2. Each operation is rounded once.
#include "ptx/isa/families.h"
#include "ptx/isa/float.h"

namespace strata::ptx {
namespace {

constexpr auto kHalf = "type = f16 f16x2";
constexpr auto kBfloat = "type = bf16 bf16x2";
constexpr State run = State::executes;

constexpr Form kForms[] = {
    {"add{.rn}{.ftz}{.sat}.type d, a, b", kHalf, ptx(4, 2), sm(53), pure, run, floatAdd,
     "half-precision-floating-point-instructions-add"},
    {"add{.rn}.type d, a, b", kBfloat, ptx(7, 8), sm(90), pure, run, floatAdd,
     "half-precision-floating-point-instructions-add"},
    {"sub{.rn}{.ftz}{.sat}.type d, a, b", kHalf, ptx(4, 2), sm(53), pure, run, floatSub,
     "half-precision-floating-point-instructions-sub"},
    {"sub{.rn}.type d, a, b", kBfloat, ptx(7, 8), sm(90), pure, run, floatSub,
     "half-precision-floating-point-instructions-sub"},
    {"mul{.rn}{.ftz}{.sat}.type d, a, b", kHalf, ptx(4, 2), sm(53), pure, run, floatMul,
     "half-precision-floating-point-instructions-mul"},
    {"mul{.rn}.type d, a, b", kBfloat, ptx(7, 8), sm(90), pure, run, floatMul,
     "half-precision-floating-point-instructions-mul"},
    {"fma.rn{.ftz}{.sat}.type d, a, b, c", kHalf, ptx(4, 2), sm(53), pure, run, floatFma,
     "half-precision-floating-point-instructions-fma"},
    {"fma.rn{.ftz}.relu.type d, a, b, c", kHalf, ptx(7, 0), sm(80), pure, run, floatFma,
     "half-precision-floating-point-instructions-fma"},
    {"fma.rn{.relu}.type d, a, b, c", kBfloat, ptx(7, 0), sm(80), pure, run, floatFma,
     "half-precision-floating-point-instructions-fma"},
    {"fma.rn.oob{.relu}.type d, a, b, c", "type = f16 f16x2 bf16 bf16x2", ptx(8, 1), sm(90), pure, State::parsesOnly,
     nullptr, "half-precision-floating-point-instructions-fma"},
    {"neg{.ftz}.type d, a", kHalf, ptx(6, 0), sm(53), pure, run, floatNeg,
     "half-precision-floating-point-instructions-neg"},
    {"neg.type d, a", kBfloat, ptx(7, 0), sm(80), pure, run, floatNeg,
     "half-precision-floating-point-instructions-neg"},
    {"abs{.ftz}.type d, a", kHalf, ptx(6, 5), sm(53), pure, run, floatAbs,
     "half-precision-floating-point-instructions-abs"},
    {"abs.type d, a", kBfloat, ptx(7, 0), sm(80), pure, run, floatAbs,
     "half-precision-floating-point-instructions-abs"},
    {"min{.ftz}{.NaN}{.xorsign.abs}.type d, a, b", kHalf, ptx(7, 0), sm(80), pure, run, floatMin,
     "half-precision-floating-point-instructions-min"},
    {"min{.NaN}{.xorsign.abs}.type d, a, b", kBfloat, ptx(7, 0), sm(80), pure, run, floatMin,
     "half-precision-floating-point-instructions-min"},
    {"max{.ftz}{.NaN}{.xorsign.abs}.type d, a, b", kHalf, ptx(7, 0), sm(80), pure, run, floatMax,
     "half-precision-floating-point-instructions-max"},
    {"max{.NaN}{.xorsign.abs}.type d, a, b", kBfloat, ptx(7, 0), sm(80), pure, run, floatMax,
     "half-precision-floating-point-instructions-max"},
    {"tanh.approx.type d, a", "type = f16 f16x2 bf16 bf16x2", ptx(7, 0), sm(75), pure, run, floatApprox<Approx::tanh>,
     "half-precision-floating-point-instructions-tanh"},
    {"ex2.approx.type d, a", kHalf, ptx(7, 0), sm(75), pure, run, floatApprox<Approx::ex2>,
     "half-precision-floating-point-instructions-ex2"},
    {"ex2.approx.ftz.type d, a", kBfloat, ptx(7, 8), sm(90), pure, run, floatApprox<Approx::ex2>,
     "half-precision-floating-point-instructions-ex2"},
};

}  // namespace

std::span<const Form> halfForms() { return kForms; }

}  // namespace strata::ptx
