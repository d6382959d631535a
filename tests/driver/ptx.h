// SPDX-License-Identifier: Apache-2.0
// The module that the driver's tests load. The fake engine knows its kernels by name and does the same.
#pragma once

namespace strata::test {

inline constexpr const char *kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .global .align 8 .u64 table[8] = {42, 0, 0, 0, 0, 0, 0, counter};
.visible .entry none() { ret; }
.visible .entry add(.param .u64 p, .param .u32 n) {
  .reg .b64 %a; .reg .b32 %v, %n, %t, %b, %d; .reg .b64 %o;
  ld.param.u64 %a, [p];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x;
  mad.lo.u32 %t, %b, %d, %t;
  mul.wide.u32 %o, %t, 4;
  add.u64 %a, %a, %o;
  ld.global.u32 %v, [%a];
  add.u32 %v, %v, %n;
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry scale(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %v, %t, %b, %d; .reg .b64 %o;
  ld.param.u64 %a, [p];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x;
  mad.lo.u32 %t, %b, %d, %t;
  mul.wide.u32 %o, %t, 4;
  add.u64 %a, %a, %o;
  ld.global.u32 %v, [%a];
  mad.lo.u32 %v, %v, 3, 1;
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry spin(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %v; .reg .pred %q;
  ld.param.u64 %a, [p];
again:
  ld.volatile.global.u32 %v, [%a];
  setp.eq.u32 %q, %v, 0;
  @%q bra again;
  ret;
}
.visible .entry store(.param .u64 p) {
  .reg .b64 %a;
  ld.param.u64 %a, [p];
  st.global.u32 [%a], 1;
  ret;
}
.visible .entry stop() { trap; }
.visible .entry bump() {
  .reg .b32 %v;
  ld.global.u32 %v, [counter];
  add.u32 %v, %v, 1;
  st.global.u32 [counter], %v;
  ret;
}
.visible .entry odd(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u16 d) { ret; }
.visible .entry most64(.param .u64 p) .maxntid 64, 1, 1 { ret; }
.visible .entry only64() .reqntid 64, 1, 1 { ret; }
.visible .entry shared40000() {
  .shared .align 4 .b8 s[40000];
  .reg .b32 %v;
  mov.u32 %v, s;
  st.volatile.shared.u32 [%v], %v;
  ret;
}
)";

}  // namespace strata::test
