// SPDX-License-Identifier: Apache-2.0
// PTX modules: the typed tree that the parser builds, the verifier checks, the printer writes and
// simt/ translates. No LLVM here. Source: PTX ISA 8.x/9.x, anchors as in NVIDIA's manual.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptx/types.h"

namespace strata::ptx {

struct Form;  // a row of the instruction table, ptx/isa/form.h

// A place in the PTX text; lines and columns start at 1.
struct TextPlace {
  std::uint32_t line = 0, column = 0;
};

// A `.loc` directive: the CUDA source line of the instructions that follow. file indexes Module::files.
struct SourceLine {
  std::uint32_t file = 0, line = 0, column = 0;
  std::string function;         // inlined function's name (`function_name`), if given
  std::string functionLabel;    // its label in .debug_str, as written
  std::int32_t inlinedAt = -1;  // index into Function::sourceLines of the call site, or -1
};

struct Register {
  std::string name;  // with '%'; %r<10> is expanded
  Type type;
};

// A reference to a named thing that has an address.
struct SymbolRef {
  enum class Kind : std::uint8_t {
    global,    // Module::variables[index]
    function,  // Module::functions[index]
    local,     // Function::variables[index]: .local, .shared, .param (call arguments) of this function
    param,     // Function::params[index]
    result,    // Function::results[index]
  };
  Kind kind = Kind::global;
  std::uint32_t index = 0;
};

struct Operand {
  enum class Kind : std::uint8_t {
    reg,        // reg
    immediate,  // bits, type (s64/u64 for integers, f32/f64 for floats: as the operand needs it)
    symbol,     // symbol + offset, as a value: mov.u64 %rd, symbol
    address,    // [base + offset]; base: a register, a symbol or nothing (absolute)
    vector,     // {a, b, …}: elements
    pair,       // d|p: elements[0], elements[1]
    special,    // special register: special
    label,      // label
    labelList,  // brx.idx: Function::branchTargets[label]
    prototype,  // call through a register: Function::prototypes[label]
    arguments,  // ( a, b ): elements; parameter variables or registers or immediates
    sink,       // _
  };
  Kind kind = Kind::sink;
  bool negated = false;    // !p
  bool hasSymbol = false;  // address: base is `symbol`, else `reg` if hasReg, else absolute
  bool hasReg = false;
  bool indexed = false;    // symbol: written A[5], which may stand for a value and for an address
  Type type = Type::none;  // immediate: s64/u64, or for floats the operand's f32/f64
  std::uint32_t reg = 0;   // Function::registers index
  std::uint64_t bits = 0;  // immediate
  std::int64_t offset = 0;
  SymbolRef symbol;
  SpecialRegister special{};
  std::uint32_t label = 0;         // Function::labels index
  std::array<char, 6> selector{};  // video instructions, %r1.h1: "h1"; NUL-terminated
  std::vector<Operand> elements;
  TextPlace place;
};

struct Guard {
  std::uint32_t reg = 0;
  bool negated = false;
};

// One instruction. `form` is the table row that accepted it; `modifiers` are the dotted parts after the
// opcode in the row's order (they may be written in any), types excluded; `types` the type suffixes in their written
// order. The opcode is the word before the first dot: cp.async.wait_all is Opcode::cp with Mod::async, Mod::wait_all.
// Operands of control flow:
//   bra      0: label
//   brx.idx  0: index register, 1: labelList
//   call     0: arguments (results), 1: symbol (function) or reg, 2: arguments, 3: prototype if through a reg
// Forms that read or write the carry flag (add.cc, addc, …) have one more operand, last: the hidden
// register "%cc" of type pred.
struct Instruction {
  const Form *form = nullptr;
  Opcode opcode{};
  std::vector<Mod> modifiers;
  std::vector<Type> types;
  std::vector<Operand> operands;
  std::optional<Guard> guard;
  std::int32_t sourceLine = -1;  // Function::sourceLines index, or -1
  TextPlace place;

  bool has(Mod mod) const {
    for (Mod m : modifiers)
      if (m == mod) return true;
    return false;
  }
  Type type(std::size_t i = 0) const { return i < types.size() ? types[i] : Type::none; }
};

struct Label {
  std::string name;
  std::uint32_t instruction = 0;  // index of the instruction it stands before; may be body.size()
};

enum class Linkage : std::uint8_t { internal, visible, extern_, weak, common };

// A place in an initialiser that holds the address of a symbol (+ addend). bytes: width, 8 as a rule.
struct Relocation {
  std::uint64_t offset = 0;
  SymbolRef symbol;
  std::int64_t addend = 0;
  std::uint8_t bytes = 8;
  bool generic = false;    // generic(symbol)
  std::uint8_t shift = 0;  // mask operator 0xFF00(symbol): bytes is 1, and the byte is (address + addend) >> shift
};

struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::b8;
  Linkage linkage = Linkage::internal;
  std::uint32_t vector = 1;               // .v2, .v4
  std::uint32_t alignment = 1;            // bytes
  std::uint64_t size = 0;                 // bytes; 0: extern unsized array (dynamic shared memory)
  std::vector<std::uint64_t> dimensions;  // as written; empty: scalar; 0: unsized
  bool managed = false;                   // .attribute(.managed)
  std::vector<std::uint8_t> init;         // the first bytes, at most `size`; the others are zeros
  std::vector<Relocation> relocations;
  TextPlace place;
};

// A kernel or function parameter or result: in the .param space, or (old style) a register.
struct Param {
  std::string name;
  Type type = Type::b8;
  std::uint32_t alignment = 1;  // bytes
  std::uint64_t size = 0;       // bytes
  std::vector<std::uint64_t> dimensions;
  bool isRegister = false;  // .reg parameter: also registers[reg]
  std::uint32_t reg = 0;
  bool isPointer = false;  // .ptr, with its space and alignment
  Space pointerSpace = Space::generic;
  std::uint32_t pointerAlignment = 0;
};

// `.callprototype`: the signature of an indirect call.
struct Prototype {
  std::string name;
  std::vector<Param> results, params;
  bool noreturn = false;
};

struct Function {
  std::string name;
  bool isKernel = false;
  bool hasBody = false;
  bool noreturn = false;
  Linkage linkage = Linkage::internal;
  std::vector<Param> results, params;
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .local, .shared and .param declared inside, scopes renamed apart
  std::vector<Instruction> body;
  std::vector<Label> labels;
  std::vector<std::vector<std::uint32_t>> branchTargets;  // .branchtargets, label indices
  std::vector<std::string> branchTargetNames;
  std::vector<Prototype> prototypes;
  std::vector<SourceLine> sourceLines;
  std::uint32_t maxntid[3] = {0, 0, 0};  // .maxntid, 0: not given
  std::uint32_t reqntid[3] = {0, 0, 0};  // .reqntid
  std::uint32_t minnctapersm = 0, maxnreg = 0;
  std::uint32_t reqnctapercluster[3] = {0, 0, 0};
  std::uint32_t maxclusterrank = 0;
  bool explicitCluster = false, blocksAreClusters = false;
  std::int32_t aliasOf = -1;  // .alias: index of the function meant; uses are resolved to it
  std::vector<std::string> pragmas;
  TextPlace place;
};

struct Module {
  std::uint32_t versionMajor = 0, versionMinor = 0;
  std::string target;                      // "sm_90a"
  std::vector<std::string> targetOptions;  // "debug", "texmode_independent"
  std::uint32_t addressSize = 64;
  std::vector<std::string> pragmas;
  std::vector<std::string> files;          // .file, by index
  std::vector<Variable> variables;         // module scope, .shared included
  std::vector<Function> functions;         // declarations and definitions, one entry per name
  std::vector<std::string> debugSections;  // .section blocks, kept as text

  const Function *findFunction(std::string_view name) const;
  const Variable *findVariable(std::string_view name) const;
};

// Parses and verifies. Errors are the user's: "line L, column C: …" in the manual's words.
Result<Module> parse(std::string_view text);
// What must hold of a module (list at the head of verifier.cpp). parse() has called it already.
Result<void> verify(const Module &module);
// PTX text; parse(print(m)) equals m up to names of scoped variables.
std::string print(const Module &module);
// Links modules as nvlink does: externs are resolved by name, internal names kept apart. Errors name the modules so,
// or by number.
Result<Module> link(std::vector<Module> modules, const std::vector<std::string> &moduleNames = {});

}  // namespace strata::ptx
