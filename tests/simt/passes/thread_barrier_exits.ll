; A way out that meets the way on to a barrier, and parts from it by what a phi says, is a way out: the lanes store when they leave.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: icmp eq <32 x i32>
; CHECK: call void @llvm.masked.store{{.*}}i32 77
; CHECK-NOT: masked.store{{.*}}i32 77
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %out = load ptr, ptr %params, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %p = getelementptr i32, ptr %out, i64 %w
  %rounds = load i32, ptr %p
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %n, %next ]
  %leaves = icmp eq i32 %i, %rounds
  br i1 %leaves, label %meet, label %stays
stays:
  %seen = load volatile i32, ptr %out
  br label %meet
meet:
  %how = phi i32 [ 8, %loop ], [ 1, %stays ]
  %gone = icmp eq i32 %how, 8
  br i1 %gone, label %say, label %next
next:
  call void @strata.barrier(i32 0, i32 0)
  %n = add i32 %i, 1
  %more = icmp ult i32 %n, 99
  br i1 %more, label %loop, label %done
say:
  store i32 77, ptr %p
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare void @strata.barrier(i32, i32) convergent
!0 = !{}
