// SPDX-License-Identifier: Apache-2.0
// One row of the instruction table: a form as the PTX manual writes it, with all that parser, verifier,
// printer, docs and tests need. Rows lie in constexpr arrays in ptx/isa/<family>.cpp, beside the
// functions that give their meaning.
//
//   syntax  "add{.rnd}{.ftz}{.sat}.f32 d, a, b"
//           Suffixes: `.name` is literal unless `where` gives a set of that name; braces mean optional, and
//           suffixes in one pair of braces come together. As in NVIDIA's assembler, modifiers may be
//           written in any order; types are ordered.
//           Operands: `d`, `[a]`, `p{|q}` (pair), `{!}c` (may be negated), `{, e}` (optional).
//           Operands whose names begin with d, and p and q, are written; all others are read.
//   where   clauses separated by ';'
//           "rnd = rn rz rm rp"    what `.rnd` stands for: modifiers or types
//           "d: type*2"            operand d has twice the width of the type chosen for `.type`
//           "b: u32"               operand b has this type
//           "p: pred"              likewise
//           after the type:  vec    a vector of as many elements as .v2/.v4/.v8 say (none: scalar)
//                            x4     a vector of exactly four
//                            select1, select2, select4  a register may choose parts: %r1.b0, %r1.h32, %r1.b7654
//                            mask2, mask4, merge        likewise the parts that are written; merge: must
//                            coords an address with coordinates, [map, {x, y}]
//                            list   a vector of any length, not empty
//                            wide   a wider register is allowed, too
//                            sink   `_` is allowed
//                            imm    must be a constant
//                            in L H S  a constant must be one of L, L + S, … H
//                            reg    must be a register
//                            symbol may also be a symbol's or function's address
//                            special may also be a special register
//                            if M   present exactly if modifier M is
//           An operand without a clause takes its type from the suffix called dtype, atype, btype or ctype
//           (by its first letter) if there is one, else from the first type suffix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ptx/types.h"

namespace strata::ptx {

class LaneBuilder;
struct Instruction;
using Meaning = void (*)(LaneBuilder &, const Instruction &);

// PTX version that introduced a form.
struct Version {
  std::uint8_t major = 1, minor = 0;
  constexpr auto operator<=>(const Version &) const = default;
};
constexpr Version ptx(unsigned major, unsigned minor) {
  return {static_cast<std::uint8_t>(major), static_cast<std::uint8_t>(minor)};
}

// The least target: sm(70); arch(90) is sm_90a and nothing else of that family.
struct Target {
  std::uint16_t sm = 0;
  bool specific = false;
};
constexpr Target sm(unsigned number) { return {static_cast<std::uint16_t>(number), false}; }
constexpr Target arch(unsigned number) { return {static_cast<std::uint16_t>(number), true}; }

// What a form does besides writing its results; a set of bits.
enum Effects : std::uint8_t {
  pure = 0,
  reads = 1,        // memory
  writes = 2,       // memory
  convergent = 4,   // needs other lanes
  carryIn = 8,      // reads the carry flag: one more operand, the hidden register %cc, last
  carryOut = 16,    // writes it: likewise
  sideEffect = 32,  // clocks, traps, hints: may not be removed or repeated
};
constexpr Effects operator|(Effects a, Effects b) {
  return static_cast<Effects>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

enum class State : std::uint8_t {
  executes,    // has a meaning
  parsesOnly,  // known, checked and printed; refused when a kernel that uses it is compiled
  control,     // bra, brx, call, ret, exit: built by simt/lower from the tree
};

struct Form {
  std::string_view syntax;
  std::string_view where;
  Version version;
  Target target;
  Effects effects = pure;
  State state = State::executes;
  Meaning meaning = nullptr;
  std::string_view anchor;  // in NVIDIA's PTX ISA manual
};

// All rows, in the order of the manual's chapters.
std::span<const Form *const> allForms();

}  // namespace strata::ptx
