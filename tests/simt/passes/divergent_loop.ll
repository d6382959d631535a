; Lanes leave at different times: the loop runs while any lane stays, the counter stays a scalar, and what a
; lane takes out of the loop is kept when it leaves. Rounds in which none leaves change no mask and keep nothing.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: %[[MASK:.*]] = phi <32 x i1>
; CHECK: phi i32 [ 0,
; CHECK: %[[OUT:.*]] = icmp {{.*}} <32 x i32>
; CHECK: %[[LEAVING:.*]] = select <32 x i1> %[[MASK]], <32 x i1> %[[OUT]]
; CHECK-NEXT: %[[BITS:.*]] = bitcast <32 x i1> %[[LEAVING]] to i32
; CHECK-NEXT: icmp eq i32 %[[BITS]], 0
; CHECK-NEXT: br i1 %any{{.*}}, label %loop
; CHECK: xor <32 x i1> %[[MASK]], %[[LEAVING]]
; CHECK: select <32 x i1> %[[LEAVING]]
; CHECK: br i1 %any
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %out = load ptr, ptr %block, !invariant.load !0
  %lane = call i32 @strata.lane()
  %bound = mul i32 %lane, %lane
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 3
  %leave = icmp ugt i32 %next, %bound
  br i1 %leave, label %done, label %loop
done:
  %w = zext i32 %lane to i64
  %p = getelementptr i32, ptr %out, i64 %w
  store i32 %i, ptr %p
  ret void
}
declare i32 @strata.lane() memory(none)
!0 = !{}
