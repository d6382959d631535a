; Guards of the lower and of the upper edge follow each other: warps that pass both with all lanes have accesses without
; masks, and scalar comparisons find them. A warp's row is counted: nothing is divided.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: phi i32 {{.*}}, !strata.row
; CHECK-NOT: {{udiv|urem}}
; CHECK: br i1 %{{.*}}, label %entry.false{{.*}}, label %entry.true
; CHECK: entry.true{{.*}}:
; CHECK: icmp slt i64
; CHECK: icmp slt i32
; CHECK: br i1 %{{.*}}, label %more.full.true{{.*}}, label %more.full.false
; CHECK: entry.false{{.*}}:
; CHECK: @llvm.masked.load.v32f32
; CHECK: more.full.true{{.*}}:
; CHECK: = load <32 x float>
; CHECK: store <32 x float>
; CHECK: more.full.false{{.*}}:
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
  %y = call i32 @strata.tid.y()
  %x = add i32 %b, %tid
  %low = icmp slt i32 %x, 1
  %first = icmp eq i32 %y, 0
  %edge = or i1 %low, %first
  br i1 %edge, label %done, label %more
more:
  %larger = call i32 @llvm.smax.i32(i32 %x, i32 %y)
  %below = icmp slt i32 %larger, %n
  br i1 %below, label %body, label %done
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
declare i32 @strata.tid.y() memory(none)
declare i32 @llvm.smax.i32(i32, i32)
!0 = !{}
