// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

extern "C" void strata_entry(Block *, Warp *) {}
