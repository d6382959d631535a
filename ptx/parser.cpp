// SPDX-License-Identifier: Apache-2.0
// Module scope: header directives, linkage, functions' heads, aliases.
#include "ptx/parser.h"

#include <algorithm>
#include <charconv>

#include "ptx/symbols.h"

namespace strata::ptx {
namespace {

bool sameParams(const std::vector<Param> &a, const std::vector<Param> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Param &x, const Param &y) {
    return bitWidth(x.type) == bitWidth(y.type) && x.size == y.size && x.isRegister == y.isRegister;
  });
}
bool sameSignature(const Function &a, const Function &b) {
  return sameParams(a.params, b.params) && sameParams(a.results, b.results);
}

}  // namespace

void Parser::fail(TextPlace place, std::string message, Blame blame) {
  if (error_) return;
  error_ = Error{blame, "line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": " +
                            std::move(message)};
  lexer_.stop();
  token_ = {};
  token_.place = place;
}

bool Parser::accept(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

void Parser::expect(char c, std::string_view after) {
  if (!accept(c)) fail(token_.place, std::string("'") + c + "' is expected after " + std::string(after));
}

std::string_view Parser::expectIdentifier(std::string_view what) {
  if (token_.kind != Token::Kind::identifier) {
    fail(token_.place, std::string(what) + " is expected");
    return {};
  }
  std::string_view text = token_.text;
  advance();
  return text;
}

std::uint32_t Parser::parseUnsigned(std::string_view what, std::uint64_t most) {
  if (token_.kind != Token::Kind::integer) {
    fail(token_.place, std::string(what) + " must be a number");
    return 0;
  }
  if (token_.bits > most) fail(token_.place, std::string(what) + " is too large");
  auto value = static_cast<std::uint32_t>(token_.bits);
  advance();
  return value;
}

Result<Module> Parser::run() {
  advance();
  parseHeader();
  while (token_.kind != Token::Kind::end && !failed()) parseModuleItem();
  if (!failed()) resolveAliases(module_);  // .alias comes after the uses
  if (!failed()) resolveInlinedNames();
  if (failed()) return *error_;
  return std::move(module_);
}

void Parser::parseHeader() {
  if (!token_.isDirective("version")) return fail(token_.place, "a PTX module begins with .version");
  // "8.5" is two integers here, not a float.
  TextPlace place = lexer_.place();
  advance();
  std::string_view text = token_.text;
  if (token_.kind == Token::Kind::float64) {
    auto end = text.data() + text.size();
    std::from_chars(text.data(), end, module_.versionMajor);
    std::from_chars(end + 1, end + 4, module_.versionMinor);
  }
  if (module_.versionMajor < 1 || module_.versionMajor > 9 || module_.versionMinor > 9)
    return fail(place, "not a PTX version that Strata knows (1.0 to 9.x)");
  advance();
  if (!token_.isDirective("target")) return fail(token_.place, ".target must follow .version");
  advance();
  parseTarget();
  if (token_.isDirective("address_size")) {
    advance();
    if (token_.kind == Token::Kind::integer && token_.bits == 32)
      return fail(token_.place, ".address_size 32 is not supported", Blame::unsupported);
    if (token_.kind != Token::Kind::integer || token_.bits != 64) return fail(token_.place, ".address_size must be 64");
    advance();
  }
}

void Parser::parseTarget() {
  TextPlace place = token_.place;
  module_.target = expectIdentifier("a target such as sm_90");
  bool known = module_.target.size() > 3 && module_.target.starts_with("sm_");
  for (std::size_t i = 3; i < module_.target.size(); ++i) {
    char c = module_.target[i];
    known &= (c >= '0' && c <= '9') || (i + 1 == module_.target.size() && (c == 'a' || c == 'f'));
  }
  if (!known && !failed()) return fail(place, "'" + module_.target + "' is not a target");
  while (accept(',')) module_.targetOptions.emplace_back(expectIdentifier("a target option"));
}

Linkage Parser::parseLinkage() {
  Linkage linkage = Linkage::internal;
  for (;;) {
    if (token_.isDirective("visible")) linkage = Linkage::visible;
    else if (token_.isDirective("extern")) linkage = Linkage::extern_;
    else if (token_.isDirective("weak")) linkage = Linkage::weak;
    else if (token_.isDirective("common")) linkage = Linkage::common;
    else return linkage;
    advance();
  }
}

void Parser::parseModuleItem() {
  TextPlace place = token_.place;
  if (token_.isDirective("file")) return parseFile();
  if (token_.isDirective("alias")) return parseAlias();
  if (token_.isDirective("section")) {
    std::string_view body = lexer_.bracedText();
    if (body.empty()) return fail(place, "a .section is not closed");
    module_.debugSections.push_back(".section" + std::string(body));
    return advance();
  }
  if (token_.isDirective("pragma")) {
    advance();
    return parsePragma(module_.pragmas);
  }
  if (accept(';')) return;
  Linkage linkage = parseLinkage();
  if (token_.isDirective("entry") || token_.isDirective("func")) {
    bool isKernel = token_.isDirective("entry");
    advance();
    return parseFunction(linkage, isKernel);
  }
  if (token_.kind == Token::Kind::directive) {
    if (auto space = spaceOf(token_.text)) {
      if (*space == Space::local || *space == Space::param)
        return fail(place, "." + std::string(token_.text) + " variables belong inside a function");
      advance();
      return parseVariables(linkage, *space);
    }
    return fail(token_.place, "directive ." + std::string(token_.text) + " is not known here");
  }
  fail(token_.place, "a directive is expected at module scope");
}

void Parser::parseFile() {
  advance();
  std::uint32_t index = parseUnsigned("the index of .file", 1u << 20);
  if (failed()) return;
  if (token_.kind != Token::Kind::string) return fail(token_.place, "a path in quotes is expected after .file");
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = token_.text;
  advance();
  // Optional time stamp and size.
  while (accept(',')) parseUnsigned(".file", ~0ull);
}

void Parser::parseAlias() {
  advance();
  auto name = [&]() -> std::uint32_t {
    TextPlace place = token_.place;
    std::string_view text = expectIdentifier("a function's name");
    auto found = globals_.find(text);
    if (found == globals_.end() || found->second.symbol.kind != SymbolRef::Kind::function) {
      fail(place, "'" + std::string(text) + "' is not a function");
      return 0;
    }
    return found->second.symbol.index;
  };
  TextPlace place = token_.place;
  std::uint32_t alias = name();
  expect(',', "the alias");
  std::uint32_t meant = name();
  expect(';', ".alias");
  if (failed()) return;
  if (module_.functions[alias].hasBody) return fail(place, "an alias may not have a body");
  if (!module_.functions[meant].hasBody) return fail(place, "an alias must stand for a function with a body");
  module_.functions[alias].aliasOf = static_cast<std::int32_t>(meant);
}

// Joins a function's head with an earlier declaration of the same name, if there is one.
void Parser::enterFunction(TextPlace place, bool definition) {
  Function &head = function();
  auto [found, added] = globals_.try_emplace(functionName_, Global{{SymbolRef::Kind::function, functionIndex_}});
  if (added) {
    globalStems_.insert(stemOf(functionName_));
    return;
  }
  if (found->second.symbol.kind != SymbolRef::Kind::function)
    return fail(place, "'" + head.name + "' is declared already, as a variable");
  Function &known = module_.functions[found->second.symbol.index];
  if (known.isKernel != head.isKernel || !sameSignature(known, head))
    return fail(place, "'" + head.name + "' is declared already, with another signature");
  if (definition && known.hasBody) return fail(place, "function '" + head.name + "' is defined twice");
  if (known.linkage != Linkage::extern_ && known.linkage != head.linkage) {
    // A declaration and its definition may differ in .extern only; the stronger word stays.
    if (head.linkage == Linkage::extern_ || head.linkage == Linkage::internal) head.linkage = known.linkage;
  }
  functionIndex_ = found->second.symbol.index;
  if (!known.hasBody) known = std::move(head);
  module_.functions.pop_back();
}

void Parser::parseFunction(Linkage linkage, bool isKernel) {
  // The head is parsed into the tree at once: register parameters are registers of the function.
  functionIndex_ = static_cast<std::uint32_t>(module_.functions.size());
  module_.functions.emplace_back();
  function().isKernel = isKernel;
  function().linkage = linkage;
  function().place = token_.place;
  beginFunction();
  if (!isKernel && token_.is('(')) function().results = parseParams(true, false);
  TextPlace place = token_.place;
  std::string_view name = expectIdentifier("a function's name");
  function().name = name;
  functionName_ = name;
  if (token_.is('(')) function().params = parseParams(false, false);
  parsePerformanceDirectives(function());
  bool definition = token_.is('{');
  if (failed()) return;
  enterFunction(place, definition);
  if (failed()) return;
  if (definition) parseBody();
  else if (!accept(';')) fail(token_.place, "'{' or ';' is expected after a function's head");
  scopes_.clear();
}

void Parser::parseThreeDimensions(std::uint32_t (&dims)[3]) {
  for (std::uint32_t &d : dims) d = 1;
  for (int i = 0; i < 3; ++i) {
    dims[i] = parseUnsigned("a dimension", 0x7fffffff);
    if (i == 2 || !accept(',')) return;
  }
}

void Parser::parsePerformanceDirectives(Function &function) {
  while (token_.kind == Token::Kind::directive && !failed()) {
    std::string_view which = token_.text;
    TextPlace place = token_.place;
    advance();
    if (which == "maxntid") parseThreeDimensions(function.maxntid);
    else if (which == "reqntid") parseThreeDimensions(function.reqntid);
    else if (which == "minnctapersm" || which == "maxnctapersm") function.minnctapersm = parseUnsigned(which, ~0u);
    else if (which == "maxnreg") function.maxnreg = parseUnsigned(which, ~0u);
    else if (which == "reqnctapercluster") parseThreeDimensions(function.reqnctapercluster);
    else if (which == "maxclusterrank") function.maxclusterrank = parseUnsigned(which, ~0u);
    else if (which == "explicitcluster") function.explicitCluster = true;
    else if (which == "blocksareclusters") function.blocksAreClusters = true;
    else if (which == "noreturn") function.noreturn = true;
    else if (which == "abi_preserve" || which == "abi_preserve_control") parseUnsigned(which, ~0u);
    else if (which == "pragma") {
      parsePragma(function.pragmas);
    } else {
      fail(place, "directive ." + std::string(which) + " is not allowed after a function's head");
    }
  }
}

void Parser::parsePragma(std::vector<std::string> &pragmas) {
  do {
    if (token_.kind != Token::Kind::string) return fail(token_.place, "a string is expected after .pragma");
    if (std::find(pragmas.begin(), pragmas.end(), token_.text) == pragmas.end()) pragmas.emplace_back(token_.text);
    advance();
  } while (accept(','));
  expect(';', ".pragma");
}

// What follows each label that begins a line of the sections; the first of a name counts.
static std::unordered_map<std::string_view, std::string_view> labelsIn(const std::vector<std::string> &sections) {
  std::unordered_map<std::string_view, std::string_view> places;
  for (std::string_view rest : sections)
    for (std::size_t line; (line = rest.find('\n')) != rest.npos;) {
      rest.remove_prefix(line + 1);
      const std::size_t end = rest.find_first_of(":\n");
      if (end != rest.npos && rest[end] == ':') places.try_emplace(rest.substr(0, end), rest.substr(end + 1));
    }
  return places;
}

// `function_name` gives a label in .debug_str; the name is the bytes there.
void Parser::resolveInlinedNames() {
  const std::unordered_map<std::string_view, std::string_view> places = labelsIn(module_.debugSections);
  auto textAt = [&](const std::string &label) -> std::string {
    auto found = places.find(label);
    if (found == places.end()) return label;
    std::string result;
    Lexer lexer(found->second);
    for (Token t = lexer.next(); t.isDirective("b8") || t.is(',');) {
      t = lexer.next();
      if (t.kind != Token::Kind::integer || t.bits == 0) return result;
      result.push_back(static_cast<char>(t.bits));
      t = lexer.next();
    }
    return result;
  };
  std::unordered_map<std::string, std::string> known;
  for (Function &f : module_.functions)
    for (SourceLine &line : f.sourceLines) {
      if (line.functionLabel.empty()) continue;
      auto [found, added] = known.try_emplace(line.functionLabel);
      if (added) found->second = textAt(line.functionLabel);
      line.function = found->second;
    }
}

Result<Module> parse(std::string_view text) {
  // The driver hands over C strings: a final NUL is not part of the text.
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  Result<Module> module = Parser(text).run();
  if (!module) return module;
  if (Result<void> sound = verify(*module); !sound) return sound.error();
  return module;
}

const Function *Module::findFunction(std::string_view name) const {
  for (const Function &f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

const Variable *Module::findVariable(std::string_view name) const {
  for (const Variable &v : variables)
    if (v.name == name) return &v;
  return nullptr;
}

}  // namespace strata::ptx
