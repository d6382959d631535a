; Barriers of the whole block part a warp's work: the entry runs every warp up to a barrier, then goes on. The sum
; lives in the warp's frame, in one place for all rounds; addresses are computed again from the warp's number.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --simd=avx2 %s | FileCheck %s
; RUN: %simt-opt --rows --simd=portable %s | FileCheck %s
; CHECK: %frames = alloca
; CHECK: round:
; CHECK: %frame = getelementptr inbounds {{.*}} ptr %frames
; CHECK: %[[SHARED:.*]] = load ptr{{.*}}invariant
; CHECK: switch i32 %state, label {{.*}} [
; CHECK-NEXT: i32 -1, label
; CHECK-NEXT: i32 1, label
; CHECK-NEXT: i32 2, label
; CHECK-NOT: call void
; CHECK: loop.i:
; CHECK-NOT: store <32 x float> {{.*}}, align 64
; CHECK: resume.i:
; CHECK-NOT: load ptr
; CHECK: load <32 x float>, ptr {{.*}}, align 64
; CHECK: store <32 x float> %more{{.*}}, ptr {{.*}}, align 64
; CHECK: thread.index.i:
; CHECK: store <32 x float> zeroinitializer, ptr {{.*}}, align 64
; CHECK: phi i32 {{.*}}[ 1, {{.*}} ], [ 2, {{.*}} ], [ -1, {{.*}} ]
; CHECK-NOT: strata.suspend
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %shared.at = getelementptr i8, ptr %block, i64 8
  %shared = load ptr, ptr %shared.at, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %n = load i32, ptr %params, !invariant.load !0
  %tx = call i32 @strata.tid.x()
  %x = zext i32 %tx to i64
  %mine = getelementptr float, ptr %shared, i64 %x
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  store float %sum, ptr %mine
  call void @strata.barrier(i32 0, i32 0)
  %other = xor i64 %x, 1
  %theirs = getelementptr float, ptr %shared, i64 %other
  %a = load float, ptr %theirs
  %more = fadd float %sum, %a
  call void @strata.barrier(i32 0, i32 0)
  %next = add i32 %i, 1
  %on = icmp slt i32 %next, %n
  br i1 %on, label %loop, label %done
done:
  store float %more, ptr %mine
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare void @strata.barrier(i32, i32) convergent
!0 = !{}
