; Whether all threads of a block fail the guard at the kernel's head is asked once, if the last index does not wrap. Not where the
; guard is passed by large indices, where something happens before it, or where both sides go on.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: sed 's/icmp slt/icmp sgt/' %s | %simt-opt --rows - | FileCheck --check-prefix=NOT %s
; RUN: sed 's/^  br i1 .in,/  store i32 0, ptr %%a\n&/' %s | %simt-opt --rows - | FileCheck --check-prefix=NOT %s
; RUN: sed 's/^  ret void/  store i32 0, ptr %%a\n&/' %s | %simt-opt --rows - | FileCheck --check-prefix=NOT %s
; CHECK-LABEL: define {{.*}}void @strata_entry
; CHECK: %[[STAYS:.*]] = icmp sle i32 %[[FIRST:.*]], 2147482624
; CHECK: %[[FAILS:.*]] = icmp sge i32 %[[FIRST]], %{{.*}}
; CHECK: %[[IDLE:.*]] = and i1 %[[FAILS]], %[[STAYS]]
; CHECK: br i1 %[[IDLE]], label %idle, label %busy
; CHECK: idle:
; CHECK-NEXT: ret void
; NOT-NOT: label %idle
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %a = load ptr, ptr %params, !invariant.load !0
  %n.at = getelementptr i8, ptr %params, i64 16
  %n = load i32, ptr %n.at, !invariant.load !0
  %bi.at = getelementptr i8, ptr %block, i64 16
  %bi = load i32, ptr %bi.at, !invariant.load !0
  %bd.at = getelementptr i8, ptr %launch, i64 36
  %bd = load i32, ptr %bd.at, !invariant.load !0
  %first = mul i32 %bi, %bd
  %tx = call i32 @strata.tid.x()
  %i = add i32 %first, %tx
  %in = icmp slt i32 %i, %n
  br i1 %in, label %body, label %done
body:
  %w = sext i32 %i to i64
  %p = getelementptr float, ptr %a, i64 %w
  store float 1.0, ptr %p
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() nounwind willreturn memory(none)
!0 = !{}
