; Warps take turns in a loop that steps far: the kernel is split there, though it has no barrier, and what lives in the
; loop is kept when a turn ends, not in each round.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --simd=portable %s | FileCheck %s
; RUN: sed 's/i32 %i, 4096/i32 %i, 32/; s/i64 16384/i64 128/' %s | %simt-opt --rows - | FileCheck --check-prefix=NEAR %s
; RUN: sed 's/load float/load i8/; s/getelementptr float/getelementptr i8/; s/\(fadd float .sum, .\)v/\1f/; s/; narrow//' %s | %simt-opt --rows - | FileCheck --check-prefix=NARROW %s
; CHECK: switch i32
; CHECK: i32 1073741825, label %resume
; CHECK: load <32 x float>
; CHECK-NEXT: fadd <32 x float>
; CHECK-NOT: store
; CHECK: icmp slt i64
; CHECK: icmp eq i32 {{.*}}, 32
; CHECK: store <32 x float>
; Where a warp reads only a part of each line, turns are short.
; NARROW: load <32 x i8>
; NARROW: icmp eq i32 {{.*}}, 4
; NEAR-NOT: switch
; NEAR: load <32 x float>
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %in = load ptr, ptr %params, !invariant.load !0
  %n.at = getelementptr i8, ptr %params, i64 8
  %n = load i32, ptr %n.at, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %start = getelementptr float, ptr %in, i64 %w
  br label %loop
loop:
  %i = phi i32 [ %tid, %entry ], [ %next, %loop ]
  %p = phi ptr [ %start, %entry ], [ %q, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %v = load float, ptr %p
; narrow  %f = uitofp i8 %v to float
  %more = fadd float %sum, %v
  %next = add i32 %i, 4096
  %q = getelementptr i8, ptr %p, i64 16384
  %stay = icmp slt i32 %next, %n
  br i1 %stay, label %loop, label %done
done:
  %out = getelementptr float, ptr %in, i64 %w
  store float %more, ptr %out
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
