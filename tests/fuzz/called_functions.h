// SPDX-License-Identifier: Apache-2.0
// Device functions that the kernels of both generators call.
#pragma once

namespace strata::fuzz {

inline constexpr const char *kMix = R"(.func (.param .b32 r) mix(.param .b32 a, .param .b32 b) {
  .reg .b32 %x<6>;
  .reg .pred %q;
  ld.param.u32 %x0, [a];
  ld.param.u32 %x1, [b];
  setp.lt.u32 %q, %x0, %x1;
  @%q bra LESS;
  mad.lo.u32 %x2, %x0, 3, %x1;
  st.param.b32 [r], %x2;
  ret;
LESS:
  xor.b32 %x3, %x0, %x1;
  shl.b32 %x4, %x3, 1;
  st.param.b32 [r], %x4;
  ret;
}

)";

// Calls itself.
inline constexpr const char *kDescend = R"(.func (.param .b32 r) descend(.param .b32 n) {
  .reg .b32 %x<6>;
  .reg .pred %q;
  ld.param.u32 %x0, [n];
  setp.eq.u32 %q, %x0, 0;
  @%q bra DONE;
  sub.u32 %x1, %x0, 1;
  {
    .param .b32 a0;
    .param .b32 r0;
    st.param.b32 [a0], %x1;
    call.uni (r0), descend, (a0);
    ld.param.b32 %x2, [r0];
  }
  mad.lo.u32 %x3, %x2, 5, %x0;
  st.param.b32 [r], %x3;
  ret;
DONE:
  st.param.b32 [r], 1;
  ret;
}

)";

}  // namespace strata::fuzz
