// SPDX-License-Identifier: Apache-2.0
// One test per message of lexer, parser and matching: the place, and the words that name what is wrong.
#include <gtest/gtest.h>

#include "ptx/ptx.h"

namespace strata::ptx {
namespace {

struct Case {
  const char *text;     // inside a kernel if it does not begin with '.' or '~'; '~' is the whole module
  const char *message;  // part of what is said
  Blame blame = Blame::user;
};

// Line 1 is the header, line 2 the kernel's head, line 3 registers, line 4 the case.
std::string moduleOf(const Case &c) {
  std::string text = c.text;
  if (text[0] == '~') return text.substr(1);
  std::string head =
      ".version 8.3 .target sm_90 .address_size 64 .global .b32 g; .extern .shared .b8 dyn[]; .func (.param .b32 r) "
      "f(.param .b64 a) { ret; } .func h(); .entry kernel() { ret; }\n";
  if (text[0] == '.') return head + "\n\n" + text;
  return head +
         ".visible .entry k(.param .u64 p) {\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; "
         ".reg .b64 %rd<4>; .reg .f64 %fd<4>; .reg .s32 %s<4>; .local .b32 l[4];\n" +
         text + "\nret; }\n";
}

const Case kCases[] = {
    // header
    {"~", "line 1, column 1: a PTX module begins with .version"},
    {"~.version 12.0 .target sm_90", "not a PTX version"},
    {"~.version 8 .target sm_90", "not a PTX version"},
    {"~.version 8.0", ".target must follow .version"},
    {"~.version 8.0 .target 90", "a target such as sm_90 is expected"},
    {"~.version 8.0 .target compute_90", "'compute_90' is not a target"},
    {"~.version 8.0 .target sm_90 .address_size 32", ".address_size 32 is not supported", Blame::unsupported},
    {"~.version 8.0 .target sm_90 .address_size 16", ".address_size must be 64"},
    // lexer
    {"mov.b32 %r0, 0f3f80;", "0f needs 8 hexadecimal digits"},
    {"mov.b64 %rd0, 0d3f80;", "0d needs 16 hexadecimal digits"},
    {"mov.b32 %r0, 12abc;", "not a number"},
    {"mov.b32 %r0, 0x;", "not a number"},
    {"mov.b64 %rd0, 99999999999999999999;", "does not fit 64 bits"},
    {"mov.f64 %fd0, 1e999;", "fits f64"},
    {".file 1 \"abc", "a string is not closed"},
    // lists of one, indices
    {"add.s32 {%r0}, %r1, 1;", "add: "},
    {"ld.global.b32 %r0, g[0];", "only a variable that is an array has an index"},
    {"mov.b64 %rd0, l[%r0];", "an index in a register is not supported", Blame::unsupported},
    {"mov.b64 %rd0, l[1.5];", "an index must be an integer"},
    {"mov.b64 %rd0, l[1;", "an index"},
    {"add.s64 %rd0, l[1], %rd1;", "add: "},
    // module scope
    {".visible foo", "a directive is expected at module scope"},
    {".frob 1", "directive .frob is not known here"},
    {".local .b32 x;", ".local variables belong inside a function"},
    {".file x", "the index of .file must be a number"},
    {".file 1 x", "a path in quotes is expected"},
    {".section .debug_str { .b8 1", "a .section is not closed"},
    {".pragma x;", "a string is expected after .pragma"},
    {".global .frob x;", "a type is expected"},
    {".global .pred x;", "predicates live in registers only"},
    {".global .texref t;", ".texref (textures and surfaces) is not supported", Blame::unsupported},
    {".global .align 3 .b32 x;", "an alignment must be a power of two"},
    {".global .align x .b32 x;", "an alignment must be a number"},
    {".global .attribute(.unified) .b32 x;", "attribute .unified is not supported", Blame::unsupported},
    {".global .b32 x", "';' is expected after a variable"},
    {".global .b32 ;", "a variable's name is expected"},
    {".global .b32 x[];", "'x' needs a size"},
    {".global .b32 x[0];", "an array size must be positive"},
    {".global .b32 x[1.5];", "an array size must be an integer"},
    {".global .b32 x[4][];", "only the first dimension may be left open"},
    {".global .b32 x[1000000][1000000][1000000];", "variable 'x' is too large"},
    {".global .b32 g;", "variable 'g' is defined twice"},
    {".global .b64 g;", "'g' is declared already, with another type"},
    {".global .b32 f;", "'f' is declared already, as a function"},
    {".global .b32 x = foo;", "'foo' is not defined"},
    {".shared .b32 x = 1;", "only .global and .const variables may have an initialiser"},
    {".global .b32 x[2] = {1, 2, 3};", "too many initialisers for 'x'"},
    {".global .b32 x[2][2] = {{1, 2, 3}};", "too many initialisers for 'x'"},
    {".global .b32 x[2] = 5;", "'{' is expected"},
    {".global .b8 x[2] = \"abc\";", "the string is longer than the array"},
    {".global .b32 x[2] = \"abc\";", "a string initialises bytes only"},
    {".global .b8 x = 0d0000000000000000;", "a floating-point constant does not initialise .b8"},
    {".global .b16 x = g;", "an address needs an element of 4 or 8 bytes"},
    {".global .b8 x = 0xF(g);", "the mask of an address must be one byte"},
    {".extern .global .b32 x[] = {1};", "an initialised array needs a size"},
    {".global .b64 x = generic(g;", "')' is expected"},
    {".alias f, nothing;", "'nothing' is not a function"},
    {".alias f, h;", "an alias may not have a body"},
    {".alias h, h;", "an alias must stand for a function with a body"},
    // heads of functions
    {".entry 5() { }", "a function's name is expected"},
    {".entry e(.reg .b32 x) { ret; }", "kernel 'e' takes parameters in .param space only"},
    {".entry e(.b32 x) { ret; }", ".param or .reg is expected"},
    {".entry e(.param .b32) { ret; }", "a parameter's name is expected"},
    {".entry e(.param .pred x) { ret; }", "a .param may not be a predicate"},
    {".entry e(.param .b32 x, .param .b32 x) { ret; }", "'x' is declared twice"},
    {".entry e(.param .b8 x[9999999]) { ret; }", "parameter 'x' is too large"},
    {".entry e(.param .b8 x[40000]) { ret; }", "kernel 'e' has 40000 bytes of parameters"},
    {".entry e() .maxntid x { ret; }", "a dimension must be a number"},
    {".entry e() .minnctapersm 99999999999 { ret; }", "minnctapersm is too large"},
    {".entry e() .frob { ret; }", "directive .frob is not allowed after a function's head"},
    {".entry e() ret;", "'{' or ';' is expected after a function's head"},
    {".entry e() { ret;", "the body of 'e' is not closed"},
    {".func f(.param .b32 a);", "'f' is declared already, with another signature"},
    {".func (.param .b32 r) f(.param .b64 a) { ret; }", "function 'f' is defined twice"},
    {".func g() { ret; }", "'g' is declared already, as a variable"},
    // bodies
    {"5;", "an instruction, label or directive is expected"},
    {"@%p0 ;", "an instruction is expected after a guard"},
    {"@%r0 ret;", "a guard must be a predicate, and '%r0' is not one"},
    {"@%q ret;", "'%q' is not a register"},
    {"@5 ret;", "a predicate register is expected"},
    {"L: L: ret;", "label 'L' is declared twice"},
    {"bra L;", "label 'L' is not defined"},
    {"{ L: } bra L;", "label 'L' is not defined"},
    {"bra 5;", "a label is expected"},
    {"x: .calltargets f;", ".calltargets is not supported", Blame::unsupported},
    {"brx.idx %r0, L;", "'L' does not name .branchtargets"},
    {"mov.b32 %r0, 1; .global .b32 z;", "directive .global is not allowed inside a function"},
    {"mov.b32 %r0, 1; .loc x;", "the file of .loc must be a number"},
    {"mov.b32 %r0, 1; .loc 1 2 3, frob 4;", "'frob' is not allowed in .loc"},
    {"mov.b32 %r0, 1; .reg .b32 %z<9999999>;", "the number of registers is too large"},
    {"mov.b32 %r0, 1; .reg .b32 %z<4>, %z<4>;", "'%z' is declared twice"},
    {"mov.b32 %r0, 1; .reg .b32 z, z;", "'z' is declared twice"},
    {"mov.b32 %r0, 1; .reg .v2 .b32 %z<4>;", "a range of vector registers is not supported", Blame::unsupported},
    // instructions: suffixes
    {"frobnicate.u32 %r0;", "line 4, column 1: 'frobnicate' is not an instruction"},
    {"add.foo.u32 %r0, %r1, %r2;", "line 4, column 1: add: modifier '.foo' is not known"},
    {"add.wide.u32 %r0, %r1, %r2;", "add: modifier '.wide' is not allowed here"},
    {"add.sat.u32 %r0, %r1, %r2;", "add: type '.u32' is not allowed here"},
    {"add %r0, %r1, %r2;", "add: a type is missing in 'add'"},
    {"mul.u32 %r0, %r1, %r2;", "mul: .half is missing in 'mul.u32'"},
    {"div.f32 %f0, %f1, %f2;", "div: .mode is missing in 'div.f32'"},
    {"add.f32.f32 %f0, %f1, %f2;", "add: type '.f32' is not allowed here"},
    {"add.ftz.ftz.f32 %f0, %f1, %f2;", "add: modifier '.ftz' is not allowed here"},
    {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [g, {%f0, %f1}];", "tex: this instruction is not supported",
     Blame::unsupported},
    // instructions: operands
    {"add.u32 %r0, %r1;", "add: takes 3 operands, not 2"},
    {"bar.sync 1, 2, 3;", "bar: takes 1 to 2 operands, not 3"},
    {"add.u32 %r0, %r1, %r9;", "line 4, column 19: '%r9' is not defined"},
    {"add.u32 %r0, %r1, %rd1;", "line 4, column 19: add: operand 'b' is %rd1 of type b64, but u32 is needed"},
    {"add.f32 %f0, %f1, %s1;", "operand 'b' is %s1 of type s32, but f32 is needed"},
    {"add.s32 %r0, %r1, %f1;", "operand 'b' is %f1 of type f32, but s32 is needed"},
    {"add.u32 5, %r1, %r2;", "operand 'd' must be a register"},
    {"add.u32 %r0, [%rd0], %r2;", "operand 'a' must be a register or a constant"},
    {"add.u32 %r0, g, %r2;", "operand 'a' may not be a symbol here"},
    {"add.u32 %r0, %tid.x, %r2;", "operand 'a' may not be a special register here"},
    {"add.u32 %r0, 1.5, %r2;", "operand 'a' is a floating-point constant of type f64, but u32 is needed"},
    {"add.f32 %f0, 1, %f2;", "operand 'a' is an integer constant of type s64, but f32 is needed"},
    {"add.u32 %r0, !%p0, %r2;", "operand 'a' may not be negated"},
    {"add.u32 _, %r1, %r2;", "operand 'd' may not be '_' here"},
    {"add.u32 {%r0, %r1}, %r1, %r2;", "operand 'd' must be a register"},
    {"and.b32 %r0, !%r1, %r2;", "operand 'a' may not be negated"},
    {"ld.global.u32 %r0, %rd0;", "operand 'a' must be an address in brackets"},
    {"ld.global.v2.u32 %r0, [%rd0];", "operand 'd' must be a vector of 2 elements"},
    {"ld.global.v2.u32 {%r0}, [%rd0];", "operand 'd' must be a vector of 2 elements"},
    {"ld.global.u64 %r0, [%rd0];", "operand 'd' is %r0 of type b32, but u64 is needed"},
    {"ld.global.u32 %r0, [%f0];", "register '%f0' cannot hold an address"},
    {"ld.global.u32 %r0, [5.0];", "an offset must be an integer"},
    {"ld.global.u32 %r0, [%tid.x];", "an address must begin with a register or a symbol"},
    {"ld.global.u32 %r0, [%rd0;", "']' is expected after an address"},
    {"ld.global.u32 %r0, [zz];", "'zz' is not defined"},
    {"mov.b64 %rd0, {%r0, [%rd0]};", "a vector's elements are registers or constants"},
    {"mov.u16 %h0, g;", "is an address and needs a type of 32 or 64 bits"},
    {"mov.u64 %rd0, %tid.x;", "operand 'a' is %tid.x of type u32, but u64 is needed"},
    {"lop3.b32 %r0, %r1, %r2, %r3, %r0;", "operand 'immLut' must be a constant"},
    {"setmaxnreg.inc.sync.aligned.u32 25;", "must be a constant from 24 to 256 in steps of 8"},
    {"bar.sync 16;", "must be a constant from 0 to 15"},
    {"vadd.u32.u32.u32 %r0, %r1.b4, %r2;", "operand 'a' may not have the selector .b4"},
    {"vadd.u32.u32.u32 %r0, %r1, %r2, %r3;", "operand 'd' needs a selector such as .h1"},
    {"vadd4.u32.u32.u32 %r0.b12, %r1, %r2, %r3;", "operand 'd' may not have the selector .b12"},
    {"add.u32 %r0, %r1.b0, %r2;", "operand 'a' may not have the selector .b0"},
    {"add.u32 %r0, %r1.foo, %r2;", "'.foo' does not select parts of a register"},
    {"ld.global.u32 %r0, [%rd0, {%r1}];", "operand 'a' takes no coordinates"},
    {"cp.async.bulk.prefetch.tensor.2d.L2.global [%rd0];", "operand 'map' needs coordinates"},
    {"elect.sync %r0, %r1;", "operand 'd' must be a pair d|p"},
    {"setp.eq.s32 %r0, %r1, %r2;", "operand 'p' is %r0 of type b32, but pred is needed"},
    {"ld.L2::cache_hint.global.u32 %r0, [%rd0];", "takes"},
    {"bra.uni %r0", "';' is expected"},
    {"add.u32 %r0, %r1, %r2", "';' is expected after the operands"},
    {"mov.b32 %r0, %r1|5;", "a predicate is expected after '|'"},
    {"setp.eq.and.s32 %p0, %r0, %r1, !;", "a predicate is expected after '!'"},
    {"mov.b32 %r0, ;", "a constant is expected"},
    {"mov.b32 %r0, 1 / 0;", "division by zero in a constant expression"},
    {"mov.f64 %fd0, 1.5 % 2.0;", "operator '%' needs integers"},
    {"mov.f64 %fd0, ~1.5;", "operators '~' and '!' need an integer"},
    {"mov.b64 %rd0, (.s64)1.5;", "a cast needs an integer"},
    {"mov.b32 %r0, 1.5 ? 1 : 2;", "the condition of '?' must be an integer"},
    {"call f, (%rd0;", "')' is expected after arguments"},
    {"call f, ([%rd0]);", "an argument is a .param variable, a register or a constant"},
    {"call (%r0) f;", "',' is expected after the results of a call"},
    {"call (%r0), %rd0, (%rd1), zz;", "'zz' does not name a .callprototype"},
    {"q: .callprototype _ () .frob;", "directive .frob is not allowed in a .callprototype"},
};

class Errors : public testing::TestWithParam<Case> {};
TEST_P(Errors, nameThePlaceAndTheFault) {
  const Case &c = GetParam();
  std::string text = moduleOf(c);
  Result<Module> module = parse(text);
  ASSERT_FALSE(module) << text;
  EXPECT_NE(module.error().message.find(c.message), std::string::npos) << module.error().message << "\n" << text;
  EXPECT_EQ(module.error().message.find("line "), 0u) << module.error().message;
  EXPECT_EQ(module.error().blame, c.blame) << module.error().message;
}
INSTANTIATE_TEST_SUITE_P(All, Errors, testing::ValuesIn(kCases));

TEST(Errors, deepNestingEnds) {
  std::string parens(5000, '('), braces(5000, '{');
  for (const std::string &body : {"mov.b32 %r0, " + parens, "mov.b32 %r0, " + std::string(5000, '-') + "1;", braces})
    EXPECT_FALSE(parse(moduleOf({body.c_str(), ""})));
}
TEST(Errors, truncationAnywhereIsAnError) {
  std::string text = moduleOf({"add.u32 %r0, %r1, 5; L: @%p0 bra L;", ""});
  for (std::size_t n = 0; n < text.size() - 3; ++n) {
    Result<Module> module = parse(std::string_view(text).substr(0, n));
    if (!module) EXPECT_FALSE(module.error().message.empty());
  }
}

}  // namespace
}  // namespace strata::ptx
