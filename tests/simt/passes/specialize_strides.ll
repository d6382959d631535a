; A butterfly in shared memory has a version for each stride from 1 to 16, one for multiples of 32 and the general one. Each of the
; first has four whole loads and stores and no gathers; the next one's lanes are contiguous. A parameter by which threads' numbers are
; masked is looked at in the same way. Nothing is copied where the loop adds to the stride, where the lanes' part of an index is
; loaded, or where the copied code would hold a barrier.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --report %s | FileCheck %s --check-prefix=REPORT
; REPORT: kernel: code of its own for strides of small powers of two
; REPORT: kernel: gather, only for other strides (the address varies)
; REPORT: kernel: scatter, only for other strides (the address varies)
; RUN: %simt-opt --rows --simd=avx2 %s | FileCheck --check-prefix=NARROW %s
; RUN: sed 's/stride = phi i32 .*/stride = load i32, ptr %%first.at, !invariant.load !0/' %s | %simt-opt --rows - | FileCheck %s
; RUN: sed 's/next = ashr i32 %%stride, 1/next = add i32 %%stride, -1/' %s | %simt-opt --rows - | FileCheck --check-prefix=GENERAL %s
; RUN: sed 's/low = and i32 %%tid, %%mask/low = and i32 %%any, %%stride/' %s | %simt-opt --rows - | FileCheck --check-prefix=GENERAL %s
; RUN: sed 's/^  %%b = load/  call void @strata.barrier(i32 0, i32 0)\n&/' %s | %simt-opt --rows - | FileCheck --check-prefix=GENERAL %s
; CHECK: switch i32 %{{stride|first}}{{.*}} [
; CHECK-NEXT: i32 1,
; CHECK-NEXT: i32 2,
; CHECK-NEXT: i32 4,
; CHECK-NEXT: i32 8,
; CHECK-NEXT: i32 16,
; CHECK-NEXT: ]
; CHECK-NOT: masked
; CHECK-COUNT-4: load <16 x i32>
; CHECK: shufflevector <16 x i32> {{.*}} <i32 0, i32 2, i32 4, {{.*}} i32 28, i32 30>
; CHECK-COUNT-4: store <16 x i32>
; CHECK-NOT: store <16 x i32>
; CHECK-COUNT-4: load <16 x i32>
; CHECK: shufflevector <16 x i32> {{.*}} <i32 0, i32 1, i32 4, i32 5,
; CHECK-COUNT-4: store <16 x i32>
; CHECK-NOT: store <16 x i32>
; CHECK-COUNT-4: load <16 x i32>
; CHECK: shufflevector <16 x i32> {{.*}} <i32 0, i32 1, i32 2, i32 3, i32 8,
; CHECK-COUNT-4: store <16 x i32>
; CHECK-NOT: store <16 x i32>
; CHECK-COUNT-4: load <16 x i32>
; CHECK: shufflevector <16 x i32> {{.*}} <i32 0, {{.*}} i32 7, i32 16,
; CHECK-COUNT-4: store <16 x i32>
; CHECK-NOT: store <16 x i32>
; CHECK-COUNT-4: load <16 x i32>
; CHECK-COUNT-4: store <16 x i32>
; CHECK-NOT: store <16 x i32>
; CHECK-NOT: masked
; CHECK-COUNT-2: load <32 x i32>
; CHECK-NOT: masked
; CHECK-COUNT-2: store <32 x i32>
; CHECK: masked.gather
; CHECK: masked.scatter
; NARROW: i32 16,
; NARROW-NOT: masked
; NARROW-COUNT-8: store <8 x i32>
; NARROW: store <32 x i32>
; GENERAL-NOT: i32 16, label
; GENERAL-NOT: <16 x i32>
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %shared.at = getelementptr i8, ptr %block, i64 8
  %shared = load ptr, ptr %shared.at, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %out = load ptr, ptr %params, !invariant.load !0
  %first.at = getelementptr i8, ptr %params, i64 8
  %first = load i32, ptr %first.at, !invariant.load !0
  %tid = call i32 @strata.tid.x(), !range !1
  %twice = shl i32 %tid, 1
  %t = zext i32 %tid to i64
  %own = getelementptr i32, ptr %out, i64 %t
  %any = load i32, ptr %own
  br label %loop
loop:
  %stride = phi i32 [ %first, %entry ], [ %next, %loop ]
  call void @strata.barrier(i32 0, i32 0)
  %mask = add i32 %stride, -1
  %low = and i32 %tid, %mask
  %i = sub i32 %twice, %low
  %j = add i32 %i, %stride
  %ix = sext i32 %i to i64
  %jx = sext i32 %j to i64
  %p = getelementptr i32, ptr %shared, i64 %ix
  %q = getelementptr i32, ptr %shared, i64 %jx
  %a = load i32, ptr %p
  %b = load i32, ptr %q
  %min = call i32 @llvm.umin.i32(i32 %a, i32 %b)
  %max = call i32 @llvm.umax.i32(i32 %a, i32 %b)
  store i32 %min, ptr %p
  store i32 %max, ptr %q
  %next = ashr i32 %stride, 1
  %more = icmp sgt i32 %next, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare void @strata.barrier(i32, i32) convergent
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
!0 = !{}
!1 = !{i32 0, i32 1024}
