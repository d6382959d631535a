; The lock is given back after the loop: lanes that spin would wait for lanes that wait for them.
; RUN: %simt-opt %s | FileCheck %s
; CHECK: lane mode: a loop waits for memory that lanes of the same warp may write meanwhile
; Those who wait for some lanes of the warp only do not wait for those that spin.
; RUN: sed 's/^held:/held:\n  call void @strata.warpsync(i32 3)/' %s | %simt-opt | FileCheck %s
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %lock = load ptr, ptr %block, !invariant.load !0
  br label %spin
spin:
  %pair = cmpxchg ptr %lock, i32 0, i32 1 monotonic monotonic
  %old = extractvalue {i32, i1} %pair, 0
  %busy = icmp ne i32 %old, 0
  br i1 %busy, label %spin, label %held
held:
  %data = getelementptr i32, ptr %lock, i64 1
  %v = load i32, ptr %data
  %w = add i32 %v, 1
  store i32 %w, ptr %data
  %free = atomicrmw xchg ptr %lock, i32 0 monotonic
  ret void
}
declare void @strata.warpsync(i32) convergent nounwind
!0 = !{}
