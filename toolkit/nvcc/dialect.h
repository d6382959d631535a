// SPDX-License-Identifier: Apache-2.0
// Source text that nvcc takes and clang does not, because nvcc's compilers read what the preprocessor wrote. Such files
// are preprocessed first, their text is changed, and clang compiles the result:
//
//   k << <g, b> > >(x)                   →  k<<<g, b>>>(x)
//   k<<<g, {16, 16}>>>(x)                →  k<<<g, dim3{16, 16}>>>(x)
//   extern "C"__global__                 →  extern "C" __attribute__((global))
//   asm("mov.u32 %0, %laneid;" : …)      →  asm("mov.u32 %0, %%laneid;" : …)
//   #define UNROLL #pragma unroll        a pragma, once it is read again
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::nvcc {

// Whether the file, or what it includes in quotes from its folder or one of these, has text that looks like one of the
// above. May be wrong in saying yes.
bool mayNeedRewriting(const std::string &file, const std::vector<std::string> &folders);

// Preprocessed text, changed as above where it is not a system header's. The number of lines stays.
std::string rewriteDialect(std::string_view preprocessed);

}  // namespace strata::nvcc
