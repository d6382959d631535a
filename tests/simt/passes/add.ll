; Thread i = ctaid * ntid + tid, tid in rows of whole warps: the index cannot wrap within a warp, so that all
; accesses are contiguous, under the mask i < n.
; RUN: %simt-opt --rows %s | FileCheck %s
; Nothing known of the block's shape: tid by division, accesses by gather and scatter.
; RUN: %simt-opt %s | FileCheck %s --check-prefix=ANY
; RUN: %simt-opt --report %s | FileCheck %s --check-prefix=REPORT
; CHECK-LABEL: define {{.*}}void @strata_entry
; CHECK: %[[IN:.*]] = icmp slt <32 x i32>
; CHECK: call <32 x float> @llvm.masked.load.v32f32.p0(ptr {{.*}}, i32 4, <32 x i1> %[[IN]]
; CHECK: call <32 x float> @llvm.masked.load.v32f32.p0(ptr {{.*}}, i32 4, <32 x i1> %[[IN]]
; CHECK: call void @llvm.masked.store.v32f32.p0(
; CHECK-NOT: gather
; ANY: fdiv float 1.000000e+00
; ANY: @llvm.masked.gather.v32f32
; ANY: @llvm.masked.scatter.v32f32
; REPORT: kernel: gather (the address varies)
; REPORT: kernel: scatter (the address varies)
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %a = load ptr, ptr %params, !invariant.load !0
  %b.at = getelementptr i8, ptr %params, i64 8
  %b = load ptr, ptr %b.at, !invariant.load !0
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
  %pa = getelementptr float, ptr %a, i64 %w
  %pb = getelementptr float, ptr %b, i64 %w
  %va = load float, ptr %pa
  %vb = load float, ptr %pb
  %s = fadd float %va, %vb
  store float %s, ptr %pb
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
