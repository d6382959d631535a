// SPDX-License-Identifier: Apache-2.0
// Rows of the instruction table, read once into a shape that instructions are matched against.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/isa/form.h"
#include "ptx/ptx.h"

namespace strata::ptx {

// A dotted part after the opcode: a modifier or a type.
struct Suffix {
  bool isType = false;
  Mod mod{};
  Type type = Type::none;
  bool operator==(const Suffix &) const = default;
};
std::optional<Suffix> findSuffix(std::string_view text);  // without the dot
std::string_view name(const Suffix &suffix);

struct SuffixSlot {
  std::string_view name;  // "rnd", or the literal's text
  std::vector<Suffix> options;
  bool isType = false;
  int group = 0;  // 0: required; else index of a pair of braces
};

struct OperandSlot {
  enum class Shape : std::uint8_t { value, address, pair, label, labelList, call };
  std::string_view name;
  Shape shape = Shape::value;
  bool optional = false, written = false, negatable = false, secondOptional = false;
  bool wide = false, sink = false, immediateOnly = false, registerOnly = false, symbol = false, special = false;
  bool vector = false;                        // as .v2/.v4/.v8 say
  bool coordinates = false;                   // an address with a vector of them
  std::string_view selector;                  // select1 … mask4, merge
  bool list = false;                          // a vector of any length
  unsigned elements = 0;                      // exactly so many; 0: scalar
  std::uint64_t low = 0, high = 0, step = 0;  // bounds of a constant if step > 0
  std::optional<Mod> condition;               // present exactly if the modifier is
  Type type = Type::none;                     // if typeSlot < 0
  int typeSlot = -1;                          // index into Pattern::suffixes
  unsigned factor = 1;                        // 2: twice the width
};

struct Pattern {
  const Form *form = nullptr;
  Opcode opcode{};
  std::vector<SuffixSlot> suffixes;
  std::vector<int> groupParents;  // by group; [0] is the required group
  std::vector<OperandSlot> operands;
};

// Reads a row. Errors (ours): the row names an unknown opcode, modifier, type or operand.
Result<Pattern> readForm(const Form &form);

// Patterns of an opcode, in the order of the table; empty if no row has it.
std::span<const Pattern> patternsOf(Opcode opcode);
const Pattern &patternOf(const Form &form);
std::optional<Opcode> findOpcode(std::string_view text);

// Suffixes placed in a pattern's slots; fills[i] is an index into SuffixSlot::options or -1.
struct SuffixFit {
  const Pattern *pattern = nullptr;
  std::vector<int> fills;
  std::vector<Type> operandTypes;  // resolved, one per Pattern::operands
  unsigned vector = 1;             // what .v2/.v4/.v8 say
  std::vector<Mod> modifiers;      // in the row's order
};
struct SuffixMismatch {
  int extra = -1;  // index of the suffix that has no place, or
  const SuffixSlot *missing = nullptr;
};
std::optional<SuffixFit> fitSuffixes(const Pattern &pattern, std::span<const Suffix> suffixes,
                                     SuffixMismatch &mismatch);

// Whether `selector` is one that a slot's kind allows.
bool isSelector(std::string_view kind, std::string_view selector);

// Whether the operands (already parsed) agree with the pattern in number, shape and type. If not: what is
// wrong, and where.
struct OperandMismatch {
  TextPlace place;
  std::string what;
  bool count = false;  // already their number is wrong
};
bool fitOperands(const SuffixFit &fit, const Instruction &instruction, const Function &function,
                 OperandMismatch &mismatch);

// Index into Pattern::operands for each operand of the instruction; false if the numbers differ.
bool alignOperands(const SuffixFit &fit, const Instruction &instruction, std::vector<unsigned> &slots);

// The suffixes of an instruction in the tree: modifiers, then types.
std::vector<Suffix> suffixesOf(const Instruction &instruction);

}  // namespace strata::ptx
