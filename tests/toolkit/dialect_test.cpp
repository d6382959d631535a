// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/dialect.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace strata::nvcc {
namespace {

TEST(Dialect, launchesMeet) {
  EXPECT_EQ(rewriteDialect("k << <1, 32 >> > (p);"), "k <<<1, 32 >>> (p);");
  EXPECT_EQ(rewriteDialect("k < < <g, b> > >(x);"), "k <<<g, b>>>(x);");
  EXPECT_EQ(rewriteDialect("k<<<g, sizeof(A<B<C<int> > >)>> >(x);"), "k<<<g, sizeof(A<B<C<int> > >)>>>(x);");
  EXPECT_EQ(rewriteDialect("k<\n<<g,\n b>>\n>(x);\ny"), "k<<<\ng,\n b>>>\n(x);\ny");
}

TEST(Dialect, bracesAreDim3) {
  EXPECT_EQ(rewriteDialect("k<<<g, {16, 16, 1}>>>();"), "k<<<g, dim3{16, 16, 1}>>>();");
  EXPECT_EQ(rewriteDialect("k<<<{2}, {n, m}, 0, {}>>>(f({1}), {3});"),
            "k<<<dim3{2}, dim3{n, m}, 0, {}>>>(f({1}), {3});");
}

TEST(Dialect, otherTextStays) {
  for (const char *text :
       {"A<B<C<int> > >(x);", "std::operator<< <char>(o, c); b > > >(x);", "a << b >> c;", "x = a << <",
        "f(a < b, c > (d));", "s = \"k << <1, 2> > >(x)\"; c = '\"'; k << \" < <\";", "R\"x(k < < <1> > >(2))x\"",
        "k<<<1, 2>>>(\"%laneid\");", "asm(\"mov.u32 %0, %%laneid; // %1 %foo %%tid.x\" : \"=r\"(x));",
        "extern \"C\" __global__ void k();", "n = 1'000 << 2;", "# 1 \"/usr/include/x.h\" 1 3\nk < < <1, 2> > >(x);\n",
        "#define K k < < <1, 2> > >(x);\n", ""})
    EXPECT_EQ(rewriteDialect(text), text);
}

TEST(Dialect, systemHeadersEnd) {
  EXPECT_EQ(rewriteDialect("# 1 \"/usr/include/x.h\" 1 3\nk < < <1, 2> > >(x);\n# 2 \"a.cu\" 2\nk < < <1, 2> > >(x);"),
            "# 1 \"/usr/include/x.h\" 1 3\nk < < <1, 2> > >(x);\n# 2 \"a.cu\" 2\nk <<<1, 2>>>(x);");
}

TEST(Dialect, specialRegistersInAssembly) {
  EXPECT_EQ(rewriteDialect("asm volatile(\"mov.u32 %0, %tid.x;\" \"add.u32 %0, %0, %laneid;\" : \"=r\"(x));"),
            "asm volatile(\"mov.u32 %0, %%tid.x;\" \"add.u32 %0, %0, %%laneid;\" : \"=r\"(x));");
  EXPECT_EQ(rewriteDialect("__asm__(\"mov.u64 %0, %clock64;\":\"=l\"(x));"),
            "__asm__(\"mov.u64 %0, %%clock64;\":\"=l\"(x));");
}

TEST(Dialect, linkageBeforeAQualifier) {
  EXPECT_EQ(rewriteDialect("extern \"C\"__global__ void k();"), "extern \"C\" __attribute__((global)) void k();");
  EXPECT_EQ(rewriteDialect("extern \"C\"void f();"), "extern \"C\" void f();");
}

TEST(Dialect, unfinishedText) {
  for (const char *text :
       {"k < < <", "k<<<(", "\"", "'", "R\"x(", "asm(\"%", "extern \"C\"", "#", "# \"", "k < < <1> > >"})
    EXPECT_EQ(rewriteDialect(text), text);
}

class Files : public testing::Test {
protected:
  Files() { std::filesystem::create_directories(folder / "more"); }
  ~Files() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("dialect" + std::to_string(getpid()));
};

TEST_F(Files, areLookedAt) {
  EXPECT_FALSE(mayNeedRewriting(folder / "none.cu", {}));
  for (const char *text :
       {"k << <1, 2>>>(x);", "k<<<1, 2> >>(x);", "k<<<1, {2}>>>();", "extern \"C\"__global__",
        "#define U #pragma unroll", "# define U(n) \\\n x \n#define V #pragma unroll", "asm(\"mov.u32 %0, %laneid;\")"})
    EXPECT_TRUE(mayNeedRewriting(write("a.cu", text), {})) << text;
  for (const char *text : {"k<<<1, 2>>>(x); a << b >> c; { }", "#pragma unroll\nfor (;;)",
                           "asm(\"mov.u32 %0, %%laneid;\")", "extern \"C\" x"})
    EXPECT_FALSE(mayNeedRewriting(write("a.cu", text), {})) << text;
}

TEST_F(Files, withWhatTheyInclude) {
  write("b.h", "#include \"c.h\"\n#include \"a.cu\"\n");
  write("more/c.h", "k << <1, 2>>>(x);");
  const std::string main = write("a.cu", "# include \"b.h\"\n");
  EXPECT_FALSE(mayNeedRewriting(main, {}));
  EXPECT_TRUE(mayNeedRewriting(main, {folder / "more"}));
}

}  // namespace
}  // namespace strata::nvcc
