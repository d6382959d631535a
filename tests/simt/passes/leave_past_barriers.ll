; Ways out past barriers meet in one store: who leaves stores at once, also where all lanes that are there leave (%all) but only some
; of the warp are there.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: call void @llvm.masked.store{{.*}}(<32 x i32> <i32 1, i32 1,
; CHECK: call void @llvm.masked.store{{.*}}(<32 x i32> <i32 6, i32 6,
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %out = load ptr, ptr %params, !invariant.load !0
  %second = getelementptr i8, ptr %params, i64 8
  %mode = load i32, ptr %second, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %p = getelementptr i32, ptr %out, i64 %w
  %key = load i32, ptr %p
  %zero = icmp eq i32 %key, 0
  br i1 %zero, label %gone, label %some
some:
  %one = icmp eq i32 %key, 1
  br i1 %one, label %ones, label %stay
ones:
  %all = icmp eq i32 %mode, 2
  br i1 %all, label %gone, label %stay
stay:
  call void @strata.barrier(i32 0, i32 0)
  %q = getelementptr i8, ptr %p, i64 4
  %other = load i32, ptr %q
  br label %gone
gone:
  %said = phi i32 [ 1, %entry ], [ 6, %ones ], [ %other, %stay ]
  store i32 %said, ptr %p
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare void @strata.barrier(i32, i32) convergent
!0 = !{}
