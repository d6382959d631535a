; A lane that leaves a loop with a barrier writes before the others come to it; a lane that leaves for a collective
; waits for them as before, and so does one that leaves a loop without barriers.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: sed 's/call void @strata.barrier(i32 0, i32 0)//' %s | %simt-opt --rows - | FileCheck --check-prefix=AFTER %s
; RUN: sed 's/;leave/call void @strata.warpsync(i32 -1)/' %s | %simt-opt --rows - | FileCheck --check-prefix=AFTER %s
; CHECK: icmp eq <32 x i32>
; CHECK-NOT: br
; CHECK: call void @llvm.masked.store{{.*}}i32 77
; AFTER: icmp eq <32 x i32>
; AFTER: br
; AFTER: call void @llvm.masked.store{{.*}}i32 77
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
  br i1 %leaves, label %gone, label %next
next:
  call void @strata.barrier(i32 0, i32 0)
  %n = add i32 %i, 1
  %more = icmp ult i32 %n, 99
  br i1 %more, label %loop, label %done
gone:
  ;leave
  store i32 77, ptr %p
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare void @strata.barrier(i32, i32) convergent
declare void @strata.warpsync(i32) convergent
!0 = !{}
