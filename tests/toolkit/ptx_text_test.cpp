// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/ptx_text.h"

#include <gtest/gtest.h>

namespace strata::nvcc {
namespace {

TEST(LimitRegisters, OnlyWhereNoLaunchBoundsAre) {
  EXPECT_EQ(limitRegisters("// .entry x\n.visible .entry a(\n\t.param .u64 p\n)\n{\n\tret;\n}\n"
                           ".visible .entry b()\n.maxntid 256, 1, 1\n{\n\t{\n\t}\n}\n.func c()\n{\n}\n",
                           "40"),
            "// .entry x\n.visible .entry a(\n\t.param .u64 p\n)\n.maxnreg 40\n{\n\tret;\n}\n"
            ".visible .entry b()\n.maxntid 256, 1, 1\n{\n\t{\n\t}\n}\n.func c()\n{\n}\n");
}

TEST(RepairRelocatable, StaticsHaveOneName) {
  EXPECT_EQ(repairRelocatable(".extern .global .align 4 .u32 _ZL1x;\n"
                              ".visible .global .align 4 .u32 _ZL1x__static__7f = 100;\n"
                              "\tld.global.u32 \t%r1, [_ZL1x+4];\n\tmov.u64 %rd1, _ZL1xy;\n"),
            ".visible .global .align 4 .u32 _ZL1x__static__7f = 100;\n"
            "\tld.global.u32 \t%r1, [_ZL1x__static__7f+4];\n\tmov.u64 %rd1, _ZL1xy;\n");
}

TEST(RepairRelocatable, ArraysAndOtherExternsStay) {
  const std::string text =
      ".extern .global .align 4 .b8 shared[16];\n.extern .func f\n(\n\t.param .b64 f_param_0\n)\n;\n"
      "\tcall f, (p);\n\tmov.u64 %rd1, shared;\n";
  EXPECT_EQ(repairRelocatable(text), text);
  EXPECT_EQ(repairRelocatable(".extern .global .align 4 .b8 a[16];\n.visible .global .align 4 .b8 a__static__1[16];\n"),
            ".visible .global .align 4 .b8 a__static__1[16];\n");
}

TEST(RepairRelocatable, KernelsOfOtherFilesAreNotDeclared) {
  EXPECT_EQ(repairRelocatable(".extern .func (.param .align 4 .b8 r[8]) used\n()\n;\n.extern .func kernel\n(\n\t.param "
                              ".b64 kernel_param_0\n)\n;\n"
                              ".global .align 8 .u64 __clang_gpu_used_external[2] = {kernel, shared};\n\tcall used;\n"),
            ".extern .func (.param .align 4 .b8 r[8]) used\n()\n;\n\tcall used;\n");
}

TEST(UnresolvedSymbol, FunctionsAndVariablesOfOtherFiles) {
  const std::string call = ".func g()\n{\n\tcall.uni (retval0), _Z3exti, (param0);\n}\n";
  EXPECT_EQ(unresolvedSymbol(
                ".extern .func  (.param .b32 func_retval0) _Z3exti\n(\n\t.param .b32 _Z3exti_param_0\n)\n;\n" + call),
            "_Z3exti");
  EXPECT_EQ(unresolvedSymbol(".extern .global .align 4 .u32 x;\n\tld.global.u32 \t%r1, [x];\n"), "x");
  EXPECT_EQ(unresolvedSymbol(".extern .func  (.param .b32 func_retval0) vprintf\n(\n)\n;\n\tcall vprintf;\n"), "");
  EXPECT_EQ(unresolvedSymbol(
                ".extern .shared .align 16 .b8 tile[];\n\tld.shared.u32 %r1, [tile];\n.extern .func unused\n()\n;\n"),
            "");
  EXPECT_EQ(unresolvedSymbol(".visible .entry k()\n{\n\tret;\n}\n"), "");
}

}  // namespace
}  // namespace strata::nvcc
