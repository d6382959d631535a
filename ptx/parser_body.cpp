// SPDX-License-Identifier: Apache-2.0
// Function bodies: scopes, labels, .loc, instructions.
#include <algorithm>
#include <bit>

#include "ptx/parser.h"

namespace strata::ptx {

void Parser::beginFunction() {
  locals_.clear();
  ranges_.clear();
  usedNames_.clear();
  usedStems_.clear();
  namesTried_.clear();
  labels_.clear();
  scopes_.assign(1, {});
  carryRegister_.reset();
  sourceLine_ = -1;
}

void Parser::parseBody() {
  function().hasBody = true;
  advance();
  while (!failed() && !(token_.is('}') && scopes_.size() == 1)) {
    if (token_.kind == Token::Kind::end)
      return fail(token_.place, "the body of '" + function().name + "' is not closed");
    parseStatement();
  }
  if (!failed()) finishLabels();
  advance();
}

void Parser::parseStatement() {
  if (accept(';')) return;
  if (token_.is('{')) return openScope();
  if (token_.is('}')) return closeScope();
  if (token_.is('@')) {
    auto guard = parseGuard();
    Token opcode = token_;
    if (opcode.kind != Token::Kind::identifier) return fail(opcode.place, "an instruction is expected after a guard");
    return parseInstruction(opcode, guard);
  }
  if (token_.kind == Token::Kind::identifier) return parseLabelOrInstruction();
  if (token_.kind != Token::Kind::directive)
    return fail(token_.place, "an instruction, label or directive is expected");
  Token directive = token_;
  if (directive.text == "loc") return parseLoc();
  if (directive.text == "file") return parseFile();
  advance();
  if (directive.text == "reg") return parseRegisters();
  if (directive.text == "pragma") return parsePragma(function().pragmas);
  Linkage linkage = Linkage::internal;
  if (directive.text == "extern") {
    linkage = Linkage::extern_;
    directive = token_;
    advance();
  }
  auto space = spaceOf(directive.text);
  if (!space || *space == Space::global || *space == Space::const_)
    return fail(directive.place, "directive ." + std::string(directive.text) + " is not allowed inside a function");
  parseVariables(linkage, *space);
}

void Parser::parseLabelOrInstruction() {
  Token name = token_;
  if (lexer_.peekChar() != ':') return parseInstruction(name, std::nullopt);
  advance();
  if (!token_.is(':')) return fail(token_.place, "unexpected '::'");
  advance();
  bool prototype = token_.isDirective("callprototype");
  if (token_.isDirective("calltargets"))
    return fail(token_.place, ".calltargets is not supported; use .callprototype", Blame::unsupported);
  if (!prototype && !token_.isDirective("branchtargets")) return declareLabel(name);
  advance();
  return prototype ? parsePrototype(name.text, name.place) : parseBranchTargets(name.text, name.place);
}

// ---- Scopes, labels -------------------------------------------------------------------------------

void Parser::openScope() {
  if (scopes_.size() > 200) return fail(token_.place, "scopes are nested too deeply");
  scopes_.emplace_back();
  advance();
}

void Parser::closeScope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (auto it = scope.hidden.rbegin(); it != scope.hidden.rend(); ++it) {
    if (it->second) locals_[it->first] = *it->second;
    else locals_.erase(it->first);
  }
  for (std::string_view prefix : scope.ranges) ranges_[prefix].pop_back();
  // A label that this scope uses and does not declare is the enclosing scope's.
  for (const auto &[name, index] : scope.labels) {
    if (labels_[index].declared) continue;
    auto [outer, added] = scopes_.back().labels.try_emplace(name, index);
    if (!added) labels_[index].forward = static_cast<std::int32_t>(outer->second);
  }
  advance();
}

void Parser::declareLocal(std::string_view name, Local local, TextPlace place) {
  local.depth = static_cast<std::uint32_t>(scopes_.size());
  auto [found, added] = locals_.try_emplace(name, local);
  if (!added && found->second.depth == local.depth) return fail(place, "'" + std::string(name) + "' is declared twice");
  scopes_.back().hidden.emplace_back(name, added ? std::nullopt : std::optional(found->second));
  found->second = local;
}

bool Parser::nameTaken(const std::string &name) const {
  return usedNames_.contains(name) || globals_.contains(name) || findInRanges(name);
}

std::string Parser::stemOf(std::string_view name) {
  return std::string(name.substr(0, name.find_last_not_of("0123456789") + 1));
}

void Parser::useName(const std::string &name) {
  usedNames_.insert(name);
  usedStems_.insert(stemOf(name));
}

std::string Parser::freeName(std::string_view name) {
  std::string result(name);
  if (!nameTaken(result)) return result;
  unsigned &n = namesTried_[result];  // thousands of blocks may declare one name
  do result = std::string(name) + "_" + std::to_string(++n);
  while (nameTaken(result));
  return result;
}

// Ends in '_', so that prefix and number are names that are taken only if their stem is.
std::string Parser::freePrefix(std::string_view prefix) {
  unsigned &tried = namesTried_[std::string(prefix) + "<"];
  std::string result;
  do result = std::string(prefix) + "_" + (tried ? std::to_string(tried) + "_" : ""), ++tried;
  while (usedStems_.contains(result) || globalStems_.contains(result) || ranges_.contains(result));
  return result;
}

std::uint32_t Parser::labelReference(std::string_view name, TextPlace place) {
  auto [found, added] = scopes_.back().labels.try_emplace(name, static_cast<std::uint32_t>(labels_.size()));
  if (added) labels_.push_back({name, place});
  return found->second;
}

void Parser::declareLabel(const Token &name) {
  PendingLabel &label = labels_[labelReference(name.text, name.place)];
  if (label.declared) return fail(name.place, "label '" + std::string(name.text) + "' is declared twice");
  label.declared = true;
  label.place = name.place;
  label.instruction = static_cast<std::uint32_t>(function().body.size());
}

std::uint32_t Parser::finalLabel(std::uint32_t pending) const {
  while (labels_[pending].forward >= 0) pending = static_cast<std::uint32_t>(labels_[pending].forward);
  return pending;
}

// Gives labels their final numbers, in the order of the text, and names of their own.
void Parser::finishLabels() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < labels_.size(); ++i) {
    if (labels_[i].declared) order.push_back(i);
    else if (labels_[i].forward < 0)
      return fail(labels_[i].place, "label '" + std::string(labels_[i].name) + "' is not defined");
  }
  auto before = [&](std::uint32_t a, std::uint32_t b) {
    const PendingLabel &x = labels_[a], &y = labels_[b];
    return std::tuple(x.instruction, x.place.line, x.place.column) <
           std::tuple(y.instruction, y.place.line, y.place.column);
  };
  std::sort(order.begin(), order.end(), before);
  std::vector<std::uint32_t> number(labels_.size());
  for (std::uint32_t n = 0; n < order.size(); ++n) {
    number[order[n]] = n;
    std::string own = freeName(labels_[order[n]].name);
    useName(own);
    function().labels.push_back({std::move(own), labels_[order[n]].instruction});
  }
  for (Instruction &i : function().body)
    for (Operand &o : i.operands)
      if (o.kind == Operand::Kind::label) o.label = number[finalLabel(o.label)];
  for (auto &targets : function().branchTargets)
    for (std::uint32_t &target : targets) target = number[finalLabel(target)];
}

// ---- .loc -----------------------------------------------------------------------------------------

// Call sites that lead from a line to the kernel.
std::size_t Parser::chainLength(std::int32_t line) {
  std::size_t length = 0;
  for (; line >= 0 && length <= kMostInlined; ++length)
    line = function().sourceLines[static_cast<std::size_t>(line)].inlinedAt;
  return length;
}

// `.loc file line column {, function_name label {+ offset}, inlined_at file line column}`
void Parser::parseLoc() {
  advance();
  auto position = [&](SourceLine &line) {
    line.file = parseUnsigned("the file of .loc", ~0u);
    line.line = parseUnsigned("the line of .loc", ~0u);
    line.column = parseUnsigned("the column of .loc", ~0u);
  };
  SourceLine line;
  position(line);
  while (accept(',') && !failed()) {
    std::string_view word = expectIdentifier("function_name or inlined_at");
    if (word == "function_name") {
      line.functionLabel = expectIdentifier("a label in .debug_str");
      if (accept('+')) line.functionLabel += "+" + std::to_string(parseUnsigned("an offset", ~0u));
    } else if (word == "inlined_at") {
      SourceLine site;
      position(site);
      line.inlinedAt = addSourceLine(std::move(site));
      if (chainLength(line.inlinedAt) > kMostInlined) line.inlinedAt = -1;  // names the innermost lines
    } else {
      fail(token_.place, "'" + std::string(word) + "' is not allowed in .loc");
    }
  }
  sourceLine_ = addSourceLine(std::move(line));
}

// The call site of an inlined line is the latest line of that position, so that chains stay connected.
std::int32_t Parser::addSourceLine(SourceLine line) {
  std::vector<SourceLine> &lines = function().sourceLines;
  bool isSite = line.functionLabel.empty() && line.inlinedAt < 0;
  for (std::size_t back = 1; isSite && back <= std::min<std::size_t>(lines.size(), 64); ++back) {
    const SourceLine &known = lines[lines.size() - back];
    if (known.file == line.file && known.line == line.line && known.column == line.column)
      return static_cast<std::int32_t>(lines.size() - back);
  }
  lines.push_back(std::move(line));
  return static_cast<std::int32_t>(lines.size()) - 1;
}

// ---- Instructions ---------------------------------------------------------------------------------

void Parser::parseInstruction(const Token &opcode, std::optional<Guard> guard) {
  std::string_view suffixes = lexer_.suffixes();
  const SuffixMatch *match = matchSuffixes(opcode, suffixes);
  if (!match) return;
  advance();
  Instruction instruction;
  instruction.opcode = match->opcode;
  instruction.modifiers = match->modifiers;
  instruction.types = match->types;
  instruction.guard = guard;
  instruction.sourceLine = sourceLine_;
  instruction.place = opcode.place;
  if (match->opcode == Opcode::call) parseCall(instruction);
  else parseOperands(instruction);
  if (failed()) return;
  if (!accept(';')) return fail(token_.place, std::string(opcode.text) + ": ';' is expected after the operands");
  acceptOperands(*match, instruction, opcode);
  if (!failed()) function().body.push_back(std::move(instruction));
}

void Parser::parseOperands(Instruction &instruction) {
  if (token_.is(';')) return;
  bool branch = instruction.opcode == Opcode::bra, table = instruction.opcode == Opcode::brx;
  instruction.operands.reserve(4);
  do {
    Operand operand;
    operand.place = token_.place;
    if (branch) {
      operand.kind = Operand::Kind::label;
      std::string_view label = expectIdentifier("a label");
      if (failed()) return;
      operand.label = labelReference(label, operand.place);
    } else if (table && !instruction.operands.empty()) {
      operand.kind = Operand::Kind::labelList;
      std::string_view label = expectIdentifier("a name of .branchtargets");
      auto found = locals_.find(label);
      if (found == locals_.end() || found->second.kind != Local::Kind::branchTargets)
        return fail(operand.place, "'" + std::string(label) + "' does not name .branchtargets");
      operand.label = found->second.index;
    } else {
      operand = parseOperand();
    }
    instruction.operands.push_back(std::move(operand));
  } while (accept(','));
}

// `call{.uni} {(results),} callee {, (arguments)} {, prototype}`
void Parser::parseCall(Instruction &instruction) {
  auto empty = [&] {
    Operand none;
    none.kind = Operand::Kind::arguments;
    none.place = token_.place;
    return none;
  };
  Operand results = empty();
  if (token_.is('(')) {
    results = parseArguments();
    expect(',', "the results of a call");
  }
  Operand callee = parseOperand();
  Operand arguments = empty();
  bool more = accept(',');
  if (more && token_.is('(')) {
    arguments = parseArguments();
    more = accept(',');
  }
  instruction.operands = {std::move(results), std::move(callee), std::move(arguments)};
  if (!more) return;
  Operand prototype;
  prototype.kind = Operand::Kind::prototype;
  prototype.place = token_.place;
  std::string_view name = expectIdentifier("a name of .callprototype");
  auto found = locals_.find(name);
  if (found == locals_.end() || found->second.kind != Local::Kind::prototype)
    return fail(prototype.place, "'" + std::string(name) + "' does not name a .callprototype");
  prototype.label = found->second.index;
  instruction.operands.push_back(std::move(prototype));
}

std::string_view Parser::keyOf(const Token &opcode, std::string_view suffixes) {
  if (suffixes.empty()) return opcode.text;
  if (suffixes.data() == opcode.text.data() + opcode.text.size() + 1)
    return {opcode.text.data(), opcode.text.size() + 1 + suffixes.size()};
  return spacedKeys_.emplace_back(std::string(opcode.text) + "." + std::string(suffixes));
}

const Parser::SuffixMatch *Parser::matchSuffixes(const Token &opcode, std::string_view suffixes) {
  std::string_view key = keyOf(opcode, suffixes);
  if (auto known = matches_.find(key); known != matches_.end()) return &known->second;
  auto found = findOpcode(opcode.text);
  if (!found) {
    fail(opcode.place, "'" + std::string(opcode.text) + "' is not an instruction");
    return nullptr;
  }
  SuffixMatch match;
  match.opcode = *found;
  std::vector<Suffix> list;
  for (std::string_view rest = suffixes; !rest.empty();) {
    std::string_view one = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    auto suffix = findSuffix(one);
    if (!suffix) {
      fail(opcode.place, std::string(opcode.text) + ": modifier '." + std::string(one) + "' is not known");
      return nullptr;
    }
    list.push_back(*suffix);
    if (suffix->isType) match.types.push_back(suffix->type);
    else match.modifiers.push_back(suffix->mod);
  }
  for (const Pattern &pattern : patternsOf(*found)) {
    SuffixMismatch mismatch;
    if (auto fit = fitSuffixes(pattern, list, mismatch)) match.fits.push_back(std::move(*fit));
  }
  if (match.fits.empty()) {
    failSuffixes(opcode, suffixes, list);
    return nullptr;
  }
  return &matches_.emplace(key, std::move(match)).first->second;
}

// Says what is wrong by the row that came furthest: one that lacks only a part, else the one that
// accepts the most parts.
void Parser::failSuffixes(const Token &opcode, std::string_view text, std::span<const Suffix> suffixes) {
  std::string head = std::string(opcode.text) + ": ";
  std::span<const Pattern> patterns = patternsOf(*findOpcode(opcode.text));
  if (patterns.empty()) return fail(opcode.place, head + "this instruction is not supported", Blame::unsupported);
  int furthest = -1;
  for (const Pattern &pattern : patterns) {
    SuffixMismatch mismatch;
    fitSuffixes(pattern, suffixes, mismatch);
    if (mismatch.missing) {
      std::string which = mismatch.missing->isType ? "a type" : "." + std::string(mismatch.missing->name);
      return fail(opcode.place, head + which + " is missing in '" + std::string(opcode.text) +
                                    (text.empty() ? "" : ".") + std::string(text) + "'");
    }
    furthest = std::max(furthest, mismatch.extra);
  }
  const Suffix &extra = suffixes[static_cast<std::size_t>(std::max(furthest, 0))];
  fail(opcode.place,
       head + (extra.isType ? "type '." : "modifier '.") + std::string(name(extra)) + "' is not allowed here");
}

// Where vectors and addresses may stand a scalar may be written as a list of one, and an array's element without
// brackets: the plain forms of both. False if there are none.
static bool makePlain(Instruction &instruction) {
  bool changed = false;
  for (Operand &o : instruction.operands) {
    if (o.kind == Operand::Kind::symbol && o.indexed) {
      o.kind = Operand::Kind::address;
      o.hasSymbol = true;
      changed = true;
    } else if (o.kind == Operand::Kind::vector && o.elements.size() == 1) {
      Operand element = std::move(o.elements[0]);
      o = std::move(element);
      changed = true;
    }
  }
  return changed;
}

void Parser::acceptOperands(const SuffixMatch &match, Instruction &instruction, const Token &opcode) {
  OperandMismatch mismatch;
  if (tryOperands(match, instruction, mismatch)) return;
  OperandMismatch plainly;
  const bool mayBePlain = match.opcode == Opcode::ld || match.opcode == Opcode::ldu || match.opcode == Opcode::st ||
                          match.opcode == Opcode::mov;
  if (mayBePlain && makePlain(instruction) && tryOperands(match, instruction, plainly)) return;
  fail(mismatch.place, std::string(opcode.text) + ": " + mismatch.what);
}

// Takes the first row that the operands fit, or says why the best one does not.
bool Parser::tryOperands(const SuffixMatch &match, Instruction &instruction, OperandMismatch &first) {
  bool any = false;
  for (const SuffixFit &fit : match.fits) {
    OperandMismatch mismatch;
    bool call = instruction.opcode == Opcode::call;  // checked against its callee by the verifier
    if (call || fitOperands(fit, instruction, function(), mismatch)) {
      instruction.form = fit.pattern->form;
      instruction.modifiers = fit.modifiers;
      addImpliedSpace(fit, instruction);
      if (instruction.form->effects & (carryIn | carryOut)) {
        Operand carry;
        carry.kind = Operand::Kind::reg;
        carry.reg = carryRegister();
        carry.place = instruction.place;
        instruction.operands.push_back(carry);
      }
      convertLiterals(fit, instruction);
      return true;
    }
    if (!any || (first.count && !mismatch.count)) first = std::move(mismatch);
    any = true;
  }
  return false;
}

std::uint32_t Parser::carryRegister() {
  if (!carryRegister_) carryRegister_ = addRegister("%cc", Type::pred);
  return *carryRegister_;
}

// A floating-point literal takes the type of its operand: `1.5` in an f32 instruction is an f32.
void Parser::convertLiterals(const SuffixFit &fit, Instruction &instruction) {
  auto convert = [](Operand &o, Type type) {
    if (o.kind != Operand::Kind::immediate || o.type == type) return;
    if (o.type == Type::f64 && type == Type::f32)
      o.bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits)));
    else if (o.type == Type::f32 && type == Type::f64)
      o.bits =
          std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(o.bits))));
    else return;
    o.type = type;
  };
  bool any = false;
  for (const Operand &o : instruction.operands)
    any |= o.kind == Operand::Kind::immediate || o.kind == Operand::Kind::vector;
  if (!any || !alignOperands(fit, instruction, slots_)) return;
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    convert(instruction.operands[k], fit.operandTypes[slots_[k]]);
    for (Operand &element : instruction.operands[k].elements) convert(element, fit.operandTypes[slots_[k]]);
  }
}

// `ld.u32 %r1, [table]` without a space means the variable's own: it is written into the tree.
void Parser::addImpliedSpace(const SuffixFit &fit, Instruction &instruction) {
  for (const Operand &o : instruction.operands) {
    if (o.kind != Operand::Kind::address || !o.hasSymbol || o.symbol.kind == SymbolRef::Kind::function) continue;
    const std::vector<SuffixSlot> &slots = fit.pattern->suffixes;
    std::size_t index = 0;
    while (index < slots.size() && slots[index].name != "ss") ++index;
    if (index == slots.size() || fit.fills[index] >= 0) return;
    Space space = Space::param;
    if (o.symbol.kind == SymbolRef::Kind::global) space = module_.variables[o.symbol.index].space;
    if (o.symbol.kind == SymbolRef::Kind::local) space = function().variables[o.symbol.index].space;
    std::size_t before = 0;
    for (std::size_t s = 0; s < index; ++s) before += fit.fills[s] >= 0 && !slots[s].isType;
    for (const Suffix &option : slots[index].options)
      if (name(option) == name(space)) {
        instruction.modifiers.insert(instruction.modifiers.begin() + static_cast<std::ptrdiff_t>(before), option.mod);
        return;
      }
  }
}

}  // namespace strata::ptx
