; With four registers: one half after the other in a block, with stores where they are; and one loop a half. With 32
; registers both halves stay side by side.
; RUN: %simt-opt --split=16 --registers=4 %s | FileCheck %s
; RUN: %simt-opt --split=16 %s | FileCheck --check-prefix=WIDE %s
; CHECK-LABEL: @straight
; CHECK: fmul <16 x float> %[[A:.*]], %[[A]]
; CHECK-NEXT: fadd <16 x float>
; CHECK: load <16 x float>
; CHECK: fmul <16 x float> %[[B:.*]], %[[B]]
; CHECK-NEXT: fadd <16 x float>
; CHECK: store <16 x float>
; CHECK: store <16 x float>
; CHECK: load <16 x float>, ptr %q
; WIDE-LABEL: @straight
; WIDE: fmul <16 x float>
; WIDE-NEXT: fmul <16 x float>
define void @straight(ptr %p, ptr %q) {
  %a = load <32 x float>, ptr %p, align 4
  %b = getelementptr i8, ptr %p, i64 128
  %x = load <32 x float>, ptr %b, align 4
  %s = fmul <32 x float> %a, %a
  %t = fadd <32 x float> %s, %x
  store <32 x float> %t, ptr %p, align 4
  %r = load <32 x float>, ptr %q, align 4
  store <32 x float> %r, ptr %b, align 4
  ret void
}
; CHECK-LABEL: @loop
; CHECK: loop:
; CHECK: phi i32
; CHECK-COUNT-3: phi <16 x float>
; CHECK-NOT: phi <16 x float>
; CHECK: br i1 %{{.*}}, label %[[NEXT:.*]], label %loop
; CHECK: [[NEXT]]:
; CHECK-NEXT: br label %[[SECOND:.*]]
; CHECK: [[SECOND]]:
; CHECK: phi i32 [ 0, %[[NEXT]] ], [ %{{.*}}, %[[SECOND]] ]
; CHECK-COUNT-3: phi <16 x float>
; CHECK-NOT: phi <16 x float>
; CHECK: br i1 %{{.*}}, label %done, label %[[SECOND]]
; CHECK: done:
; WIDE-LABEL: @loop
; WIDE: loop:
; WIDE-COUNT-6: phi <16 x float>
define void @loop(ptr %p, i32 %n) {
entry:
  %start = load <32 x float>, ptr %p, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = phi <32 x float> [ %start, %entry ], [ %b, %loop ]
  %b = phi <32 x float> [ zeroinitializer, %entry ], [ %c, %loop ]
  %c = phi <32 x float> [ zeroinitializer, %entry ], [ %sum, %loop ]
  %ab = fmul <32 x float> %a, %b
  %sum = fadd <32 x float> %ab, %c
  %next = add i32 %i, 1
  %end = icmp eq i32 %next, %n
  br i1 %end, label %done, label %loop
done:
  store <32 x float> %sum, ptr %p, align 4
  ret void
}
; A loop whose branch depends on the lanes stays one loop.
; CHECK-LABEL: @divergent
; CHECK: loop:
; CHECK-COUNT-6: phi <16 x float>
; CHECK: br i1 %{{.*}}, label %done, label %loop
; CHECK: done:
define void @divergent(ptr %p) {
entry:
  %start = load <32 x float>, ptr %p, align 4
  br label %loop
loop:
  %a = phi <32 x float> [ %start, %entry ], [ %b, %loop ]
  %b = phi <32 x float> [ zeroinitializer, %entry ], [ %c, %loop ]
  %c = phi <32 x float> [ zeroinitializer, %entry ], [ %sum, %loop ]
  %ab = fmul <32 x float> %a, %b
  %sum = fadd <32 x float> %ab, %c
  %m = fcmp ogt <32 x float> %sum, zeroinitializer
  %bits = bitcast <32 x i1> %m to i32
  %end = icmp eq i32 %bits, 0
  br i1 %end, label %done, label %loop
done:
  store <32 x float> %sum, ptr %p, align 4
  ret void
}

; What both halves use is loaded again for the second one, behind a fence, and the frame that nothing else reaches is read
; and written with its half. A frame whose address is known elsewhere keeps the order.
; CHECK-LABEL: @sums
; CHECK: load <16 x float>, ptr %a
; CHECK: load <16 x float>, ptr %b
; CHECK: store <16 x float> %{{.*}}, ptr %frame
; CHECK: fence syncscope("singlethread") seq_cst
; CHECK: load <16 x float>, ptr %a
; CHECK: load <16 x float>, ptr %b
; CHECK: store <16 x float>
; CHECK-NEXT: ret void
; CHECK-LABEL: @known
; CHECK-NOT: fence
; CHECK: fmul <16 x float>
; CHECK: fmul <16 x float>
; CHECK: store <16 x float> %{{.*}}, ptr %frame
; CHECK-NOT: fence
; WIDE-NOT: fence
define void @sums(ptr %a, ptr %b) {
  %frame = alloca <32 x float>, align 64
  %s = load <32 x float>, ptr %frame, align 64
  %x = load <16 x float>, ptr %a, align 4
  %y = load <16 x float>, ptr %b, align 4
  %q = getelementptr i8, ptr %b, i64 64
  %z = load <16 x float>, ptr %q, align 4
  %xx = shufflevector <16 x float> %x, <16 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %yy = shufflevector <16 x float> %y, <16 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %zz = shufflevector <16 x float> %z, <16 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %t = fadd <32 x float> %s, %xx
  %u = fmul <32 x float> %t, %yy
  %v = fadd <32 x float> %u, %zz
  store <32 x float> %v, ptr %frame, align 64
  ret void
}
define void @known(ptr %a, ptr %where) {
  %frame = alloca <32 x float>, align 64
  store ptr %frame, ptr %where
  %s = load <32 x float>, ptr %frame, align 64
  %x = load <32 x float>, ptr %a, align 4
  %t = fadd <32 x float> %s, %x
  %u = fmul <32 x float> %t, %x
  store <32 x float> %u, ptr %frame, align 64
  ret void
}
