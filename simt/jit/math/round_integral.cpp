// SPDX-License-Identifier: Apache-2.0
// Rounding to an integral float without SSE 4.1's roundps: adding and subtracting 2^23 (2^52) rounds to
// nearest even; the other directions correct that by one. Values beyond 2^23 are integers already; NaNs pass.
#include "simt/jit/math/expansions.h"

namespace strata::simt::math {

Val roundIntegral(Val x, Direction direction) {
  const Val limit = x.lit(x.bits() == 32 ? 0x1p23 : 0x1p52), one = x.lit(1);
  const Val a = abs(x);
  const Val nearest = (a + limit) - limit;  // of |x|
  Val r = copysign(nearest, x);
  switch (direction) {
    case Direction::nearestEven: break;
    case Direction::zero: r = select(gt(nearest, a), nearest - one, nearest); break;
    case Direction::down: r = select(gt(r, x), r - one, r); break;
    case Direction::up: r = select(lt(r, x), r + one, r); break;
    case Direction::nearestAway: {
      const Val whole = select(gt(nearest, a), nearest - one, nearest);
      r = select(ge(a - whole, x.lit(0.5)), whole + one, whole);
      break;
    }
  }
  return select(lt(a, limit), copysign(r, x), x);
}

}  // namespace strata::simt::math
