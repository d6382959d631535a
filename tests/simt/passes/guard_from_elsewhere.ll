; A guard whose parts were computed in an earlier block, which does not keep them: the warp is full if the guard's own
; value says so.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: = load <32 x float>
; CHECK: @llvm.masked.load.v32f32
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %in = load ptr, ptr %params, !invariant.load !0
  %n.at = getelementptr i8, ptr %params, i64 8
  %n = load i32, ptr %n.at, !invariant.load !0
  %b.at = getelementptr i8, ptr %params, i64 12
  %b = load i32, ptr %b.at, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %x = add i32 %b, %tid
  %y = mul i32 %b, 3
  %z = add i32 %y, %tid
  %low = icmp slt i32 %x, 1
  %high = icmp sgt i32 %z, %n
  %edge = or i1 %low, %high
  %some = icmp eq i32 %b, 7
  br i1 %some, label %first, label %second
first:
  store i32 %b, ptr %in
  br label %second
second:
  br i1 %edge, label %done, label %body
body:
  %w = zext i32 %tid to i64
  %p = getelementptr float, ptr %in, i64 %w
  %v = load float, ptr %p
  %twice = fadd float %v, %v
  store float %twice, ptr %p
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
