; A compare-and-swap loop that retries with the value it saw: some lane gets on in every round.
; RUN: %simt-opt %s | FileCheck %s
; CHECK-LABEL: define {{.*}}void @strata_entry(ptr %0, ptr %1)
; CHECK: cmpxchg
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %sum = load ptr, ptr %block, !invariant.load !0
  %lane = call i32 @strata.lane()
  %first = load i32, ptr %sum
  br label %retry
retry:
  %seen = phi i32 [ %first, %entry ], [ %old, %retry ]
  %new = mul i32 %seen, %lane
  %pair = cmpxchg ptr %sum, i32 %seen, i32 %new monotonic monotonic
  %old = extractvalue {i32, i1} %pair, 0
  %again = icmp ne i32 %old, %seen
  br i1 %again, label %retry, label %done
done:
  ret void
}
declare i32 @strata.lane() memory(none)
!0 = !{}
