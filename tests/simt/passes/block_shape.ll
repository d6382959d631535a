; A block of 16 x 16: one load of 16 elements serves both halves of the warp, and a value per row is two
; scalar loads.
; RUN: %simt-opt --block=16,16,1 %s | FileCheck %s
; CHECK-DAG: load <16 x float>
; CHECK-NOT: gather
; CHECK: store <32 x float>
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %shared.at = getelementptr i8, ptr %block, i64 8
  %shared = load ptr, ptr %shared.at, !invariant.load !0
  %tx = call i32 @strata.tid.x()
  %ty = call i32 @strata.tid.y()
  %x = zext i32 %tx to i64
  %y = zext i32 %ty to i64
  %column = getelementptr float, ptr %shared, i64 %x
  %a = load float, ptr %column
  %row = getelementptr [16 x float], ptr %shared, i64 %y
  %b = load float, ptr %row
  %c = fadd float %a, %b
  %at = getelementptr [16 x float], ptr %shared, i64 %y, i64 %x
  store float %c, ptr %at
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare i32 @strata.tid.y() memory(none)
!0 = !{}
