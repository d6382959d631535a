; A butterfly's addresses are contiguous for strides from 32 on: that is asked at run time, once for a load and a store of the same
; address. An index that is loaded is not asked about. Under a mask the access is a masked one.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: sed 's/own = and i32 .tid, .stride/own = load i32, ptr %%out/; s/i = sub i32 .twice, .low/i = add i32 %%twice, %%own/' %s | %simt-opt --rows - | FileCheck --check-prefix=NEVER %s
; RUN: sed 's/^  br label .go/%%odd = load i32, ptr %%out\n %%is = icmp eq i32 %%odd, 0\n br i1 %%is, label %%go, label %%done/' %s | %simt-opt --rows - | FileCheck --check-prefix=MASKED %s
; CHECK: %[[X:.*]] = extractelement <32 x i32> %[[I:.*]], i64 0
; CHECK: icmp ne <32 x i32> %[[I]]
; CHECK: icmp slt i32 %[[X]], 2147483617
; CHECK: %[[NOW:.*]] = and i1
; CHECK: br i1 %[[NOW]]
; CHECK: load <32 x i32>
; CHECK: call {{.*}}@llvm.masked.gather
; CHECK: br i1 %[[NOW]]
; CHECK: store <32 x i32>
; CHECK: call {{.*}}@llvm.masked.scatter
; MASKED: call <32 x i32> @llvm.masked.load
; MASKED: call {{.*}}@llvm.masked.gather
; MASKED: call void @llvm.masked.store
; MASKED: call {{.*}}@llvm.masked.scatter
; NEVER-NOT: contiguous.now
; NEVER: call {{.*}}@llvm.masked.gather
; NEVER-NOT: contiguous.now
; NEVER: call {{.*}}@llvm.masked.scatter
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %at, !invariant.load !0
  %keys = load i64, ptr %params, !invariant.load !0
  %s.at = getelementptr i8, ptr %params, i64 8
  %stride = load i32, ptr %s.at
  %tid = call i32 @strata.tid.x()
  %w = zext i32 %tid to i64
  %base = inttoptr i64 %keys to ptr
  %out = getelementptr i32, ptr %base, i64 %w
  %twice = shl i32 %tid, 1
  br label %go
go:
  %own = and i32 %tid, %stride
  %low = and i32 %tid, %stride
  %i = sub i32 %twice, %low
  %x = sext i32 %i to i64
  %o = shl nsw i64 %x, 2
  %a = add i64 %keys, %o
  %p = inttoptr i64 %a to ptr
  %v = load i32, ptr %p, align 4
  %n = add i32 %v, 1
  store i32 %n, ptr %p, align 4
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
