; Components of lane vectors that are computed alike stay in the order of memory; else they are parted and joined. A gather
; takes its base and offsets as they are.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: sed 's/add \(i32 .v3\)/mul \1/' %s | %simt-opt --rows - | FileCheck --check-prefix=PARTED %s
; RUN: sed 's/add \(i32 .v\)/udiv \1/' %s | %simt-opt --rows - | FileCheck --check-prefix=PARTED %s
; CHECK: %[[ALL:.*]] = load <128 x i32>
; CHECK: %[[BASE:.*]] = inttoptr i64 %{{.*}} to ptr
; CHECK: getelementptr i32, ptr %[[BASE]], <32 x i64>
; CHECK: @llvm.masked.gather.v32i32
; CHECK: %[[SUM:.*]] = add <128 x i32> %[[ALL]]
; CHECK: store <128 x i32> %[[SUM]]
; PARTED: shufflevector <128 x i32>
; PARTED-NOT: {{add|udiv}} <128 x i32>
; PARTED: store <128 x i32>
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %in = load ptr, ptr %params, !invariant.load !0
  %table.at = getelementptr i8, ptr %params, i64 8
  %table = load i64, ptr %table.at, !invariant.load !0
  %t.at = getelementptr i8, ptr %params, i64 16
  %t = load i32, ptr %t.at, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %p = getelementptr <4 x i32>, ptr %in, i64 %w
  %v = load <4 x i32>, ptr %p, align 16
  %v0 = extractelement <4 x i32> %v, i32 0
  %v1 = extractelement <4 x i32> %v, i32 1
  %v2 = extractelement <4 x i32> %v, i32 2
  %v3 = extractelement <4 x i32> %v, i32 3
  %s0 = add i32 %v0, %t
  %s1 = add i32 %v1, %t
  %s2 = add i32 %v2, %t
  %s3 = add i32 %v3, %t
  %r0 = insertelement <4 x i32> poison, i32 %s0, i32 0
  %r1 = insertelement <4 x i32> %r0, i32 %s1, i32 1
  %r2 = insertelement <4 x i32> %r1, i32 %s2, i32 2
  %r3 = insertelement <4 x i32> %r2, i32 %s3, i32 3
  %i = sext i32 %v0 to i64
  %o = shl nsw i64 %i, 2
  %a = add i64 %table, %o
  %q = inttoptr i64 %a to ptr
  %g = load i32, ptr %q
  store <4 x i32> %r3, ptr %p, align 16
  %out = getelementptr i32, ptr %in, i64 %w
  store i32 %g, ptr %out
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
