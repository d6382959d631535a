; Sums that wait at the end for what was loaded before a test go up to the loads, past the blocks of a fault, but not
; into a loop, past a condition, or where it would keep more alive.
; RUN: %simt-opt --raise %s | FileCheck %s
; CHECK-LABEL: @up
; CHECK: %x = load <16 x float>, ptr %p
; CHECK-NEXT: %s = fadd <16 x float> %x, %r
; CHECK: br
; CHECK: wrapped:
; CHECK: accessed:
; CHECK-NEXT: %y = phi
; CHECK-NEXT: %t = fmul <16 x float> %y, %s
; CHECK: fault:
; CHECK: end:
; CHECK-NEXT: store <16 x float> %t
define void @up(ptr %p, i1 %c, i1 %bad, <16 x float> %r) {
entry:
  %x = load <16 x float>, ptr %p
  br i1 %c, label %plain, label %wrapped
plain:
  %a = load <16 x float>, ptr %p
  br label %accessed
wrapped:
  br label %accessed
accessed:
  %y = phi <16 x float> [ %a, %plain ], [ zeroinitializer, %wrapped ]
  br i1 %bad, label %fault, label %end
fault:
  call void @fault()
  unreachable
end:
  %s = fadd <16 x float> %x, %r
  %t = fmul <16 x float> %y, %s
  store <16 x float> %t, ptr %p
  ret void
}
; CHECK-LABEL: @stays
; CHECK: some:
; CHECK-NEXT: %s = fadd
; CHECK: loop:
; CHECK-NEXT: phi
; CHECK-NEXT: %u = fmul <16 x float> %y, %y
; CHECK: end:
; CHECK-NEXT: %v = fadd <16 x float> %z, %z
define void @stays(ptr %p, i1 %c, i32 %n) {
entry:
  %x = load <16 x float>, ptr %p
  %z = load <16 x float>, ptr %p
  store <16 x float> %z, ptr %p
  br i1 %c, label %some, label %before
some:
  %s = fadd <16 x float> %x, %x
  store <16 x float> %s, ptr %p
  br label %before
before:
  %y = load <16 x float>, ptr %p
  br label %loop
loop:
  %i = phi i32 [ 0, %before ], [ %next, %loop ]
  %u = fmul <16 x float> %y, %y
  store <16 x float> %u, ptr %p
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  %v = fadd <16 x float> %z, %z
  store <16 x float> %v, ptr %p
  ret void
}
declare void @fault()
