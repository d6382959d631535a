; Of lanes that store to one address one wins (simt/analysis/store_order.h): of 4 bytes the lowest, of 8 the lowest of the upper
; half warp. A scatter leaves the last of them, so that its lanes come in the order of stores; not where all store the same,
; or to local memory.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: sed 's/store i32 .v, ptr .far/store i32 %%same, ptr %%far/' %s | %simt-opt --rows - | FileCheck --check-prefix=SAME %s
; CHECK: %[[D:.*]] = shufflevector <32 x i32> {{.*}}, <32 x i32> poison, <32 x i32> <i32 31, i32 30,
; CHECK: call void @llvm.masked.scatter.v32i32
; CHECK: shufflevector <32 x i64> {{.*}}<32 x i32> <i32 15, i32 14, {{.*}} i32 0, i32 31, i32 30, {{.*}} i32 16>
; CHECK: call void @llvm.masked.scatter.v32i64
; CHECK: %[[LAST:.*]] = extractelement <32 x i32> %{{.*}}, i64 0
; CHECK: store i32 %[[LAST]]
; CHECK: %[[UPPER:.*]] = extractelement <32 x i64> %{{.*}}, i64 16
; CHECK: store i64 %[[UPPER]]
; CHECK-NOT: i32 31, i32 30
; CHECK: call void @llvm.masked.scatter.v32i32
; SAME-NOT: i32 31, i32 30, i32 29, i32 28, i32 27, i32 26, i32 25, i32 24, i32 23, i32 22, i32 21, i32 20, i32 19
; SAME: call void @llvm.masked.scatter.v32i32
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %local = alloca [16 x i32], align 4
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %out = load ptr, ptr %params, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %own = getelementptr i32, ptr %out, i64 %w
  %same = load i32, ptr %out, align 4
  %v = load i32, ptr %own, align 4
  %wide = zext i32 %v to i64
  %far = getelementptr i32, ptr %out, i64 %wide
  store i32 %v, ptr %far, align 4
  %far8 = getelementptr i64, ptr %out, i64 %wide
  store i64 %wide, ptr %far8, align 8
  %one = getelementptr i8, ptr %out, i64 4096
  store i32 %v, ptr %one, align 4
  %one8 = getelementptr i8, ptr %out, i64 8192
  store i64 %wide, ptr %one8, align 8
  %low = and i64 %wide, 15
  %mine = getelementptr i32, ptr %local, i64 %low
  store i32 %v, ptr %mine, align 4
  %back = load i32, ptr %local, align 4
  store i32 %back, ptr %own, align 4
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
