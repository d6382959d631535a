// SPDX-License-Identifier: Apache-2.0
// Operands, guards, constant expressions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ptx/parser.h"

namespace strata::ptx {
namespace {

const std::unordered_map<std::string_view, SpecialRegister> &specialRegisters() {
  static const auto map = [] {
    std::unordered_map<std::string_view, SpecialRegister> names;
    for (unsigned i = 0; i <= static_cast<unsigned>(SpecialRegister::reserved_smem_offset_cap); ++i)
      names.emplace(name(static_cast<SpecialRegister>(i)), static_cast<SpecialRegister>(i));
    return names;
  }();
  return map;
}

bool isFloat(const Constant &c) { return c.type == Type::f32 || c.type == Type::f64; }

double asDouble(const Constant &c) {
  switch (c.type) {
    case Type::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(c.bits));
    case Type::f64: return std::bit_cast<double>(c.bits);
    case Type::u64: return static_cast<double>(c.bits);
    default: return static_cast<double>(static_cast<std::int64_t>(c.bits));
  }
}

}  // namespace

std::optional<std::uint32_t> Parser::findInRanges(std::string_view name, std::uint32_t beyond) const {
  // %r12: prefix %r, number 12. A prefix may itself end in digits, so try each split that leaves a
  // number without leading zeros, the shortest number first.
  std::uint64_t number = 0, scale = 1;
  for (std::size_t at = name.size(); at > 1;) {
    char digit = name[--at];
    if (digit < '0' || digit > '9' || scale > 1'000'000) break;
    number += static_cast<std::uint64_t>(digit - '0') * scale;
    scale *= 10;
    if (digit == '0' && at + 1 != name.size()) continue;  // a leading zero
    auto found = ranges_.find(name.substr(0, at));
    if (found == ranges_.end()) continue;
    for (auto range = found->second.rbegin(); range != found->second.rend(); ++range)
      if (number < range->count && range->depth > beyond) return range->first + static_cast<std::uint32_t>(number);
  }
  return std::nullopt;
}

bool Parser::findSymbol(std::string_view name, SymbolRef &symbol) const {
  if (auto local = locals_.find(name); local != locals_.end() && !scopes_.empty()) {
    switch (local->second.kind) {
      case Local::Kind::variable: symbol = {SymbolRef::Kind::local, local->second.index}; return true;
      case Local::Kind::param: symbol = {SymbolRef::Kind::param, local->second.index}; return true;
      case Local::Kind::result: symbol = {SymbolRef::Kind::result, local->second.index}; return true;
      default: return false;
    }
  }
  auto global = globals_.find(name);
  if (global == globals_.end()) return false;
  symbol = global->second.symbol;
  return true;
}

// A name as a register, vector register, special register or symbol. Inner scopes hide outer ones; a
// range hides names only of scopes further out.
bool Parser::readName(std::string_view name, TextPlace place, Operand &operand) {
  auto local = locals_.find(name);
  if (local != locals_.end())
    if (auto inner = findInRanges(name, local->second.depth)) {
      operand.kind = Operand::Kind::reg;
      operand.reg = *inner;
      return true;
    }
  if (local != locals_.end() && local->second.kind == Local::Kind::reg) {
    operand.kind = Operand::Kind::reg;
    operand.reg = local->second.index;
    return true;
  }
  if (local != locals_.end() && local->second.kind == Local::Kind::vectorReg) {
    operand.kind = Operand::Kind::vector;
    operand.elements.assign(local->second.count, {});
    for (std::uint32_t e = 0; e < local->second.count; ++e) {
      operand.elements[e].kind = Operand::Kind::reg;
      operand.elements[e].reg = local->second.index + e;
      operand.elements[e].place = place;
    }
    return true;
  }
  if (auto reg = findInRanges(name)) {
    operand.kind = Operand::Kind::reg;
    operand.reg = *reg;
    return true;
  }
  if (findSymbol(name, operand.symbol)) {
    operand.kind = Operand::Kind::symbol;
    return true;
  }
  if (name.size() < 3) return false;
  if (auto special = specialRegisters().find(name); special != specialRegisters().end()) {
    operand.kind = Operand::Kind::special;
    operand.special = special->second;
    return true;
  }
  // v.x of a vector register
  if (name[name.size() - 2] != '.') return false;
  auto vector = locals_.find(name.substr(0, name.size() - 2));
  std::size_t component = std::string_view("xyzwrgba").find(name.back());
  if (vector == locals_.end() || vector->second.kind != Local::Kind::vectorReg || component == std::string_view::npos ||
      component % 4 >= vector->second.count)
    return false;
  operand.kind = Operand::Kind::reg;
  operand.reg = vector->second.index + static_cast<std::uint32_t>(component % 4);
  return true;
}

std::optional<Guard> Parser::parseGuard() {
  advance();
  Guard guard;
  guard.negated = accept('!');
  TextPlace place = token_.place;
  std::string_view name = expectIdentifier("a predicate register");
  Operand operand;
  if (failed()) return std::nullopt;
  if (!readName(name, place, operand) || operand.kind != Operand::Kind::reg)
    fail(place, "'" + std::string(name) + "' is not a register");
  else if (function().registers[operand.reg].type != Type::pred)
    fail(place, "a guard must be a predicate, and '" + std::string(name) + "' is not one");
  guard.reg = operand.reg;
  return guard;
}

Operand Parser::parseNamed() {
  Operand operand;
  operand.place = token_.place;
  std::string_view name = token_.text;
  if (name == "_") {
    advance();
    return operand;  // a sink
  }
  if (name == "WARP_SZ") {
    Constant value = parseConstant();
    operand.kind = Operand::Kind::immediate;
    operand.type = value.type;
    operand.bits = value.bits;
    return operand;
  }
  if (!readName(name, operand.place, operand)) {
    fail(operand.place, "'" + std::string(name) + "' is not defined");
    return operand;
  }
  advance();
  if (operand.kind == Operand::Kind::reg && token_.kind == Token::Kind::directive) readSelector(operand);
  if (operand.kind == Operand::Kind::symbol && token_.is('[')) return readIndex(operand), operand;
  if (operand.kind == Operand::Kind::symbol && (token_.is('+') || token_.is('-'))) {
    bool minus = token_.is('-');
    advance();
    auto value = static_cast<std::uint64_t>(parseIntegerConstant("an offset"));
    operand.offset = static_cast<std::int64_t>(minus ? 0 - value : value);
  }
  return operand;
}

// `[5]` after the name of an array: the address of that element.
void Parser::readIndex(Operand &operand) {
  const Variable *array = operand.symbol.kind == SymbolRef::Kind::global  ? &module_.variables[operand.symbol.index]
                          : operand.symbol.kind == SymbolRef::Kind::local ? &function().variables[operand.symbol.index]
                                                                          : nullptr;
  if (!array || array->dimensions.size() != 1)
    return fail(token_.place, "only a variable that is an array has an index");
  advance();
  if (token_.kind == Token::Kind::identifier && token_.text != "WARP_SZ")
    return fail(token_.place, "an index in a register is not supported", Blame::unsupported);
  const auto index = static_cast<std::uint64_t>(parseIntegerConstant("an index"));
  operand.offset = static_cast<std::int64_t>(index * (std::uint64_t{byteSize(array->type)} * array->vector));
  operand.indexed = true;
  expect(']', "an index");
}

// `.h1`, `.b3210` after a register
void Parser::readSelector(Operand &operand) {
  std::string_view text = token_.text;
  bool known = text.size() >= 2 && text.size() < operand.selector.size() && (text[0] == 'b' || text[0] == 'h') &&
               text.find_first_not_of("01234567", 1) == std::string_view::npos;
  if (!known) return fail(token_.place, "'." + std::string(text) + "' does not select parts of a register");
  std::copy(text.begin(), text.end(), operand.selector.begin());
  advance();
}

Operand Parser::parseOperand() {
  Operand operand;
  operand.place = token_.place;
  if (token_.is('[')) return parseAddress();
  if (token_.is('{')) return parseVector();
  if (token_.is('!') && lexer_.peekChar() != '(' && !(lexer_.peekChar() >= '0' && lexer_.peekChar() <= '9')) {
    advance();
    if (token_.kind != Token::Kind::identifier) fail(token_.place, "a predicate is expected after '!'");
    else operand = parseNamed();
    operand.negated = true;
    return operand;
  }
  if (token_.kind == Token::Kind::identifier) {
    operand = parseNamed();
    if (!token_.is('|') || failed()) return operand;
    advance();
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.place = operand.place;
    pair.elements.push_back(std::move(operand));
    if (token_.kind != Token::Kind::identifier) fail(token_.place, "a predicate is expected after '|'");
    else pair.elements.push_back(parseNamed());
    return pair;
  }
  Constant value = parseConstant();
  operand.kind = Operand::Kind::immediate;
  operand.type = value.type;
  operand.bits = value.bits;
  return operand;
}

void Parser::checkAddressRegister(const Register &reg) {
  bool integer = reg.type == Type::b64 || reg.type == Type::u64 || reg.type == Type::s64 || reg.type == Type::b32 ||
                 reg.type == Type::u32 || reg.type == Type::s32;
  if (!integer)
    fail(token_.place, "register '" + reg.name + "' cannot hold an address: an integer of 32 or 64 bits is needed");
}

// `[reg]`, `[reg + 4]`, `[symbol - 4]`, `[0x100]`, `[tensor, {x, y}]`
Operand Parser::parseAddress() {
  Operand operand;
  operand.kind = Operand::Kind::address;
  operand.place = token_.place;
  advance();
  bool named = token_.kind == Token::Kind::identifier && token_.text != "WARP_SZ";
  if (named) {
    Operand base;
    if (!readName(token_.text, token_.place, base)) {
      fail(token_.place, "'" + std::string(token_.text) + "' is not defined");
      return operand;
    }
    operand.hasReg = base.kind == Operand::Kind::reg;
    operand.hasSymbol = base.kind == Operand::Kind::symbol;
    if (!operand.hasReg && !operand.hasSymbol) fail(token_.place, "an address must begin with a register or a symbol");
    if (operand.hasReg) checkAddressRegister(function().registers[base.reg]);
    operand.reg = base.reg;
    operand.symbol = base.symbol;
    advance();
  }
  bool minus = token_.is('-');
  if (!named || minus || token_.is('+')) {
    if (named) advance();
    auto value = static_cast<std::uint64_t>(parseIntegerConstant("an offset"));
    operand.offset = static_cast<std::int64_t>(named && minus ? 0 - value : value);
  }
  while (accept(',') && !failed()) {
    if (token_.is('[')) {
      fail(token_.place, "an address does not lie in another one");
      break;
    }
    operand.elements.push_back(parseOperand());
  }
  expect(']', "an address");
  return operand;
}

Operand Parser::parseVector() {
  Operand operand;
  operand.kind = Operand::Kind::vector;
  operand.place = token_.place;
  advance();
  while (!token_.is('}') && !failed()) {
    if (token_.is('{') || token_.is('[')) {
      fail(token_.place, "a vector's elements are registers or constants");
      break;
    }
    operand.elements.push_back(parseOperand());
    if (!accept(',')) break;
  }
  expect('}', "a vector");
  return operand;
}

Operand Parser::parseArguments() {
  Operand operand;
  operand.kind = Operand::Kind::arguments;
  operand.place = token_.place;
  advance();
  while (!token_.is(')') && !failed()) {
    if (token_.is('{') || token_.is('[')) {
      fail(token_.place, "an argument is a .param variable, a register or a constant");
      break;
    }
    operand.elements.push_back(parseOperand());
    if (!accept(',')) break;
  }
  expect(')', "arguments");
  return operand;
}

// ---- Constant expressions (manual: constant-expressions): C's operators on 64-bit integers and f64 ----

Constant Parser::parseConstant() { return parseConditional(0); }

std::int64_t Parser::parseIntegerConstant(std::string_view what) {
  TextPlace place = token_.place;
  Constant value = parseConstant();
  if (isFloat(value) && !failed()) fail(place, std::string(what) + " must be an integer");
  return static_cast<std::int64_t>(value.bits);
}

Constant Parser::parseConditional(unsigned depth) {
  TextPlace place = token_.place;
  if (depth > 100) fail(place, "an expression is nested too deeply");
  Constant condition = parseBinary(0, depth);
  if (!token_.is('?')) return condition;
  if (isFloat(condition)) fail(place, "the condition of '?' must be an integer");
  advance();
  Constant yes = parseConditional(depth + 1);
  expect(':', "'?'");
  Constant no = parseConditional(depth + 1);
  return condition.bits ? yes : no;
}

namespace {
constexpr std::string_view kLevels[][4] = {
    {"||"},       {"&&"},     {"|"},           {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
};
}

Constant Parser::parseBinary(unsigned level, unsigned depth) {
  if (level == std::size(kLevels)) return parseUnary(depth);
  Constant left = parseBinary(level + 1, depth);
  for (;;) {
    std::string_view op;
    for (std::string_view candidate : kLevels[level])
      if (!candidate.empty() && token_.is(candidate)) op = candidate;
    if (op.empty() || failed()) return left;
    advance();
    left = applyBinary(op, left, parseBinary(level + 1, depth));
  }
}

Constant Parser::applyBinary(std::string_view op, Constant a, Constant b) {
  auto logical = [](bool value) { return Constant{Type::s64, value}; };
  if (isFloat(a) || isFloat(b)) {
    double x = asDouble(a), y = asDouble(b);
    auto number = [](double v) { return Constant{Type::f64, std::bit_cast<std::uint64_t>(v)}; };
    if (op == "+") return number(x + y);
    if (op == "-") return number(x - y);
    if (op == "*") return number(x * y);
    if (op == "/") return number(x / y);
    if (op == "<") return logical(x < y);
    if (op == "<=") return logical(x <= y);
    if (op == ">") return logical(x > y);
    if (op == ">=") return logical(x >= y);
    if (op == "==") return logical(x == y);
    if (op == "!=") return logical(x != y);
    fail(token_.place, "operator '" + std::string(op) + "' needs integers");
    return a;
  }
  bool isUnsigned = a.type == Type::u64 || b.type == Type::u64;
  std::uint64_t x = a.bits, y = b.bits;
  auto sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
  auto number = [&](std::uint64_t v) { return Constant{isUnsigned ? Type::u64 : Type::s64, v}; };
  if (op == "+") return number(x + y);
  if (op == "-") return number(x - y);
  if (op == "*") return number(x * y);
  if (op == "&") return number(x & y);
  if (op == "|") return number(x | y);
  if (op == "^") return number(x ^ y);
  if (op == "<<") return {a.type, y < 64 ? x << y : 0};
  if (op == ">>") {
    if (a.type == Type::u64) return {a.type, y < 64 ? x >> y : 0};
    return {a.type, static_cast<std::uint64_t>(sx >> (y < 64 ? y : 63))};
  }
  if (op == "&&") return logical(x && y);
  if (op == "||") return logical(x || y);
  if (op == "==") return logical(x == y);
  if (op == "!=") return logical(x != y);
  if (op == "<") return logical(isUnsigned ? x < y : sx < sy);
  if (op == "<=") return logical(isUnsigned ? x <= y : sx <= sy);
  if (op == ">") return logical(isUnsigned ? x > y : sx > sy);
  if (op == ">=") return logical(isUnsigned ? x >= y : sx >= sy);
  if (y == 0) {
    fail(token_.place, "division by zero in a constant expression");
    return a;
  }
  bool overflow = !isUnsigned && sy == -1;  // the quotient is the negation, which may wrap
  if (op == "/") return number(overflow ? 0 - x : isUnsigned ? x / y : static_cast<std::uint64_t>(sx / sy));
  return number(overflow ? 0 : isUnsigned ? x % y : static_cast<std::uint64_t>(sx % sy));
}

Constant Parser::parseUnary(unsigned depth) {
  TextPlace place = token_.place;
  if (depth > 100) fail(place, "an expression is nested too deeply");
  if (accept('+')) return parseUnary(depth + 1);
  if (accept('-')) {
    Constant value = parseUnary(depth + 1);
    if (value.type == Type::f32) value.bits ^= 0x80000000u;
    else if (value.type == Type::f64) value.bits ^= 1ull << 63;
    else value.bits = 0 - value.bits;
    return value;
  }
  if (!token_.is('~') && !token_.is('!')) return parsePrimary(depth);
  bool invert = token_.is('~');
  advance();
  Constant value = parseUnary(depth + 1);
  if (isFloat(value)) fail(place, "operators '~' and '!' need an integer");
  if (invert) value.bits = ~value.bits;
  else value = {Type::s64, !value.bits};
  return value;
}

Constant Parser::parsePrimary(unsigned depth) {
  Constant value;
  if (accept('(')) {
    // (.s64) and (.u64) are casts.
    if (token_.isDirective("s64") || token_.isDirective("u64")) {
      Type type = token_.text == "s64" ? Type::s64 : Type::u64;
      advance();
      expect(')', "a cast");
      TextPlace place = token_.place;
      value = parseUnary(depth + 1);
      if (isFloat(value)) fail(place, "a cast needs an integer");
      value.type = type;
      return value;
    }
    value = parseConditional(depth + 1);
    expect(')', "an expression");
    return value;
  }
  value.bits = token_.bits;
  switch (token_.kind) {
    case Token::Kind::integer: value.type = token_.isUnsigned || token_.bits >> 63 ? Type::u64 : Type::s64; break;
    case Token::Kind::float32: value.type = Type::f32; break;
    case Token::Kind::float64: value.type = Type::f64; break;
    case Token::Kind::identifier:
      if (token_.text == "WARP_SZ") {
        value = {Type::s64, 32};
        break;
      }
      [[fallthrough]];
    default: fail(token_.place, "a constant is expected"); return value;
  }
  advance();
  return value;
}

}  // namespace strata::ptx
