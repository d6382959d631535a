; An exit in the middle of a round, before anything that has an effect: the round that some lanes do not finish is
; started again in the masked loop.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --simd=avx2 %s | FileCheck %s
; CHECK: loop.full
; CHECK: load <32 x i32>
; CHECK: %[[BITS:.*]] = bitcast <32 x i1> %{{.*}} to i32
; CHECK: icmp eq i32 %[[BITS]], 0
; CHECK: @llvm.masked.load
; CHECK: xor <32 x i1>
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %in = load ptr, ptr %params, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %start = getelementptr i32, ptr %in, i64 %w
  br label %loop
loop:
  %p = phi ptr [ %start, %entry ], [ %q, %more ]
  %count = phi i32 [ 0, %entry ], [ %next, %more ]
  %v = load i32, ptr %p
  %found = icmp eq i32 %v, %tid
  br i1 %found, label %done, label %more
more:
  store i32 -1, ptr %p
  %next = add i32 %count, 1
  %q = getelementptr i8, ptr %p, i64 16384
  %again = icmp ult i32 %next, 100
  br i1 %again, label %loop, label %done
done:
  %n = phi i32 [ %count, %loop ], [ %next, %more ]
  %out = getelementptr i32, ptr %in, i64 %w
  store i32 %n, ptr %out
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
