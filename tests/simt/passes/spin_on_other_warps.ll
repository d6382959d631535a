; One lane waits for other blocks, the others of its warp wait for it at the barrier: vector mode, with yields.
; RUN: %simt-opt %s | FileCheck %s
; CHECK-LABEL: define {{.*}}void @strata_entry(ptr %0)
; CHECK: load atomic i32
; CHECK: call void %{{.*}}(ptr {{.*}}%0)
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %flag = load ptr, ptr %block, !invariant.load !0
  %tx = call i32 @strata.tid.x()
  %leader = icmp eq i32 %tx, 0
  br i1 %leader, label %spin, label %join
spin:
  %v = load atomic i32, ptr %flag monotonic, align 4
  %wait = icmp eq i32 %v, 0
  br i1 %wait, label %spin, label %join
join:
  call void @strata.barrier(i32 0, i32 0)
  %data = getelementptr i32, ptr %flag, i64 1
  store i32 1, ptr %data
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare void @strata.barrier(i32, i32) convergent nounwind
!0 = !{}
