; Ways out that meet the way on in two joins, and part from it by a number, or by what a branch has decided before, are ways out: the lanes
; store when they leave, and the kernel needs no lane mode.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: sed 's/icmp eq i32 .how2, 8/icmp eq i32 \x25i, \x25rounds/; s/br i1 .gone, label/br i1 \x25leaves, label/' %s | %simt-opt --rows | FileCheck %s --check-prefix=KNOWN
; KNOWN-NOT: lane mode
; KNOWN: call void @llvm.masked.store{{.*}}i32 77
; CHECK-NOT: lane mode
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
  %word = getelementptr i32, ptr %out, i64 %w
  %rounds = load i32, ptr %word
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %n, %next ]
  %leaves = icmp eq i32 %i, %rounds
  br i1 %leaves, label %meet, label %stays
stays:
  %seen = load volatile i32, ptr %out
  %odd = icmp ult i32 %i, 7
  br i1 %odd, label %meet, label %again
again:
  %seen2 = load volatile i32, ptr %out
  br label %meet2
meet:
  %how = phi i32 [ 8, %loop ], [ 1, %stays ]
  br label %meet2
meet2:
  %how2 = phi i32 [ %how, %meet ], [ 2, %again ]
  %other = icmp eq i32 %how2, 2
  br i1 %other, label %next, label %part
part:
  %gone = icmp eq i32 %how2, 8
  br i1 %gone, label %say, label %next
next:
  call void @strata.barrier(i32 0, i32 0)
  %n = add i32 %i, 1
  %more = icmp ult i32 %n, 99
  br i1 %more, label %loop, label %done
say:
  store i32 77, ptr %word
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare void @strata.barrier(i32, i32) convergent
!0 = !{}
