; Accesses at known distances. Pairs of two neighbours are one pattern, whose stores fill memory without gaps. Alone, what is read
; covers the gaps, but for what is masked off, and what is written are masked stores; the elements of three lie in between.
; Between two stores nothing may read or write memory: else each is written by itself. A mask that is not full is brought into
; the order of memory where there are mask registers.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --simd=avx2 %s | FileCheck --check-prefix=NARROW %s
; RUN: sed 's/^  store i32 %%sum/  store i32 7, ptr %%out\n&/' %s | %simt-opt --rows - | FileCheck --check-prefix=APART %s
; RUN: sed 's/^  br label .go/%%odd = load i32, ptr %%own\n %%is = icmp eq i32 %%odd, 0\n br i1 %%is, label %%go, label %%done/' %s | %simt-opt --rows - | FileCheck --check-prefix=MASKED %s
; RUN: sed 's/^  br label .go/%%odd = load i32, ptr %%own\n %%is = icmp eq i32 %%odd, 0\n br i1 %%is, label %%go, label %%done/' %s | %simt-opt --rows --simd=avx2 - | FileCheck --check-prefix=GATHERED %s
; CHECK-COUNT-4: load <16 x i32>
; CHECK-NOT: load
; CHECK: store <16 x i32>
; CHECK-NOT: load
; CHECK-COUNT-3: store <16 x i32>
; CHECK-NOT: masked
; NARROW-COUNT-8: load <8 x i32>
; NARROW-NOT: masked
; NARROW-COUNT-8: store <8 x i32>
; APART-COUNT-4: call void @llvm.masked.store.v16i32{{.*}} <i1 true, i1 false, i1 true, i1 false,
; APART: {{^}}  store i32
; APART-COUNT-4: call void @llvm.masked.store.v16i32{{.*}} <i1 true, i1 false, i1 true, i1 false,
; MASKED-COUNT-4: call <16 x i32> @llvm.masked.load.v16i32
; MASKED-COUNT-4: call void @llvm.masked.store.v16i32
; MASKED-NOT: gather
; MASKED-NOT: scatter
; GATHERED: masked.gather
; GATHERED: masked.scatter
define void @kernel(ptr %warp) "strata.kernel" {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %out = load ptr, ptr %params, !invariant.load !0
  %tid = call i32 @strata.tid.x(), !range !1
  %twice = shl i32 %tid, 1
  %i = zext i32 %twice to i64
  %next = add i32 %twice, 1
  %j = sext i32 %next to i64
  %p = getelementptr i32, ptr %out, i64 %i
  %q = getelementptr i32, ptr %out, i64 %j
  %t = zext i32 %tid to i64
  %own = getelementptr i32, ptr %out, i64 %t
  br label %go
go:
  %a = load i32, ptr %p
  %b = load i32, ptr %q
  %difference = sub i32 %a, %b
  store i32 %difference, ptr %p
  %sum = add i32 %a, %b
  store i32 %sum, ptr %q
  br label %done
done:
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
!1 = !{i32 0, i32 1024}
