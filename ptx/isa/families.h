// SPDX-License-Identifier: Apache-2.0
// The families of the instruction table, in the order of the manual's chapters; one file each.
#pragma once

#include <span>

#include "ptx/isa/form.h"

namespace strata::ptx {

#define PTX_FAMILIES(X)                                                                                        \
  X(integer) X(floatingPoint) X(half) X(compare) X(logic) X(move) X(memory) X(convert) X(control) X(barrier) \
  X(atomic) X(warp) X(video) X(async) X(matrix) X(wmma)

#define X(family) std::span<const Form> family##Forms();
PTX_FAMILIES(X)
#undef X

}  // namespace strata::ptx
