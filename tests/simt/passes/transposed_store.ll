; A tile's transposed store writes pairs of neighbours: sixteen stores of two elements, as doubles, in place of a scatter; without
; scatter instructions any fixed pattern is stored piece by piece. A thread's number divided by more than a warp is
; the same for the whole warp.
; RUN: %simt-opt --block=16,16,1 %s | FileCheck %s
; RUN: %simt-opt --block=16,16,1 --simd=avx2 %s | FileCheck %s --check-prefixes=CHECK,APART
; RUN: %simt-opt --block=16,16,1 --simd=portable %s | FileCheck %s --check-prefixes=CHECK,APART
; CHECK: shufflevector <32 x float> {{.*}}i32 0, i32 16, i32 1, i32 17
; CHECK-COUNT-16: store double
; APART-COUNT-32: store <1 x float>
; APART-NOT: masked.scatter
; CHECK: load float, ptr
; CHECK: store <32 x float>
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %shared.at = getelementptr i8, ptr %block, i64 8
  %shared = load ptr, ptr %shared.at, !invariant.load !0
  %tx = call i32 @strata.tid.x()
  %ty = call i32 @strata.tid.y()
  %x = zext i32 %tx to i64
  %y = zext i32 %ty to i64
  %at = getelementptr [16 x float], ptr %shared, i64 %y, i64 %x
  %a = load float, ptr %at
  %transposed = getelementptr [16 x float], ptr %shared, i64 %x, i64 %y
  store float %a, ptr %transposed
  %doubled = mul i64 %x, 17
  %wide = getelementptr float, ptr %shared, i64 %doubled
  %apart = getelementptr [100 x float], ptr %wide, i64 %y
  store float %a, ptr %apart
  %row = shl i32 %ty, 4
  %thread = add i32 %row, %tx
  %quarter = lshr i32 %thread, 6
  %q = zext i32 %quarter to i64
  %same = getelementptr float, ptr %shared, i64 %q
  %b = load float, ptr %same
  %c = fadd float %a, %b
  store float %c, ptr %at
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare i32 @strata.tid.y() memory(none)
!0 = !{}
