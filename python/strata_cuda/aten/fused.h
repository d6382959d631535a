// SPDX-License-Identifier: Apache-2.0
// Operators that exist for GPUs as one kernel of machine code only, written in others: attention, cells of recurrent
// networks, root-mean-square norms, products with a type of their own.
#pragma once

#include <torch/library.h>

namespace strata_cuda {

// Registers them; `autograd` is for those whose gradient is that of what they are written in.
void addFused(torch::Library &cuda, torch::Library &autograd);

}  // namespace strata_cuda
