; The rounds that all lanes run have a loop of their own: no mask, and one scalar comparison for all lanes.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --simd=avx2 %s | FileCheck %s
; RUN: %simt-opt --rows --simd=portable %s | FileCheck %s
; CHECK: loop.full
; CHECK-NOT: masked
; CHECK: load <32 x float>
; CHECK: fadd <32 x float>
; CHECK: %[[U:.*]] = sext i32 %{{.*}} to i64
; CHECK: %[[ALL:.*]] = icmp slt i64
; CHECK: br i1 %[[ALL]]
; CHECK: @llvm.masked.load
; CHECK: select <32 x i1>
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
