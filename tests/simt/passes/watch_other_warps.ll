; Another warp ends the loop, by the way taken through a round: vector mode, with yields.
;   do { again = false; if (*flag == 0) { *seen += 1; again = true; } } while (again);
; RUN: %simt-opt %s | FileCheck %s
; CHECK-LABEL: define {{.*}}void @strata_entry(ptr %0)
; CHECK: call void %{{.*}}(ptr {{.*}}%0)
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %flag = load ptr, ptr %block, !invariant.load !0
  %seen = getelementptr i32, ptr %flag, i64 1
  br label %round
round:
  %v = load volatile i32, ptr %flag, align 4
  %unset = icmp eq i32 %v, 0
  br i1 %unset, label %wait, label %next
wait:
  %n = load i32, ptr %seen
  %more = add i32 %n, 1
  store i32 %more, ptr %seen
  br label %next
next:
  %again = phi i32 [ 0, %round ], [ %more, %wait ]
  %left = icmp ne i32 %again, 0
  br i1 %left, label %round, label %end
end:
  ret void
}
!0 = !{}
