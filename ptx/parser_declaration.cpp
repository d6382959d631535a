// SPDX-License-Identifier: Apache-2.0
// Variables with initialisers, registers, parameters, prototypes.
#include <algorithm>
#include <bit>
#include <limits>

#include "ptx/parser.h"

namespace strata::ptx {
namespace {

constexpr std::uint64_t kMostBytes = 1ull << 40;    // of one variable
constexpr std::uint32_t kMostRegisters = 1u << 20;  // of one function
// Of a module, beside what is in proportion to its text.
constexpr std::uint64_t kInitialised = 1ull << 26, kInitialisedPerByte = 64;  // bytes of initialisers
constexpr std::uint64_t kRegisters = 1u << 20, kRegistersPerByte = 4;

bool isPowerOfTwo(std::uint64_t v) { return std::has_single_bit(v); }

// Bytes of `elements` times all dimensions; nothing if that is absurd.
std::optional<std::uint64_t> totalSize(std::uint64_t bytes, const std::vector<std::uint64_t> &dimensions) {
  for (std::uint64_t d : dimensions) {
    if (d != 0 && bytes > kMostBytes / d) return std::nullopt;
    bytes *= d;
  }
  return bytes;
}

}  // namespace

std::optional<Space> Parser::spaceOf(std::string_view directive) const {
  if (directive == "global") return Space::global;
  if (directive == "shared") return Space::shared;
  if (directive == "const") return Space::const_;
  if (directive == "local") return Space::local;
  if (directive == "param") return Space::param;
  return std::nullopt;
}

std::uint32_t Parser::parseAlignment() {
  TextPlace place = token_.place;
  std::uint32_t alignment = parseUnsigned("an alignment", 1u << 20);
  if (!failed() && !isPowerOfTwo(alignment)) fail(place, "an alignment must be a power of two");
  return alignment;
}

Type Parser::parseType() {
  if (token_.kind == Token::Kind::directive) {
    auto suffix = findSuffix(token_.text);
    if (suffix && suffix->isType) {
      if (suffix->type == Type::texref || suffix->type == Type::samplerref || suffix->type == Type::surfref)
        fail(token_.place, "." + std::string(token_.text) + " (textures and surfaces) is not supported",
             Blame::unsupported);
      advance();
      return suffix->type;
    }
  }
  fail(token_.place, "a type is expected");
  return Type::b8;
}

std::vector<std::uint64_t> Parser::parseDimensions() {
  std::vector<std::uint64_t> dimensions;
  while (token_.is('[') && !failed()) {
    advance();
    std::uint64_t n = 0;
    TextPlace place = token_.place;
    if (!token_.is(']')) {
      std::int64_t size = parseIntegerConstant("an array size");
      if (size <= 0 && !failed()) fail(place, "an array size must be positive");
      n = static_cast<std::uint64_t>(size);
    } else if (!dimensions.empty()) {
      fail(place, "only the first dimension may be left open");
    }
    dimensions.push_back(n);
    expect(']', "an array size");
    if (dimensions.size() > 64) fail(place, "too many dimensions");
  }
  return dimensions;
}

// After the space: `{.align N} {.vN} .type name[dims] {= init} {, name …};`
void Parser::parseVariables(Linkage linkage, Space space) {
  Variable common;
  common.space = space;
  common.linkage = linkage;
  common.alignment = 0;
  for (;;) {
    if (token_.isDirective("align")) {
      advance();
      common.alignment = parseAlignment();
    } else if (token_.isDirective("attribute")) {
      advance();
      parseAttributes(common);
    } else if (token_.isDirective("v2") || token_.isDirective("v4") || token_.isDirective("v8")) {
      common.vector = static_cast<std::uint32_t>(token_.text[1] - '0');
      advance();
    } else {
      break;
    }
  }
  common.type = parseType();
  if (common.type == Type::pred) return fail(token_.place, "predicates live in registers only");
  do {
    Variable variable = parseVariable(common);
    if (failed()) return;
    declareVariable(std::move(variable));
  } while (accept(','));
  expect(';', "a variable");
}

void Parser::parseAttributes(Variable &variable) {
  expect('(', ".attribute");
  do {
    if (token_.isDirective("managed")) {
      variable.managed = true;
      advance();
    } else {
      return fail(token_.place, "attribute ." + std::string(token_.text) + " is not supported", Blame::unsupported);
    }
  } while (accept(','));
  expect(')', ".attribute");
}

Variable Parser::parseVariable(const Variable &common) {
  Variable v = common;
  v.place = token_.place;
  variableName_ = expectIdentifier("a variable's name");
  v.name = variableName_;
  v.dimensions = parseDimensions();
  std::uint64_t element = std::uint64_t(byteSize(v.type)) * v.vector;
  if (v.alignment == 0) v.alignment = static_cast<std::uint32_t>(element);
  auto size = totalSize(element, v.dimensions);
  if (!size) {
    fail(v.place, "variable '" + v.name + "' is too large");
    return v;
  }
  v.size = *size;
  if (token_.is('=')) {
    if (v.space != Space::global && v.space != Space::const_)
      fail(token_.place, "only .global and .const variables may have an initialiser");
    advance();
    parseInitialiser(v);
  }
  bool open = !v.dimensions.empty() && v.dimensions[0] == 0;
  if (open && v.linkage != Linkage::extern_ && v.space != Space::param && !failed())
    fail(v.place, "'" + v.name + "' needs a size: only .extern arrays may leave it open");
  return v;
}

void Parser::declareVariable(Variable variable) {
  if (scopes_.empty()) {
    SymbolRef symbol{SymbolRef::Kind::global, static_cast<std::uint32_t>(module_.variables.size())};
    auto [found, added] = globals_.try_emplace(variableName_, Global{symbol});
    if (added) {
      globalStems_.insert(stemOf(variable.name));
      module_.variables.push_back(std::move(variable));
      return;
    }
    if (found->second.symbol.kind != SymbolRef::Kind::global)
      return fail(variable.place, "'" + variable.name + "' is declared already, as a function");
    Variable &known = module_.variables[found->second.symbol.index];
    if (known.space != variable.space || bitWidth(known.type) != bitWidth(variable.type))
      return fail(variable.place, "'" + variable.name + "' is declared already, with another type");
    if (known.linkage != Linkage::extern_ && variable.linkage != Linkage::extern_)
      return fail(variable.place, "variable '" + variable.name + "' is defined twice");
    if (known.linkage == Linkage::extern_) known = std::move(variable);
    return;
  }
  Local local{Local::Kind::variable, static_cast<std::uint32_t>(function().variables.size()), 1, 0};
  declareLocal(variableName_, local, variable.place);
  variable.name = freeName(variable.name);
  useName(variable.name);
  function().variables.push_back(std::move(variable));
}

// ---- Initialisers ---------------------------------------------------------------------------------

void Parser::parseInitialiser(Variable &variable) {
  bool open = !variable.dimensions.empty() && variable.dimensions[0] == 0;
  if (open) return fail(token_.place, "an initialised array needs a size");
  if (token_.kind == Token::Kind::string) {
    if (bitWidth(variable.type) != 8) return fail(token_.place, "a string initialises bytes only");
    if (token_.text.size() > variable.size) return fail(token_.place, "the string is longer than the array");
    initialise(variable, 0, token_.text.size());
    if (!failed()) std::copy(token_.text.begin(), token_.text.end(), variable.init.begin());
    return advance();
  }
  bool scalar = variable.dimensions.empty() && variable.vector == 1;
  if (scalar) {
    bool braced = accept('{');
    parseInitialiserElement(variable, 0);
    if (braced) expect('}', "an initialiser");
  } else {
    parseInitialiserList(variable, 0, 0, variable.size);
  }
  while (!variable.init.empty() && variable.init.back() == 0) variable.init.pop_back();
}

// Makes room for the initial value of some bytes; those before are zeros, and those behind need no room.
void Parser::initialise(Variable &variable, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t end = offset + bytes;
  if (end <= variable.init.size()) return;
  initialised_ += end - variable.init.size();
  if (initialised_ > kInitialised + kInitialisedPerByte * textSize_)
    return fail(token_.place, "initialisers of that size are not supported", Blame::unsupported);
  variable.init.resize(end);
}

// `{ a, b, … }` for the bytes [begin, begin + size): either one nested list per row of this dimension, or
// elements in order.
void Parser::parseInitialiserList(Variable &variable, std::size_t dimension, std::uint64_t begin, std::uint64_t size) {
  expect('{', "'='");
  std::uint64_t element = byteSize(variable.type), at = begin;
  bool rows =
      dimension < variable.dimensions.size() && (dimension + 1 < variable.dimensions.size() || variable.vector > 1);
  std::uint64_t row = rows ? size / variable.dimensions[dimension] : element;
  while (!token_.is('}') && !failed()) {
    bool nested = rows && token_.is('{');
    std::uint64_t step = nested ? row : element;
    if (at + step > begin + size) return fail(token_.place, "too many initialisers for '" + variable.name + "'");
    if (nested) parseInitialiserList(variable, dimension + 1, at, row);
    else parseInitialiserElement(variable, at);
    at += step;
    if (!accept(',')) break;
  }
  expect('}', "an initialiser list");
}

// A constant, or an address: `sym`, `sym + 4`, `generic(sym) + 4`, `0xFF00(generic(sym))`.
void Parser::parseInitialiserElement(Variable &variable, std::uint64_t offset) {
  if (token_.kind == Token::Kind::identifier && token_.text != "WARP_SZ") {
    parseAddressElement(variable, offset, std::nullopt);
    return;
  }
  TextPlace place = token_.place;
  if (token_.kind == Token::Kind::integer && lexer_.peekChar() == '(') {
    std::uint64_t mask = token_.bits;
    advance();
    advance();
    parseAddressElement(variable, offset, mask);
    return expect(')', "a masked address");
  }
  Constant value = parseConstant();
  if (!failed()) storeConstant(variable, offset, value, place);
}

void Parser::parseAddressElement(Variable &variable, std::uint64_t offset, std::optional<std::uint64_t> mask) {
  Relocation relocation;
  relocation.offset = offset;
  relocation.bytes = static_cast<std::uint8_t>(byteSize(variable.type));
  TextPlace place = token_.place;
  if (token_.text == "generic" && lexer_.peekChar() == '(') {
    relocation.generic = true;
    advance();
    advance();
  }
  std::string_view name = expectIdentifier("a symbol");
  if (failed()) return;
  if (!findSymbol(name, relocation.symbol)) return fail(place, "'" + std::string(name) + "' is not defined");
  auto addend = [&] {
    if (!token_.is('+') && !token_.is('-')) return;
    bool minus = token_.is('-');
    advance();
    std::int64_t value = parseIntegerConstant("an offset");
    relocation.addend += minus ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  };
  if (relocation.generic) {
    addend();
    expect(')', "generic(");
  }
  addend();
  if (mask) {
    unsigned shift = static_cast<unsigned>(std::countr_zero(*mask));
    if (*mask == 0 || shift % 8 || *mask != 0xffull << shift || relocation.bytes != 1)
      return fail(place, "the mask of an address must be one byte, such as 0xFF00, in a variable of bytes");
    relocation.shift = static_cast<std::uint8_t>(shift);
  } else if (relocation.bytes < 4) {
    return fail(place, "an address needs an element of 4 or 8 bytes");
  }
  initialise(variable, offset, relocation.bytes);
  variable.relocations.push_back(relocation);
}

void Parser::storeConstant(Variable &variable, std::uint64_t offset, Constant value, TextPlace place) {
  bool isFloat = value.type == Type::f32 || value.type == Type::f64;
  Type type = variable.type;
  std::uint64_t bits = value.bits;
  if (type == Type::f32 || type == Type::f64) {
    double number = value.type == Type::f64   ? std::bit_cast<double>(bits)
                    : value.type == Type::f32 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                    : value.type == Type::u64 ? static_cast<double>(bits)
                                              : static_cast<double>(static_cast<std::int64_t>(bits));
    if (value.type != type)
      bits = type == Type::f64 ? std::bit_cast<std::uint64_t>(number)
                               : std::bit_cast<std::uint32_t>(static_cast<float>(number));
  } else if (isFloat && bitWidth(value.type) > bitWidth(type)) {
    return fail(place, "a floating-point constant does not initialise ." + std::string(name(type)));
  }
  std::uint64_t bytes = byteSize(type);
  initialise(variable, offset, bytes);
  if (failed()) return;
  for (std::uint64_t b = 0; b < bytes; ++b)
    variable.init[offset + b] = b < 8 ? static_cast<std::uint8_t>(bits >> (8 * b)) : 0;
}

// ---- Registers ------------------------------------------------------------------------------------

std::uint32_t Parser::addRegister(std::string_view name, Type type) {
  auto index = static_cast<std::uint32_t>(function().registers.size());
  countRegisters(1, token_.place);
  std::string own = freeName(name);
  useName(own);
  function().registers.push_back({std::move(own), type});
  return index;
}

void Parser::countRegisters(std::uint32_t count, TextPlace place) {
  registers_ += count;
  if (function().registers.size() + count > kMostRegisters)
    fail(place, "more than a million registers in one function");
  if (registers_ > kRegisters + kRegistersPerByte * textSize_) fail(place, "more registers than such a text can use");
}

// `.reg {.vN} .type a, %r<10>, …;`
void Parser::parseRegisters() {
  std::uint32_t vector = 1;
  if (token_.isDirective("v2") || token_.isDirective("v4")) {
    vector = static_cast<std::uint32_t>(token_.text[1] - '0');
    advance();
  }
  Type type = parseType();
  do {
    TextPlace place = token_.place;
    std::string_view name = expectIdentifier("a register's name");
    if (failed()) return;
    auto first = static_cast<std::uint32_t>(function().registers.size());
    if (accept('<')) {
      std::uint32_t count = parseUnsigned("the number of registers", kMostRegisters);
      expect('>', "the number of registers");
      if (vector > 1) return fail(place, "a range of vector registers is not supported", Blame::unsupported);
      declareRange(name, first, count, type, place);
    } else if (vector > 1) {
      for (std::uint32_t e = 0; e < vector; ++e) addRegister(std::string(name) + "_" + "xyzw"[e], type);
      declareLocal(name, {Local::Kind::vectorReg, first, vector, 0}, place);
    } else {
      declareLocal(name, {Local::Kind::reg, first, 1, 0}, place);
      addRegister(name, type);
    }
  } while (!failed() && accept(','));
  expect(';', ".reg");
}

void Parser::declareRange(std::string_view prefix, std::uint32_t first, std::uint32_t count, Type type,
                          TextPlace place) {
  countRegisters(count, place);
  if (failed()) return;
  auto depth = static_cast<std::uint32_t>(scopes_.size());
  std::vector<Range> &ranges = ranges_[prefix];
  if (!ranges.empty() && ranges.back().depth == depth)
    return fail(place, "'" + std::string(prefix) + "' is declared twice");
  // A range that hides another one, or names that exist, gets names of its own.
  bool clash = false;
  for (std::uint32_t n = 0; n < count && !clash; ++n) clash = nameTaken(std::string(prefix) + std::to_string(n));
  const std::string base = clash ? freePrefix(prefix) : std::string(prefix);
  ranges.push_back({first, count, depth});
  scopes_.back().ranges.push_back(prefix);
  usedStems_.insert(stemOf(base));
  std::vector<Register> &registers = function().registers;
  if (first + count > registers.capacity())
    registers.reserve(std::max<std::size_t>(first + count, 2 * registers.capacity()));
  for (std::uint32_t n = 0; n < count; ++n) {
    std::string own = base + std::to_string(n);
    if (depth > 1 || clash) usedNames_.insert(own);  // else `ranges_` tells
    function().registers.push_back({std::move(own), type});
  }
}

// ---- Parameters -----------------------------------------------------------------------------------

std::vector<Param> Parser::parseParams(bool areResults, bool inPrototype) {
  std::vector<Param> params;
  expect('(', "a function's name");
  while (!token_.is(')') && !failed()) {
    TextPlace place = token_.place;
    Param param = parseParam(inPrototype);
    if (failed()) return params;
    if (!inPrototype) {
      Local::Kind kind = areResults ? Local::Kind::result : Local::Kind::param;
      Local local{kind, static_cast<std::uint32_t>(params.size()), 1, 0};
      if (param.isRegister) local = {Local::Kind::reg, param.reg, 1, 0};
      declareLocal(variableName_, local, place);
      useName(param.name);
    }
    params.push_back(std::move(param));
    if (!accept(',')) break;
  }
  expect(')', "parameters");
  return params;
}

// `.param {.align N} .type {.ptr {.space} {.align N}} name{[N]}` or `.reg .type name`
Param Parser::parseParam(bool inPrototype) {
  Param param;
  param.alignment = 0;
  param.isRegister = token_.isDirective("reg");
  if (!param.isRegister && !token_.isDirective("param")) {
    fail(token_.place, ".param or .reg is expected");
    return param;
  }
  advance();
  auto alignment = [&](std::uint32_t &out) {
    if (!token_.isDirective("align")) return;
    advance();
    out = parseAlignment();
  };
  alignment(param.alignment);
  param.type = parseType();
  if (param.type == Type::pred && !param.isRegister) fail(token_.place, "a .param may not be a predicate");
  if (token_.isDirective("ptr")) {
    advance();
    param.isPointer = true;
    if (token_.kind == Token::Kind::directive)
      if (auto space = spaceOf(token_.text)) {
        param.pointerSpace = *space;
        advance();
      }
    alignment(param.pointerAlignment);
  }
  TextPlace place = token_.place;
  variableName_ = {};
  if (token_.kind == Token::Kind::identifier) variableName_ = expectIdentifier("a parameter's name");
  else if (!inPrototype) fail(place, "a parameter's name is expected");
  param.name = variableName_;
  param.dimensions = parseDimensions();
  auto size = totalSize(byteSize(param.type), param.dimensions);
  if (!size || *size > (1u << 20)) fail(place, "parameter '" + param.name + "' is too large");
  else param.size = *size;
  if (param.alignment == 0) param.alignment = byteSize(param.type);
  if (param.isRegister && !inPrototype && !failed()) param.reg = addRegister(param.name, param.type);
  return param;
}

// `name: .callprototype (results) _ (params) {.noreturn};`
void Parser::parsePrototype(std::string_view name, TextPlace place) {
  Prototype prototype;
  prototype.name = name;
  if (token_.is('(')) prototype.results = parseParams(true, true);
  expectIdentifier("'_'");
  if (token_.is('(')) prototype.params = parseParams(false, true);
  while (token_.kind == Token::Kind::directive && !failed()) {
    if (token_.isDirective("noreturn")) prototype.noreturn = true;
    else if (!token_.isDirective("abi_preserve") && !token_.isDirective("abi_preserve_control"))
      return fail(token_.place, "directive ." + std::string(token_.text) + " is not allowed in a .callprototype");
    bool number = !token_.isDirective("noreturn");
    advance();
    if (number) parseUnsigned("the number of registers", ~0u);
  }
  expect(';', ".callprototype");
  if (failed()) return;
  declareLocal(name, {Local::Kind::prototype, static_cast<std::uint32_t>(function().prototypes.size()), 1, 0}, place);
  prototype.name = freeName(prototype.name);
  useName(prototype.name);
  function().prototypes.push_back(std::move(prototype));
}

// `name: .branchtargets L1, L2, …;`
void Parser::parseBranchTargets(std::string_view name, TextPlace place) {
  std::vector<std::uint32_t> targets;
  do {
    TextPlace at = token_.place;
    std::string_view label = expectIdentifier("a label");
    if (failed()) return;
    targets.push_back(labelReference(label, at));
  } while (accept(','));
  expect(';', ".branchtargets");
  if (failed()) return;
  declareLocal(name, {Local::Kind::branchTargets, static_cast<std::uint32_t>(function().branchTargets.size()), 1, 0},
               place);
  std::string own = freeName(name);
  useName(own);
  function().branchTargets.push_back(std::move(targets));
  function().branchTargetNames.push_back(std::move(own));
}

}  // namespace strata::ptx
