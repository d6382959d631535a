// SPDX-License-Identifier: Apache-2.0
// What the statements of generated kernels are made of: PTX with holes. Only what PTX fixes bit by bit stands here,
// whatever the values are: no division by zero, no NaN's payload in an integer, no result that depends on the order of
// threads.
//   $i $l $s   a register of 32, 64, 16 bits           $f $d $h $e   of f32, f64, f16, bf16
//   $H $E      of f16x2, bf16x2                        $p            a predicate
//   $c         a comparison                            $m            the exact mask of the lanes that are here
//   <a|b>      one of them (may be empty)              #n#           a number below n
//   $L1 $L2    labels of this statement                $W, $N        words of input, threads of a block
// Written and read within one statement: %t0… (32 bits), %u0… (64), %x0… (16), %y0 (f32), %z0 (f64), %q0… (predicates).
#pragma once

namespace strata::fuzz {

// Anywhere. Those of one instruction are also generated with guards.
inline constexpr const char *kAssignments[] = {
    // Integers of 32 bits
    "<add|sub|min|max>.<s32|u32> $i, $i, $i;",
    "<add|sub|min|max>.s32 $i, $i, #1000#;",
    "<add|sub>.sat.s32 $i, $i, $i;",
    "mul.<lo|hi>.<s32|u32> $i, $i, $i;",
    "mad.<lo|hi>.<s32|u32> $i, $i, $i, $i;",
    "<mul24.lo.s32|mul24.hi.u32> $i, $i, $i;",
    "mad24.lo.<s32|u32> $i, $i, $i, $i;",
    "<and|or|xor>.b32 $i, $i, $i;",
    "<not|cnot|brev|popc|clz>.b32 $i, $i;",
    "<neg|abs>.s32 $i, $i;",
    "<shl.b32|shr.u32|shr.s32> $i, $i, <$i|#40#>;",
    "shf.<l|r>.<wrap|clamp>.b32 $i, $i, $i, $i;",
    "lop3.b32 $i, $i, $i, $i, #256#;",
    "prmt.b32<||.f4e|.b4e|.rc8|.ecl|.ecr|.rc16> $i, $i, $i, $i;",
    "bfe.<u32|s32> $i, $i, $i, $i;",
    "bfi.b32 $i, $i, $i, $i, $i;",
    "bfind<|.shiftamt>.<u32|s32> $i, $i;",
    "sad.<u32|s32> $i, $i, $i, $i;",
    "dp4a.<u32|s32>.<u32|s32> $i, $i, $i, $i;",
    "dp2a.<lo|hi>.<u32|s32>.<u32|s32> $i, $i, $i, $i;",
    "szext.<clamp|wrap>.<u32|s32> $i, $i, $i;",
    "bmsk.<clamp|wrap>.b32 $i, $i, $i;",
    "selp.b32 $i, $i, $i, $p;",
    "slct.b32.<s32 $i, $i, $i, $i|f32 $i, $i, $i, $f>;",
    "set.$c.u32.<s32|u32> $i, $i, $i;",
    "set.$c.<and|or|xor>.s32.u32 $i, $i, $i, <|!>$p;",
    "or.b32 %t0, $i, 1;\n  <div|rem>.u32 $i, $i, %t0;",
    "and.b32 %t0, $i, 1023;\n  or.b32 %t0, %t0, 1;\n  <div|rem>.s32 $i, $i, %t0;",
    "add.cc.u32 $i, $i, $i;\n  addc.cc.u32 $i, $i, $i;\n  addc.u32 $i, $i, #9#;",
    "sub.cc.u32 $i, $i, $i;\n  subc.cc.u32 $i, $i, $i;\n  subc.u32 $i, $i, #9#;",
    "mad.lo.cc.u32 $i, $i, $i, $i;\n  madc.hi.u32 $i, $i, $i, $i;",
    // Pairs of 16 bits, and 16 bits
    "<add|min|max>.<s16x2|u16x2> $i, $i, $i;",
    "<add|sub|min|max>.<s16|u16> $s, $s, $s;",
    "mul.<lo|hi>.<s16|u16> $s, $s, $s;",
    "mad.lo.<s16|u16> $s, $s, $s, $s;",
    "mul.wide.<s16|u16> $i, $s, $s;",
    "mad.wide.<s16|u16> $i, $s, $s, $i;",
    "<and|or|xor>.b16 $s, $s, $s;",
    "<not|cnot>.b16 $s, $s;",
    "<neg|abs>.s16 $s, $s;",
    "<shl.b16|shr.u16|shr.s16> $s, $s, <$i|#20#>;",
    "selp.b16 $s, $s, $s, $p;",
    "and.b16 %x0, $s, 127;\n  or.b16 %x0, %x0, 1;\n  <div|rem>.<s16|u16> $s, $s, %x0;",
    // 64 bits
    "<add|sub|min|max>.<s64|u64> $l, $l, $l;",
    "mul.<lo|hi>.<s64|u64> $l, $l, $l;",
    "mad.lo.<s64|u64> $l, $l, $l, $l;",
    "mul.wide.<s32|u32> $l, $i, $i;",
    "mad.wide.<s32|u32> $l, $i, $i, $l;",
    "<and|or|xor>.b64 $l, $l, $l;",
    "<not|cnot|brev>.b64 $l, $l;",
    "<popc|clz>.b64 $i, $l;",
    "<neg|abs>.s64 $l, $l;",
    "<shl.b64|shr.u64|shr.s64> $l, $l, <$i|#70#>;",
    // Positions and lengths beyond 255 are not PTX: an H200 then takes 8 bits of those of 32-bit fields, and all bits
    // of these.
    "and.b32 %t0, $i, 63;\n  and.b32 %t1, $i, 63;\n  bfe.<u64|s64> $l, $l, %t0, %t1;",
    "and.b32 %t0, $i, 63;\n  and.b32 %t1, $i, 63;\n  bfi.b64 $l, $l, $l, %t0, %t1;",
    "bfind.<u64|s64> $i, $l;",
    "selp.b64 $l, $l, $l, $p;",
    "slct.b64.s32 $l, $l, $l, $i;",
    "and.b64 %u0, $l, 0xFFFFFFFFFF;\n  or.b64 %u0, %u0, 1;\n  <div|rem>.<u64|s64> $l, $l, %u0;",
    "add.cc.u64 $l, $l, $l;\n  addc.u64 $l, $l, #9#;",
    // 8 bits: conversions here, memory below
    "cvt.<|sat.><u8|s8>.<s32|u32> $i, $i;",
    "cvt.<s32|u32>.<s8|u8> $i, $i;",
    "cvt.<s16|u16>.<s8|u8> $s, $s;",
    // Predicates
    "setp.$c.<s32|u32> $p, $i, <$i|#100#>;",
    "setp.$c.<s64|u64> $p, $l, $l;",
    "setp.$c.<s16|u16> $p, $s, $s;",
    "setp.$c.<and|or|xor>.s32 $p|%q0, $i, $i, <|!>$p;",
    "setp.<$c|equ|neu|ltu|leu|gtu|geu|num|nan>.<f32 $p, $f, $f|f64 $p, $d, $d|f16 $p, $h, $h|bf16 $p, $e, $e>;",
    "setp.<$c|ltu|nan>.f16x2 $p|%q0, $H, $H;",
    "setp.<$c|ltu|nan>.bf16x2 $p|%q0, $E, $E;",
    "<and|or|xor>.pred $p, $p, $p;",
    "not.pred $p, $p;",
    "testp.<finite|infinite|number|notanumber|normal|subnormal>.<f32 $p, $f|f64 $p, $d>;",
    // f32 and f64
    "<add|sub|mul>.<rn|rz|rm|rp><|.ftz><|.sat>.f32 $f, $f, $f;",
    "fma.<rn|rz|rm|rp><|.ftz><|.sat>.f32 $f, $f, $f, $f;",
    "div.<rn|rz|rm|rp><|.ftz>.f32 $f, $f, $f;",
    "<sqrt|rcp>.<rn|rz|rm|rp><|.ftz>.f32 $f, $f;",
    "<min|max><|.ftz><|.NaN>.f32 $f, $f, $f;",
    "<neg|abs><|.ftz>.f32 $f, $f;",
    "selp.f32 $f, $f, $f, $p;",
    "slct.f32.<s32 $f, $f, $f, $i|f32 $f, $f, $f, $f>;",
    "<add|sub|mul|div>.<rn|rz|rm|rp>.f64 $d, $d, $d;",
    "fma.<rn|rz|rm|rp>.f64 $d, $d, $d, $d;",
    "<sqrt|rcp>.<rn|rz|rm|rp>.f64 $d, $d;",
    "<min|max>.f64 $d, $d, $d;",
    "<neg|abs>.f64 $d, $d;",
    "selp.f64 $d, $d, $d, $p;",
    // f16 and bf16, alone and in pairs
    "<add|sub|mul>.rn<|.ftz><|.sat>.<f16 $h, $h, $h|f16x2 $H, $H, $H>;",
    "fma.rn<|.ftz><|.sat|.relu>.<f16 $h, $h, $h, $h|f16x2 $H, $H, $H, $H>;",
    "<min|max><|.NaN>.<f16 $h, $h, $h|f16x2 $H, $H, $H>;",
    "<neg|abs>.<f16 $h, $h|f16x2 $H, $H>;",
    "<add|sub|mul>.rn.<bf16 $e, $e, $e|bf16x2 $E, $E, $E>;",
    "fma.rn<|.relu>.<bf16 $e, $e, $e, $e|bf16x2 $E, $E, $E, $E>;",
    "<min|max><|.NaN>.<bf16 $e, $e, $e|bf16x2 $E, $E, $E>;",
    "<neg|abs>.<bf16 $e, $e|bf16x2 $E, $E>;",
    // Conversions
    "cvt.<rni|rzi|rmi|rpi>.<s32|u32>.<f32 $i, $f|f64 $i, $d|f16 $i, $h|bf16 $i, $e>;",
    "cvt.<rni|rzi|rmi|rpi>.<s64|u64>.<f32 $l, $f|f64 $l, $d|f16 $l, $h>;",
    "cvt.<rni|rzi|rmi|rpi>.<s16|u16>.<f32 $s, $f|f64 $s, $d|f16 $s, $h>;",
    "cvt.<rn|rz|rm|rp>.f32.<s32 $f, $i|u32 $f, $i|s64 $f, $l|u64 $f, $l|s16 $f, $s|u16 $f, $s|u8 $f, $i>;",
    "cvt.<rn|rz|rm|rp>.f64.<s32 $d, $i|u32 $d, $i|s64 $d, $l|u64 $d, $l|s16 $d, $s>;",
    "cvt.<rn|rz|rm|rp>.f16.<s32 $h, $i|u32 $h, $i|s64 $h, $l|s16 $h, $s|u16 $h, $s>;",
    "cvt.<rn|rz|rm|rp>.bf16.<s32 $e, $i|u32 $e, $i|s16 $e, $s>;",
    "cvt.<rni|rzi|rmi|rpi>.<f32.f32 $f, $f|f64.f64 $d, $d|f16.f16 $h, $h>;",
    "cvt.<rn|rz|rm|rp>.<f32.f64 $f, $d|f16.f32 $h, $f|f16.f64 $h, $d>;",
    "cvt.<rn|rz>.bf16.f32 $e, $f;",
    "cvt.<f64.f32 $d, $f|f32.f16 $f, $h|f64.f16 $d, $h|f32.bf16 $f, $e>;",
    "cvt.rn<|.relu>.<f16x2.f32 $H|bf16x2.f32 $E>, $f, $f;",
    "cvt.<s64.s32 $l, $i|u64.u32 $l, $i|s64.s16 $l, $s|u32.u64 $i, $l|s32.s16 $i, $s|u32.u16 $i, $s|u16.u32 $s, $i>;",
    "cvt.sat.<s32.s64 $i, $l|u32.s64 $i, $l|s16.s32 $s, $i|u16.s32 $s, $i>;",
    // Bits moved between types; a NaN is made canonical on its way to an integer
    "mov.b32 $H, {$h, $h};",
    "mov.b32 {$h, %x0}, $H;",
    "mov.b32 $E, {$e, $e};",
    "mov.b32 {%x0, $e}, $E;",
    "mov.b32 {$s, %x0}, $i;",
    "mov.b32 $i, {$s, $s};",
    "mov.b64 $l, {$i, $i};",
    "mov.b64 {%t0, $i}, $l;",
    "mov.b32 <$f|$H|$E>, $i;",
    "mov.b16 <$h|$e>, $s;",
    "mov.b64 $d, $l;",
    "mov.f32 %y0, $f;\n  setp.num.f32 %q0, %y0, %y0;\n  selp.f32 %y0, %y0, 0f7FC00000, %q0;\n  mov.b32 $i, %y0;",
    "mov.f64 %z0, $d;\n  setp.num.f64 %q0, %z0, %z0;\n  selp.f64 %z0, %z0, 0d7FF8000000000000, %q0;\n  mov.b64 $l, "
    "%z0;",
};

// Memory, atomics and calls: anywhere, too. `own`: this thread's 8 bytes of shared memory; `mine`: its word of global
// memory.
inline constexpr const char *kMemory[] = {
    "and.b32 %t0, $i, 60;\n  cvt.u64.u32 %u0, %t0;\n  mov.u64 %u1, scratch;\n  add.u64 %u0, %u0, %u1;\n  "
    "<st.local.<u32|u16|u8> [%u0], $i|ld.local.<u32|u16|s16|u8|s8> $i, [%u0]>;",
    "and.b32 %t0, $i, 63;\n  cvt.u64.u32 %u0, %t0;\n  mov.u64 %u1, scratch;\n  add.u64 %u0, %u0, %u1;\n  <st.local.u8 "
    "[%u0], $i|ld.local.<u8|s8> $i, [%u0]>;",
    "and.b32 %t0, $i, 48;\n  cvt.u64.u32 %u0, %t0;\n  mov.u64 %u1, scratch;\n  add.u64 %u0, %u0, %u1;\n  "
    "<st.local.v2.u32 [%u0+8], {$i, $i}|ld.local.v2.u32 {$i, %t1}, [%u0]|st.local.u64 [%u0], $l|ld.local.u64 $l, "
    "[%u0+8]|st.local.v4.u16 [%u0], {$s, $s, $s, $s}>;",
    "<st.shared.<u32|u16|u8> [%own+<0|4>], $i|ld.shared.<u32|u16|s16|u8|s8> $i, [%own+<0|4>]|st.shared.u64 [%own], "
    "$l|ld.shared.u64 $l, [%own]|st.shared.v2.u32 [%own], {$i, $i}>;",
    "selp.b64 %u0, %ownAnywhere, %localAnywhere, $p;\n  <st.<u32|u8> [%u0+<0|4>], $i|ld.<u32|s16|s8> $i, "
    "[%u0+<0|4>]|st.u64 [%u0], $l|ld.u64 $l, [%u0]>;",
    "rem.u32 %t0, $i, $W;\n  mul.wide.u32 %u0, %t0, 4;\n  add.u64 %u0, %all, %u0;\n  ld.global<|.nc>.<u32 $i, "
    "[%u0]|u16 $i, [%u0+2]|s16 $i, [%u0]|u8 $i, [%u0+3]|s8 $i, [%u0+1]>;",
    "rem.u32 %t0, $i, $W;\n  and.b32 %t0, %t0, -4;\n  mul.wide.u32 %u0, %t0, 4;\n  add.u64 %u0, %all, %u0;\n  "
    "<ld.global.v4.u32 {$i, %t1, %t2, %t3}, [%u0]|ld.global.v2.u64 {$l, %u1}, [%u0]|ld.global.nc.v2.u32 {$i, %t1}, "
    "[%u0]>;",
    "ld.global.u32 $i, [%all+<0|4|8|12|60>];",
    "add.u32 %t0, %thread, #900#;\n  rem.u32 %t0, %t0, $W;\n  mul.wide.u32 %u0, %t0, 4;\n  add.u64 %u0, %all, %u0;\n  "
    "ld.global.u32 $i, [%u0];",
    "and.b32 %t0, $i, 60;\n  cvt.u64.u32 %u0, %t0;\n  mov.u64 %u1, constants;\n  add.u64 %u0, %u0, %u1;\n  "
    "ld.const.u32 $i, [%u0];",
    "<st.global.u32 [%mine], $i|ld.global.u32 $i, [%mine]>;",
    // Atomics that commute
    "red.global.<add.u32 [%counters], $i|min.u32 [%counters+4], $i|max.s32 [%counters+8], $i|and.b32 [%counters+12], "
    "$i|or.b32 [%counters+16], $i|xor.b32 [%counters+20], $i>;",
    "red.global.<inc.u32 [%counters+24], 99|dec.u32 [%counters+28], 77|add.u64 [%counters+32], $l|max.s64 "
    "[%counters+40], $l|and.b64 [%counters+48], $l|min.u64 [%counters+56], $l>;",
    "and.b32 %t0, $i, 60;\n  mov.u32 %t1, tally;\n  add.u32 %t0, %t0, %t1;\n  red.shared.add.u32 [%t0], $i;",
    "and.b32 %t0, $i, 255;\n  cvt.rn.f32.u32 %y0, %t0;\n  red.shared.add.f32 [sums], %y0;",
    "and.b32 %t0, $i, 255;\n  cvt.rn.f64.u32 %z0, %t0;\n  red.shared.add.f64 [sums+8], %z0;",
    "atom.global.add.u32 %t0, [%counters+64], 1;\n  red.global.add.u32 [%counters+68], %t0;",
    "ld.volatile.shared.u32 %t0, [sums+16];\n  mov.u32 %t3, $i;\n$L1:\n  add.u32 %t1, %t0, %t3;\n  atom.shared.cas.b32 "
    "%t2, [sums+16], %t0, %t1;\n  setp.ne.u32 %q0, %t2, %t0;\n  mov.u32 %t0, %t2;\n  @%q0 bra $L1;",
    // Atomics whose old value is known, since nobody else comes there
    "atom.shared.<add.u32|add.s32|min.s32|max.u32|and.b32|or.b32|xor.b32|exch.b32|inc.u32|dec.u32> $i, [%own<|+4>], "
    "$i;",
    "atom.shared.cas.b32 $i, [%own], $i, $i;",
    "atom.shared.<add.u64|exch.b64|min.s64|xor.b64> $l, [%own], $l;",
    "atom.shared.cas.b64 $l, [%own], $l, $l;",
    "st.shared.f32 [%own], 0f3FC00000;\n  atom.shared.add.f32 $f, [%own], $f;\n  st.shared.u32 [%own], $i;",
    "atom.global.<add.u32|min.s32|max.u32|and.b32|or.b32|xor.b32|exch.b32|inc.u32> $i, [%mine], $i;",
    "atom.global.cas.b32 $i, [%mine], $i, $i;",
    // Calls: direct, recursive, through a pointer that lanes may not share
    "{\n  .param .b32 a0;\n  .param .b32 a1;\n  .param .b32 r0;\n  st.param.b32 [a0], $i;\n  st.param.b32 [a1], $i;\n  "
    "call.uni (r0), <mix|leap>, (a0, a1);\n  ld.param.b32 $i, [r0];\n  }",
    "and.b32 %t0, $i, 7;\n  {\n  .param .b32 a0;\n  .param .b32 r0;\n  st.param.b32 [a0], %t0;\n  call.uni (r0), "
    "descend, (a0);\n  ld.param.b32 $i, [r0];\n  }",
    "selp.b32 %t0, 8, 0, $p;\n  cvt.u64.u32 %u0, %t0;\n  mov.u64 %u1, functions;\n  add.u64 %u0, %u0, %u1;\n  "
    "ld.global.u64 %u0, [%u0];\n  {\n  .param .b32 a0;\n  .param .b32 a1;\n  .param .b32 r0;\n  st.param.b32 [a0], "
    "$i;\n  st.param.b32 [a1], $i;\n  call (r0), %u0, (a0, a1), PROTOTYPE;\n  ld.param.b32 $i, [r0];\n  }",
};

// Where the lanes that are here are known.
inline constexpr const char *kCollectives[] = {
    "vote.sync.ballot.b32 $i, <|!>$p, $m;",
    "vote.sync.<all|any|uni>.pred $p, <|!>$p, $m;",
    "redux.sync.<add.u32|add.s32|min.u32|min.s32|max.u32|max.s32|and.b32|or.b32|xor.b32> $i, $i, $m;",
    "and.b32 %t0, $i, 3;\n  match.any.sync.b32 $i, %t0, $m;",
    "and.b64 %u0, $l, 3;\n  match.any.sync.b64 $i, %u0, $m;",
    "and.b32 %t0, $i, 1;\n  match.all.sync.b32 $i|$p, %t0, $m;",
    "st.shared.u32 [%own], $i;\n  bar.warp.sync $m;\n  bfind.u32 %t0, $m;\n  and.b32 %t1, %thread, -32;\n  add.u32 "
    "%t0, %t0, %t1;\n  shl.b32 %t0, %t0, 3;\n  mov.u32 %t1, board;\n  add.u32 %t0, %t0, %t1;\n  ld.shared.u32 $i, "
    "[%t0];\n  bar.warp.sync $m;",
};

// Where all threads of the block are.
inline constexpr const char *kBarriers[] = {
    "st.shared.u32 [%own], $i;\n  <bar.sync 0|barrier.sync 1|barrier.sync.aligned 2>;\n  add.u32 %t0, %thread, #31#;\n "
    " rem.u32 %t0, %t0, $N;\n  shl.b32 %t0, %t0, 3;\n  mov.u32 %t1, board;\n  add.u32 %t0, %t0, %t1;\n  "
    "ld.shared.<u32|s16|u8> $i, [%t0];\n  bar.sync 0;",
    "st.shared.u64 [%own], $l;\n  bar.sync 0;\n  sub.u32 %t0, $N, %thread;\n  sub.u32 %t0, %t0, 1;\n  shl.b32 %t0, "
    "%t0, 3;\n  mov.u32 %t1, board;\n  add.u32 %t0, %t0, %t1;\n  ld.shared.u64 $l, [%t0];\n  bar.sync 0;",
    "bar.red.popc.u32 $i, 0, <|!>$p;",
    "bar.red.<and|or>.pred $p, <0|3>, <|!>$p;",
};

}  // namespace strata::fuzz
