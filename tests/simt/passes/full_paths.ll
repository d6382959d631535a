; Two guards in a row, as the taps of a stencil have: one test for both of them, of the first and the last lane, then
; loads without masks and no other branch on the lanes; behind it the version for any lanes.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: %[[FIRST:.*]] = icmp ult i32 %{{.*}}, 2147483616
; CHECK: %[[LAST:.*]] = icmp slt i64
; CHECK: %[[BOTH:.*]] = and i1 %[[FIRST]], %[[LAST]]
; CHECK: br i1 %[[BOTH]], label %[[FULL:.*]], label %[[SOME:.*]]
; CHECK: [[FULL]]:
; CHECK-NOT: masked.load
; CHECK: load <32 x float>
; CHECK-NOT: masked.load
; CHECK: load <32 x float>
; CHECK-NOT: masked.load
; CHECK: store <32 x float>
; CHECK: masked.load
; CHECK: masked.load
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %p = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %block, i64 8
  %x0 = load i32, ptr %at, !invariant.load !0
  %nat = getelementptr i8, ptr %block, i64 12
  %n = load i32, ptr %nat, !invariant.load !0
  %lane = call i32 @strata.lane()
  %x = add i32 %x0, %lane
  %w = sext i32 %x to i64
  %q = getelementptr float, ptr %p, i64 %w
  %left = icmp sgt i32 %x, 0
  br i1 %left, label %first, label %between
first:
  %ql = getelementptr float, ptr %q, i64 -1
  %a = load float, ptr %ql
  br label %between
between:
  %s = phi float [ 0.0, %entry ], [ %a, %first ]
  %r = add i32 %x, 1
  %right = icmp slt i32 %r, %n
  br i1 %right, label %second, label %end
second:
  %qr = getelementptr float, ptr %q, i64 1
  %b = load float, ptr %qr
  %t = fadd float %s, %b
  br label %end
end:
  %sum = phi float [ %s, %between ], [ %t, %second ]
  store float %sum, ptr %q
  ret void
}
declare i32 @strata.lane() memory(none)
!0 = !{}
