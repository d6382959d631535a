; What the report says beside what was done: the array, the function that was inlined, and who runs it.
; RUN: %simt-opt --rows --report %s | FileCheck %s
; CHECK: guard.cu:3: both sides run, under masks, only where lanes part (
; CHECK-NEXT: guard.cu:3: code without masks for full warps (taken where all 32 lanes go the same way)
; CHECK-NEXT: guard.cu:4: gather in parameter in (the address varies)
; CHECK-NEXT: guard.cu:5: gather in table, inside sinus (the address varies)
; CHECK-NEXT: guard.cu:6: scatter in shared tile (the address varies)
; CHECK-NEXT: guard.cu:7: gather in shared dynamic (the address varies)
; Two arrays, and an address that was loaded: no name.
; CHECK-NEXT: guard.cu:8: gather (the address varies)
; CHECK-NEXT: guard.cu:9: scatter (the address varies)
; A header's function that was inlined: the line that calls it, and its own.
; CHECK-NEXT: guard.cu:10: scatter in shared dynamic, inside helper (half.h:64) (the address varies)
; CHECK-NOT: {{.}}
define void @kernel(ptr %warp) "strata.kernel" !dbg !10 {
entry:
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %in = load i64, ptr %params, !invariant.load !0
  %at.at = getelementptr i8, ptr %params, i64 8
  %at = load ptr, ptr %at.at, !invariant.load !0
  %n.at = getelementptr i8, ptr %params, i64 16
  %n = load i32, ptr %n.at, !invariant.load !0
  %globals.at = getelementptr i8, ptr %launch, i64 16
  %globals = load ptr, ptr %globals.at, !invariant.load !0
  %shared.at = getelementptr i8, ptr %block, i64 8
  %shared = load ptr, ptr %shared.at, !invariant.load !0
  %tid = call i32 @strata.tid.x()
  %inside = icmp slt i32 %tid, %n
  br i1 %inside, label %body, label %end, !dbg !13
body:
  %tid64 = zext i32 %tid to i64
  %index.at = getelementptr i32, ptr %at, i64 %tid64
  %index = load i32, ptr %index.at, !dbg !14
  %wide = zext i32 %index to i64
  %bytes = shl i64 %wide, 2
  %sum = add i64 %in, %bytes
  %a.at = inttoptr i64 %sum to ptr
  %a = load i32, ptr %a.at, !dbg !14
  %table = getelementptr i8, ptr %globals, i64 256
  %b.at = getelementptr i32, ptr %table, i64 %wide
  %b = load i32, ptr %b.at, !dbg !25
  %tile = getelementptr i8, ptr %shared, i64 64
  %c.at = getelementptr i32, ptr %tile, i64 %wide
  store i32 %b, ptr %c.at, !dbg !16
  %dynamic = getelementptr i8, ptr %shared, i64 128
  %d.at = getelementptr i32, ptr %dynamic, i64 %wide
  %d = load i32, ptr %d.at, !dbg !17
  %odd = trunc i32 %index to i1
  %either = select i1 %odd, ptr %c.at, ptr %b.at
  %e = load i32, ptr %either, !dbg !18
  %f.at = load ptr, ptr %at, !dbg !18
  %g.at = getelementptr i32, ptr %f.at, i64 %wide
  %s = add i32 %a, %d
  %t = add i32 %s, %e
  store i32 %t, ptr %g.at, !dbg !19
  store i32 %t, ptr %d.at, !dbg !26
  br label %end, !dbg !19
end:
  ret void
}
declare i32 @strata.tid.x() memory(none)
!strata.arrays = !{!30, !31, !32, !33}
!llvm.module.flags = !{!1}
!llvm.dbg.cu = !{!2}
!0 = !{}
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !3, isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!3 = !DIFile(filename: "guard.cu", directory: "")
!4 = !DIFile(filename: "<ptx>", directory: "")
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DIFile(filename: "half.h", directory: "")
!10 = distinct !DISubprogram(name: "kernel", file: !3, line: 1, type: !5, unit: !2, spFlags: DISPFlagDefinition)
!11 = distinct !DISubprogram(name: "sinus", file: !4, line: 0, type: !5, unit: !2, spFlags: DISPFlagDefinition)
!12 = distinct !DISubprogram(name: "helper", file: !7, line: 60, type: !5, unit: !2, spFlags: DISPFlagDefinition)
!13 = !DILocation(line: 3, scope: !10)
!14 = !DILocation(line: 4, scope: !10)
!15 = distinct !DILocation(line: 5, scope: !10)
!16 = !DILocation(line: 6, scope: !10)
!17 = !DILocation(line: 7, scope: !10)
!18 = !DILocation(line: 8, scope: !10)
!19 = !DILocation(line: 9, scope: !10)
!20 = distinct !DILocation(line: 10, scope: !10)
!25 = !DILocation(line: 0, scope: !11, inlinedAt: !15)
!26 = !DILocation(line: 64, scope: !12, inlinedAt: !20)
!30 = !{!"parameter in", i64 0, i64 0, i64 8}
!31 = !{!"table", i64 2, i64 256, i64 64}
!32 = !{!"shared tile", i64 1, i64 64, i64 64}
!33 = !{!"shared dynamic", i64 1, i64 128, i64 0}
