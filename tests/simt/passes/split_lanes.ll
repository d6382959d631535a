; The warp's values in halves of 16 lanes: memory, masks and the question whether any lane is left go by halves;
; what has narrow elements stays whole.
; RUN: %simt-opt --split=16 %s | FileCheck %s
; CHECK-LABEL: @halves
; CHECK: %[[A0:.*]] = load <16 x float>, ptr %p, align 4
; CHECK: %[[P1:.*]] = getelementptr i8, ptr %p, i64 64
; CHECK: %[[A1:.*]] = load <16 x float>, ptr %[[P1]], align 4
; CHECK: %[[W0:.*]] = trunc i32 %lanes to i16
; CHECK: %[[M0:.*]] = bitcast i16 %[[W0]] to <16 x i1>
; CHECK: %[[C0:.*]] = fcmp olt <16 x float> %[[A0]], {{zeroinitializer|splat}}
; CHECK: %[[C1:.*]] = fcmp olt <16 x float> %[[A1]]
; CHECK: %[[L0:.*]] = and <16 x i1> %[[M0]], %[[C0]]
; CHECK: %[[L1:.*]] = and <16 x i1> %{{.*}}, %[[C1]]
; CHECK: %[[ANY:.*]] = or <16 x i1> %[[L0]], %[[L1]]
; CHECK: %[[BITS:.*]] = bitcast <16 x i1> %[[ANY]] to i16
; CHECK: icmp eq i16 %[[BITS]], 0
; CHECK: call void @llvm.masked.store.v16f32.p0(<16 x float> %{{.*}}, ptr %p, i32 4, <16 x i1> %[[L0]])
; CHECK: call void @llvm.masked.store.v16f32.p0(<16 x float> %{{.*}}, ptr %{{.*}}, i32 4, <16 x i1> %[[L1]])
; CHECK-NOT: <32 x
; CHECK: ret void
define void @halves(ptr %p, i32 %lanes) {
entry:
  %a = load <32 x float>, ptr %p, align 4
  %mask = bitcast i32 %lanes to <32 x i1>
  %below = fcmp olt <32 x float> %a, zeroinitializer
  %left = and <32 x i1> %mask, %below
  %bits = bitcast <32 x i1> %left to i32
  %none = icmp eq i32 %bits, 0
  br i1 %none, label %done, label %some
some:
  %b = fneg <32 x float> %a
  call void @llvm.masked.store.v32f32.p0(<32 x float> %b, ptr %p, i32 4, <32 x i1> %left)
  br label %done
done:
  ret void
}
; A word of lanes is put together from its halves, a uniform value is made once, lanes of the other half are found.
; CHECK-LABEL: @across
; CHECK: %[[ONE:.*]] = shufflevector <16 x i32> {{.*}} zeroinitializer
; CHECK-NOT: zeroinitializer
; CHECK: %[[X0:.*]] = add <16 x i32> %{{.*}}, %[[ONE]]
; CHECK: %[[X1:.*]] = add <16 x i32> %{{.*}}, %[[ONE]]
; CHECK: %[[R0:.*]] = shufflevector <16 x i32> %[[X1]], <16 x i32> poison, <16 x i32> <i32 15,
; CHECK: %[[R1:.*]] = shufflevector <16 x i32> %[[X0]], <16 x i32> poison, <16 x i32> <i32 15,
; CHECK: %[[ALL:.*]] = add <16 x i32> %[[R0]], %[[R1]]
; CHECK: %[[SUM:.*]] = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %[[ALL]])
; CHECK: extractelement <16 x i32> %[[X1]], i64 4
; CHECK: zext i16 %{{.*}} to i32
; CHECK: shl i32 %{{.*}}, 16
define i32 @across(ptr %p, i32 %u) {
  %a = load <32 x i32>, ptr %p, align 4
  %i = insertelement <32 x i32> poison, i32 %u, i64 0
  %one = shufflevector <32 x i32> %i, <32 x i32> poison, <32 x i32> zeroinitializer
  %x = add <32 x i32> %a, %one
  %r = shufflevector <32 x i32> %x, <32 x i32> poison, <32 x i32> <i32 31, i32 30, i32 29, i32 28, i32 27, i32 26, i32 25, i32 24, i32 23, i32 22, i32 21, i32 20, i32 19, i32 18, i32 17, i32 16, i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8, i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %sum = call i32 @llvm.vector.reduce.add.v32i32(<32 x i32> %r)
  %e = extractelement <32 x i32> %x, i64 20
  %m = icmp eq <32 x i32> %x, zeroinitializer
  %w = bitcast <32 x i1> %m to i32
  %s = add i32 %sum, %w
  %t = add i32 %s, %e
  ret i32 %t
}
; CHECK-LABEL: @narrow
; CHECK: %[[B:.*]] = load <32 x i8>
; CHECK: shufflevector <32 x i8> %[[B]], <32 x i8> poison, <16 x i32> <i32 0,
; CHECK: zext <16 x i8>
; CHECK: %[[Y:.*]] = shufflevector <16 x i32> %{{.*}}, <16 x i32> %{{.*}}, <32 x i32> <i32 0,
; CHECK: %[[T:.*]] = trunc <32 x i32> %[[Y]] to <32 x i8>
; CHECK: store <32 x i8> %[[T]], ptr %p
define void @narrow(ptr %p) {
  %b = load <32 x i8>, ptr %p, align 1
  %x = zext <32 x i8> %b to <32 x i32>
  %y = mul <32 x i32> %x, %x
  %t = trunc <32 x i32> %y to <32 x i8>
  store <32 x i8> %t, ptr %p, align 1
  ret void
}
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32, <32 x i1>)
declare i32 @llvm.vector.reduce.add.v32i32(<32 x i32>)
