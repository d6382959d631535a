// SPDX-License-Identifier: Apache-2.0
// The recursive-descent parser's state, shared by parser*.cpp. It stops at the first error: fail() records
// it and moves the lexer to the end, so that every loop ends.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/isa/pattern.h"
#include "ptx/lexer.h"
#include "ptx/ptx.h"

namespace strata::ptx {

// A constant expression's value: an integer (signed or unsigned 64 bits) or a float.
struct Constant {
  Type type = Type::s64;
  std::uint64_t bits = 0;
};

class Parser {
  static constexpr std::size_t kMostInlined = 256;  // functions in one another

public:
  explicit Parser(std::string_view text) : lexer_(text), textSize_(text.size()) {}
  Result<Module> run();

private:
  // What a name inside a function stands for.
  struct Local {
    enum class Kind : std::uint8_t { reg, vectorReg, variable, param, result, branchTargets, prototype };
    Kind kind = Kind::reg;
    std::uint32_t index = 0;  // vectorReg: the first of `count` registers
    std::uint32_t count = 1;
    std::uint32_t depth = 0;  // of the scope that declares it
  };
  // %r<10>: registers[first] … [first + count) under prefix + number.
  struct Range {
    std::uint32_t first = 0, count = 0, depth = 0;
  };
  struct Global {
    SymbolRef symbol;
  };
  // A `{ }` scope of a function body: what to put back when it closes, and its labels.
  struct Scope {
    std::vector<std::pair<std::string_view, std::optional<Local>>> hidden;
    std::vector<std::string_view> ranges;
    std::unordered_map<std::string_view, std::uint32_t> labels;  // index into labels_
  };
  // A label while its function is parsed; references in inner scopes may be forwarded outwards.
  struct PendingLabel {
    std::string_view name;
    TextPlace place;
    bool declared = false;
    std::uint32_t instruction = 0;
    std::int32_t forward = -1;  // same label as labels_[forward]
  };
  // Suffix text with its opcode, matched once: the rows that accept it.
  struct SuffixMatch {
    Opcode opcode{};
    std::vector<Mod> modifiers;
    std::vector<Type> types;
    std::vector<SuffixFit> fits;
  };

  // parser.cpp: module scope
  void parseHeader();
  void parseModuleItem();
  Linkage parseLinkage();
  void parseTarget();
  void parseFile();
  void parseAlias();
  void resolveInlinedNames();
  void parseFunction(Linkage linkage, bool isKernel);
  void parsePerformanceDirectives(Function &function);
  void enterFunction(TextPlace place, bool definition);
  void parsePragma(std::vector<std::string> &pragmas);
  std::uint32_t parseUnsigned(std::string_view what, std::uint64_t most);
  void parseThreeDimensions(std::uint32_t (&dims)[3]);

  // parser_declaration.cpp
  std::optional<Space> spaceOf(std::string_view directive) const;
  void parseVariables(Linkage linkage, Space space);
  Variable parseVariable(const Variable &common);
  void parseAttributes(Variable &variable);
  void declareVariable(Variable variable);
  void parseInitialiser(Variable &variable);
  void initialise(Variable &variable, std::uint64_t offset, std::uint64_t bytes);
  void parseInitialiserList(Variable &variable, std::size_t dimension, std::uint64_t begin, std::uint64_t size);
  void parseInitialiserElement(Variable &variable, std::uint64_t offset);
  void parseAddressElement(Variable &variable, std::uint64_t offset, std::optional<std::uint64_t> mask);
  void storeConstant(Variable &variable, std::uint64_t offset, Constant value, TextPlace place);
  std::vector<std::uint64_t> parseDimensions();
  std::uint32_t parseAlignment();
  Type parseType();
  void parseRegisters();
  void declareRange(std::string_view prefix, std::uint32_t first, std::uint32_t count, Type type, TextPlace place);
  std::vector<Param> parseParams(bool areResults, bool inPrototype);
  Param parseParam(bool inPrototype);
  void parsePrototype(std::string_view name, TextPlace place);
  void parseBranchTargets(std::string_view name, TextPlace place);

  // parser_body.cpp
  void beginFunction();
  void parseBody();
  void parseStatement();
  void parseLoc();
  std::int32_t addSourceLine(SourceLine line);
  std::size_t chainLength(std::int32_t line);
  void openScope();
  void closeScope();
  void declareLabel(const Token &name);
  std::uint32_t labelReference(std::string_view name, TextPlace place);
  std::uint32_t finalLabel(std::uint32_t pending) const;
  void parseLabelOrInstruction();
  void finishLabels();
  void parseInstruction(const Token &opcode, std::optional<Guard> guard);
  const SuffixMatch *matchSuffixes(const Token &opcode, std::string_view suffixes);
  std::string_view keyOf(const Token &opcode, std::string_view suffixes);
  void failSuffixes(const Token &opcode, std::string_view text, std::span<const Suffix> suffixes);
  void acceptOperands(const SuffixMatch &match, Instruction &instruction, const Token &opcode);
  bool tryOperands(const SuffixMatch &match, Instruction &instruction, OperandMismatch &first);
  void parseOperands(Instruction &instruction);
  void parseCall(Instruction &instruction);
  void convertLiterals(const SuffixFit &fit, Instruction &instruction);
  void addImpliedSpace(const SuffixFit &fit, Instruction &instruction);

  // parser_operand.cpp
  Operand parseOperand();
  Operand parseAddress();
  Operand parseVector();
  Operand parseArguments();
  Operand parseNamed();
  void readIndex(Operand &operand);
  void readSelector(Operand &operand);
  bool readName(std::string_view name, TextPlace place, Operand &operand);
  std::optional<std::uint32_t> findInRanges(std::string_view name,
                                            std::uint32_t beyond = 0) const;  // in scopes deeper than `beyond`
  void checkAddressRegister(const Register &reg);
  bool findSymbol(std::string_view name, SymbolRef &symbol) const;
  std::optional<Guard> parseGuard();
  Constant parseConstant();
  std::int64_t parseIntegerConstant(std::string_view what);
  Constant parseConditional(unsigned depth);
  Constant parseBinary(unsigned level, unsigned depth);
  Constant parseUnary(unsigned depth);
  Constant parsePrimary(unsigned depth);
  Constant applyBinary(std::string_view op, Constant a, Constant b);

  // Shared.
  void advance() {
    token_ = lexer_.next();
    if (token_.kind == Token::Kind::bad) fail(token_.place, std::string(token_.text));
  }
  void fail(TextPlace place, std::string message, Blame blame = Blame::user);
  bool failed() const { return error_.has_value(); }
  bool accept(char c);
  void expect(char c, std::string_view after);
  std::string_view expectIdentifier(std::string_view what);
  Function &function() { return module_.functions[functionIndex_]; }
  void declareLocal(std::string_view name, Local local, TextPlace place);
  bool nameTaken(const std::string &name) const;  // in this function's text as it will be printed
  std::string freeName(std::string_view name);
  std::string freePrefix(std::string_view prefix);  // for a range
  void useName(const std::string &name);
  static std::string stemOf(std::string_view name);
  std::uint32_t addRegister(std::string_view name, Type type);
  void countRegisters(std::uint32_t count, TextPlace place);
  std::uint32_t carryRegister();

  Lexer lexer_;
  const std::uint64_t textSize_;  // bytes; what a text makes is bounded by its size
  Token token_;
  Module module_;
  std::optional<Error> error_;
  std::unordered_map<std::string_view, Global> globals_;
  std::unordered_set<std::string> globalStems_;
  std::uint64_t registers_ = 0, initialised_ = 0;  // of the module: registers, and bytes of initialisers
  std::unordered_map<std::string_view, SuffixMatch> matches_;
  std::deque<std::string> spacedKeys_;  // of matches_, where opcode and suffixes are apart in the text

  // The function being parsed.
  std::uint32_t functionIndex_ = 0;
  std::string_view functionName_;
  std::string_view variableName_;  // of the variable or parameter just parsed, in the text
  std::unordered_map<std::string_view, Local> locals_;
  std::unordered_map<std::string_view, std::vector<Range>> ranges_;
  std::unordered_set<std::string> usedNames_;
  std::unordered_set<std::string> usedStems_;             // of these, without the digits at their end
  std::unordered_map<std::string, unsigned> namesTried_;  // of a name, or of a range as "name<": numbers given to it
  std::vector<Scope> scopes_;
  std::vector<PendingLabel> labels_;
  std::int32_t sourceLine_ = -1;
  std::vector<unsigned> slots_;  // scratch
  std::optional<std::uint32_t> carryRegister_;
};

}  // namespace strata::ptx
