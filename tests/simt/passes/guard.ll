; The low bits of %base are unknown: sext(%base + lane) may wrap within the warp. One scalar comparison
; decides between contiguous load and gather.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: %[[FINE:.*]] = icmp slt i32 %base{{.*}}, 2147483617
; CHECK: br i1 %[[FINE]]
; CHECK: load <32 x i32>
; CHECK: @llvm.masked.gather.v32i32
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %in = load ptr, ptr %params, !invariant.load !0
  %base.at = getelementptr i8, ptr %params, i64 16
  %base = load i32, ptr %base.at, !invariant.load !0
  %lane = call i32 @strata.lane()
  %i = add i32 %base, %lane
  %w = sext i32 %i to i64
  %p = getelementptr i32, ptr %in, i64 %w
  %v = load i32, ptr %p
  %out = getelementptr i32, ptr %in, i64 1000
  %l = zext i32 %lane to i64
  %q = getelementptr i32, ptr %out, i64 %l
  store i32 %v, ptr %q
  ret void
}
declare i32 @strata.lane() memory(none)
!0 = !{}
