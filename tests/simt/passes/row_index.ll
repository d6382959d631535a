; Between barriers any warp may go on, so that its row cannot be counted: it is computed from the warp's number, by shifts
; where a row is a power of two threads.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: beyond.row{{.*}}:
; CHECK: shift{{.*}}:
; CHECK: and i32
; CHECK: divide{{.*}}:
; CHECK-NEXT: udiv i32
; CHECK-NEXT: urem i32

define void @kernel(ptr %warp) "strata.kernel" {
  %block = load ptr, ptr %warp, !invariant.load !0
  %p = load ptr, ptr %block, !invariant.load !0
  call void @strata.barrier(i32 0, i32 0)
  %y = call i32 @strata.tid.y()
  %x = call i32 @strata.tid.x()
  %w = sext i32 %x to i64
  %q = getelementptr i32, ptr %p, i64 %w
  store i32 %y, ptr %q
  ret void
}

declare i32 @strata.tid.x() memory(none)
declare i32 @strata.tid.y() memory(none)
declare void @strata.barrier(i32, i32) convergent
!0 = !{}
