; Both sides of a branch have a collective of one kind and mask: it is one of all lanes, written once.
; RUN: %simt-opt --rows --report %s | FileCheck %s --check-prefix=GATHERED
; RUN: %simt-opt --rows %s | FileCheck %s
; GATHERED: kernel: lanes are gathered at the collective (they may come to it, or to one like it, by different ways)
; CHECK-COUNT-1: call i32 @llvm.vector.reduce.add.v32i32(
; CHECK-NOT: call i32 @llvm.vector.reduce.add.v32i32(
; Rounds of a loop, too; and where one side has it before the other has left a loop.
; RUN: sed 's/label .join ; of a/label \x25entry.again/' %s | %simt-opt --rows --report | FileCheck %s --check-prefix=GATHERED
; Masks that may be the same; those that come from elsewhere may be in a ballot, too.
; RUN: sed 's/(i32 -1, i32 %key)/(i32 %mask, i32 %key)/' %s | %simt-opt --rows --report | FileCheck %s --check-prefix=GATHERED
; RUN: sed 's/(i32 -1, i32 5)/(i32 %ballot, i32 5)/' %s | %simt-opt --rows --report | FileCheck %s --check-prefix=GATHERED
; Nobody meets where the masks or the kinds differ,
; RUN: sed 's/(i32 -1, i32 5)/(i32 65535, i32 5)/' %s | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; RUN: sed 's/add(i32 -1, i32 5)/umax(i32 -1, i32 5)/' %s | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; where only one side has one (the usual guard),
; RUN: grep -v 'of b$' %s | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; where all come to the other one together, or stop at a barrier or another collective before,
; RUN: grep -v 'of b$' %s | sed 's/^  ; after$/%y = call i32 @strata.redux.umax(i32 -1, i32 5)\n  store volatile i32 %y, ptr %word/' | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; RUN: grep -v 'of b$' %s | sed 's/^  ; after$/call void @strata.barrier(i32 0, i32 0)\n  %y = call i32 @strata.redux.add(i32 -1, i32 5)\n  store volatile i32 %y, ptr %word/' | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; RUN: grep -v 'of b$' %s | sed 's/^  ; after$/call void @strata.warpsync(i32 -1)\n  %y = call i32 @strata.redux.add(i32 -1, i32 5)\n  store volatile i32 %y, ptr %word/' | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; RUN: grep -v 'of b$' %s | sed 's/^  ; after$/%y = call i32 @strata.redux.add(i32 -1, i32 5)\n  store volatile i32 %y, ptr %word/' | %simt-opt --rows --report | FileCheck %s --check-prefix=GATHERED
; where the second is under the same condition as the first,
; RUN: grep -v 'of b$' %s | sed 's/^  ; after$/br i1 %c, label \x25second, label %done\nsecond:\n  %y = call i32 @strata.redux.add(i32 -1, i32 5)\n  store volatile i32 %y, ptr %word\n  br label %done\ndone:/' | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; where the masks name only lanes that are there: of a ballot over the condition, and those active.
; RUN: sed 's/(i32 -1, i32 %key)/(i32 %ballot, i32 %key)/; s/(i32 -1, i32 5)/(i32 %now, i32 5)/; s/^b:/b:\n  %now = call i32 @strata.activemask()/' %s | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; Nor do lanes part at what one of them has given to all.
; RUN: sed 's/slt i32 %key, 7/slt i32 %given, 7/' %s | %simt-opt --rows --report | FileCheck %s --check-prefix=APART
; APART-NOT: gathered
; APART-NOT: lane mode
; APART: both sides run
; Lanes in different calls run one by one.
; RUN: sed 's/call i32 @strata.redux.add(i32 -1, i32 5)/call i32 @again(ptr %warp, i32 %key)/' %s | %simt-opt --rows | FileCheck %s --check-prefix=CALLS
; CALLS: lane mode: lanes may meet in a collective from different calls
define void @kernel(ptr %warp) "strata.kernel" {
start:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %out = load ptr, ptr %params, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %word = getelementptr i32, ptr %out, i64 %w
  %key = load i32, ptr %word
  %mask = load i32, ptr %word
  %pair = call { i32, i1 } @strata.shfl.idx(i32 -1, i32 %key, i32 3, i32 31)
  %given = extractvalue { i32, i1 } %pair, 0
  br label %entry
entry.again:
  %n = add i32 %i, 1
  %more = icmp slt i32 %n, %key
  br i1 %more, label %entry, label %join
entry:
  %i = phi i32 [ 0, %start ], [ %n, %entry.again ]
  %c = icmp slt i32 %key, 7
  %ballot = call i32 @strata.vote.ballot(i32 -1, i1 %c)
  br i1 %c, label %a, label %b
a:
  %x = call i32 @strata.redux.add(i32 -1, i32 %key)
  store volatile i32 %x, ptr %word
  br label %join ; of a
b:
  %z = call i32 @strata.redux.add(i32 -1, i32 5) ; of b
  store volatile i32 %z, ptr %word ; of b
  br label %join
join:
  ; after
  ret void
}
define i32 @again(ptr %warp, i32 %n) "strata.function"="again" {
  %sum = call i32 @strata.redux.add(i32 -1, i32 %n)
  %end = icmp slt i32 %n, %sum
  br i1 %end, label %ends, label %goes
ends:
  ret i32 %sum
goes:
  %m = call i32 @again(ptr %warp, i32 %sum)
  ret i32 %m
}
declare i32 @strata.tid.x()
declare i32 @strata.activemask() convergent nounwind
declare i32 @strata.vote.ballot(i32, i1) convergent nounwind
declare i32 @strata.redux.add(i32, i32) convergent nounwind
declare i32 @strata.redux.umax(i32, i32) convergent nounwind
declare { i32, i1 } @strata.shfl.idx(i32, i32, i32, i32) convergent nounwind
declare void @strata.warpsync(i32) convergent nounwind
declare void @strata.barrier(i32, i32) convergent nounwind
!0 = !{}
