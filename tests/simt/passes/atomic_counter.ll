; All lanes count in one word: one atomic for the warp, the old values by a prefix sum.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --report %s | FileCheck %s --check-prefix=REPORT
; CHECK: atomicrmw add ptr %{{.*}}, i32 32 monotonic
; CHECK-NOT: atomicrmw
; REPORT: kernel: one atomic for the warp (all lanes address one word)
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %counter = load ptr, ptr %block, !invariant.load !0
  %old = atomicrmw add ptr %counter, i32 1 monotonic
  %w = zext i32 %old to i64
  %p = getelementptr i32, ptr %counter, i64 %w
  store i32 1, ptr %p
  ret void
}
!0 = !{}
