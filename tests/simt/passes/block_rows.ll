; Rows of 16 or 8 threads: an address that is linear in each row, however wide the matrix is, needs two loads of 16 or
; four of 8 elements, behind a test that the rows' indices do not wrap. Under a mask each load has its part of it.
; RUN: %simt-opt --block=16,16,1 %s | FileCheck %s
; RUN: %simt-opt --block=16,16,1 --simd=avx2 %s | FileCheck %s
; RUN: %simt-opt --block=16,16,1 --simd=portable %s | FileCheck %s
; RUN: %simt-opt --block=8,8,2 %s | FileCheck %s --check-prefix=EIGHT
; RUN: %simt-opt --block=10,10,1 %s | FileCheck %s --check-prefix=OTHER
; CHECK: mul i32
; CHECK: mul i32
; CHECK-NOT: mul <32 x i32>
; CHECK: contiguous.i:
; CHECK-NEXT: load <16 x float>
; CHECK-NEXT: load <16 x float>
; CHECK: contiguous{{.+}}.i:
; CHECK: call void @llvm.masked.store.v16f32
; CHECK: call void @llvm.masked.store.v16f32
; EIGHT-COUNT-4: load <8 x float>
; EIGHT-COUNT-4: call void @llvm.masked.store.v8f32
; OTHER: llvm.masked.gather
; OTHER: llvm.masked.scatter
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %n = load i32, ptr %params, !invariant.load !0
  %p.at = getelementptr i8, ptr %params, i64 8
  %p = load ptr, ptr %p.at, !invariant.load !0
  %tx = call i32 @strata.tid.x()
  %ty = call i32 @strata.tid.y()
  %row = mul i32 %ty, %n
  %i = add i32 %row, %tx
  %index = sext i32 %i to i64
  %at = getelementptr float, ptr %p, i64 %index
  %a = load float, ptr %at
  %positive = fcmp ogt float %a, 0.0
  br i1 %positive, label %write, label %done
write:
  %next = add i32 %i, 1
  %next.index = sext i32 %next to i64
  %to = getelementptr float, ptr %p, i64 %next.index
  store float %a, ptr %to
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare i32 @strata.tid.y() memory(none)
!0 = !{}
