; A column's elements: the index begins with the thread's number, whose low bits carry nothing, and grows by a row of unknown
; length. It may wrap within the warp, so that the contiguous load stands behind a test.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --report %s | FileCheck --check-prefix=REPORT --allow-empty %s
; CHECK: icmp
; CHECK: load <32 x float>
; REPORT-NOT: gather
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %k = load i64, ptr %params, !invariant.load !0
  %n.at = getelementptr i8, ptr %params, i64 8
  %n = load i32, ptr %n.at, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  br label %loop
loop:
  %round = phi i32 [ 0, %entry ], [ %next, %loop ]
  %i = phi i32 [ %tid, %entry ], [ %below, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %wide = sext i32 %i to i64
  %offset = shl nsw i64 %wide, 2
  %a = add i64 %k, %offset
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p, align 4
  %more = fadd float %sum, %v
  %below = add i32 %i, %n
  %next = add i32 %round, 1
  %ends = icmp eq i32 %next, 16
  br i1 %ends, label %done, label %loop
done:
  %t = zext i32 %tid to i64
  %out.at = getelementptr i8, ptr %params, i64 16
  %out = load ptr, ptr %out.at, !invariant.load !0
  %q = getelementptr float, ptr %out, i64 %t
  store float %more, ptr %q
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
