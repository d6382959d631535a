; A square root that only a select needs is behind a branch that skips it where no lane needs it, with what else serves
; only the select; so is a division under the second part of a condition, inside the first's. What a lane needs whatever
; the condition is, or where two numbers differ, is not.
; RUN: %simt-opt --rows %s | FileCheck %s
; CHECK: %[[A:.*]] = load <32 x float>
; CHECK: %[[NEAR:.*]] = fcmp olt <32 x float> %[[A]]
; CHECK: @llvm.sqrt.v32f32(<32 x float> %[[A]])
; CHECK: fdiv <32 x float> <float 3.0
; CHECK: %[[BITS:.*]] = bitcast <32 x i1> %[[NEAR]] to i32
; CHECK: %[[NONE:.*]] = icmp eq i32 %[[BITS]], 0
; CHECK: br i1 %[[NONE]], label %[[END:.*]], label %[[COSTLY:.*]]
; CHECK: [[COSTLY]]:
; CHECK: fsub <32 x float>
; CHECK: @llvm.sqrt.v32f32
; CHECK: br i1 %{{.*}}, label %{{.*}}, label %[[DIVISION:.*]]
; CHECK: [[DIVISION]]:
; CHECK: fdiv <32 x float> <float 2.0
; CHECK: [[END]]:
; CHECK-NOT: fdiv
; CHECK: store <32 x float>

define void @kernel(ptr %warp) "strata.kernel" {
  %block = load ptr, ptr %warp, !invariant.load !0
  %p = load ptr, ptr %block, !invariant.load !0
  %lane = call i32 @strata.lane()
  %w = sext i32 %lane to i64
  %q = getelementptr float, ptr %p, i64 %w
  %a = load float, ptr %q
  %near = fcmp olt float %a, 0.5
  %room = fsub float 1.0, %a
  %root = call float @llvm.sqrt.f32(float %room)
  %positive = fcmp ogt float %root, 0.75
  %both = select i1 %near, i1 %positive, i1 false
  %quotient = fdiv float 2.0, %root
  %chosen = select i1 %both, float %quotient, float %a
  %whole = call float @llvm.sqrt.f32(float %a)
  %third = fdiv float 3.0, %a
  %nonzero = fcmp une float %a, 0.0
  %inverse = select i1 %nonzero, float %third, float 0.0
  %s1 = fadd float %chosen, %whole
  %s2 = fadd float %s1, %inverse
  store float %s2, ptr %q
  ret void
}

declare i32 @strata.lane() memory(none)
declare float @llvm.sqrt.f32(float)
!0 = !{}
