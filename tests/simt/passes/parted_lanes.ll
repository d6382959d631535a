; Lanes leave a loop with a barrier, write and come to another barrier: threads would have written, and would count at that barrier, when
; the others' is complete. In lock step they do so once the loop has ended: lane mode.
; RUN: %simt-opt --rows %s | FileCheck %s --check-prefix=LATE
; LATE: lane mode: some lanes of a warp may be at a barrier while others have yet to write or to come to one
; Without the barrier after the loop they write when they leave; nor is there anything late if all leave at once, or just end.
; RUN: grep -v '; after' %s | %simt-opt --rows | FileCheck %s --check-prefix=VECTOR
; RUN: sed 's/word ; key/out/' %s | %simt-opt --rows | FileCheck %s --check-prefix=VECTOR
; RUN: sed 's/label .said, label .next/label \x25done, label \x25next/' %s | %simt-opt --rows | FileCheck %s --check-prefix=VECTOR
; VECTOR-NOT: lane mode
; VECTOR: @strata_entry(
; Those that wait for the whole warp first wait for the others anyhow.
; RUN: sed 's/; or/call void @strata.warpsync(i32 -1)/' %s | %simt-opt --rows | FileCheck %s --check-prefix=VECTOR
; RUN: sed 's/; or/call void @strata.warpsync(i32 3)/' %s | %simt-opt --rows | FileCheck %s --check-prefix=LATE
; A function that is called may have the barrier; what is late may be in the next round.
; RUN: sed 's/strata.barrier(i32 0, i32 0) ; in/meets(ptr \x25warp, i32 \x25i)/' %s | %simt-opt --rows | FileCheck %s --check-prefix=LATE
; RUN: sed 's/label .said, label .next/label \x25latch, label \x25next/' %s | %simt-opt --rows | FileCheck %s --check-prefix=LATE
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %out = load ptr, ptr %params, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %word = getelementptr i32, ptr %out, i64 %w
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %n, %latch ]
  %key = load i32, ptr %word ; key
  %leaves = icmp eq i32 %i, %key
  br i1 %leaves, label %said, label %next
next:
  call void @strata.barrier(i32 0, i32 0) ; in
  br label %latch
latch:
  %n = add i32 %i, 1
  %more = icmp ult i32 %n, 99
  br i1 %more, label %loop, label %done
said:
  ; or
  store i32 77, ptr %word
  call void @strata.barrier(i32 0, i32 0) ; after
  br label %done
done:
  ret void
}
define void @meets(ptr %warp, i32 %n) "strata.function"="meets" {
  %more = icmp sgt i32 %n, 0
  br i1 %more, label %again, label %end
again:
  %m = sub i32 %n, 1
  call void @strata.barrier(i32 0, i32 0)
  call void @meets(ptr %warp, i32 %m)
  br label %end
end:
  ret void
}
declare i32 @strata.tid.x() memory(none)
declare void @strata.barrier(i32, i32) convergent
declare void @strata.warpsync(i32) convergent
!0 = !{}
