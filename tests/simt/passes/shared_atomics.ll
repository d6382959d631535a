; Shared memory is seen by one thread: an update of it is a load and a store. Bins that bytes name are taken from a
; register, eight at a time; others from memory, eight lanes a turn where all are active. Global memory is updated
; atomically.
; RUN: %simt-opt --rows %s | FileCheck %s
; RUN: %simt-opt --rows --simd=avx2 %s | FileCheck %s
; RUN: %simt-opt --rows --simd=portable %s | FileCheck %s
; CHECK-NOT: atomicrmw add ptr {{.*}}, i32 {{[0-9]}}
; CHECK: bitcast <32 x i8> {{.*}} to <4 x i64>
; CHECK-COUNT-32: add i32 {{.*}}, 1
; CHECK-NOT: add i32 {{.*}}, 1{{$}}
; CHECK: all.lanes
; CHECK-COUNT-8: add i32 {{.*}}, 5
; CHECK-NOT: add i32 {{.*}}, 5
; CHECK: load i32
; CHECK: select
; CHECK: atomicrmw add ptr {{.*}}, i32 {{.*}} monotonic
define void @kernel(ptr %warp) "strata.kernel" {
  %block = load ptr, ptr %warp, !invariant.load !0
  %shared.at = getelementptr i8, ptr %block, i64 8
  %shared = load ptr, ptr %shared.at, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %out = load ptr, ptr %params, !invariant.load !0
  %tx = call i32 @strata.tid.x()
  %x = zext i32 %tx to i64
  %from = getelementptr i8, ptr %shared, i64 %x
  %byte = load i8, ptr %from
  %bin = zext i8 %byte to i64
  %at = getelementptr i32, ptr %shared, i64 %bin
  %a = atomicrmw add ptr %at, i32 1 monotonic
  %word = load i32, ptr %at
  %word.bin = zext i32 %word to i64
  %word.at = getelementptr i32, ptr %shared, i64 %word.bin
  %c = atomicrmw add ptr %word.at, i32 5 monotonic
  %pair = cmpxchg ptr %at, i32 3, i32 %tx monotonic monotonic
  %old = extractvalue { i32, i1 } %pair, 0
  %to = getelementptr i32, ptr %out, i64 %bin
  %b = atomicrmw add ptr %to, i32 %old monotonic
  ret void
}
declare i32 @strata.tid.x() memory(none)
!0 = !{}
