// SPDX-License-Identifier: Apache-2.0
// A module as PTX text. Scopes are flat here: the parser has given every name of a function its own.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <numeric>

#include "ptx/isa/pattern.h"
#include "ptx/ptx.h"

namespace strata::ptx {
namespace {

class Printer {
public:
  explicit Printer(const Module &module) : module_(module) {}
  std::string run();

private:
  void out(std::string_view text) { text_ += text; }
  void out(std::uint64_t number) { text_ += std::to_string(number); }
  template <class... Parts>
  void line(Parts... parts) {
    (out(parts), ...);
    out("\n");
  }

  void linkage(Linkage linkage);
  void globals();
  std::vector<bool> namedTooEarly(const std::vector<std::size_t> &order) const;
  void variable(const Variable &v, std::string_view indent, bool declare = false);
  void initialiser(const Variable &v);
  void address(const Relocation &r);
  void head(const Function &f);
  void directives(const Function &f);
  void params(const std::vector<Param> &params);
  void dimensions(std::string_view name, const std::uint32_t (&dims)[3]);
  void body(const Function &f);
  void registers(const Function &f);
  void prototypes(const Function &f);
  void location(const Function &f, std::int32_t line);
  void instruction(const Function &f, const Instruction &i);
  void call(const Function &f, const Instruction &i);
  void operand(const Function &f, const Operand &o);
  void operandList(const Function &f, const std::vector<Operand> &list);
  void offset(std::int64_t value);
  std::string_view symbolName(const Function *f, const SymbolRef &symbol) const;

  const Module &module_;
  std::string text_;
};

std::string Printer::run() {
  line(".version ", std::uint64_t(module_.versionMajor), ".", std::uint64_t(module_.versionMinor));
  out(".target " + module_.target);
  for (const std::string &option : module_.targetOptions) out(", " + option);
  line("\n.address_size ", std::uint64_t(module_.addressSize));
  for (const std::string &pragma : module_.pragmas) line(".pragma \"", pragma, "\";");
  for (std::size_t i = 0; i < module_.files.size(); ++i)
    if (!module_.files[i].empty()) line(".file ", i, " \"", module_.files[i], "\"");
  // Functions may use variables, and initialisers functions: declare, define data, define functions. A
  // declaration keeps the functions' order, so that a second parse numbers them alike.
  for (const Function &f : module_.functions) {
    head(f);
    out("\n;\n");
  }
  globals();
  for (const Function &f : module_.functions) {
    if (!f.hasBody) continue;
    head(f);
    directives(f);
    body(f);
  }
  for (const Function &f : module_.functions)
    if (f.aliasOf >= 0) line(".alias ", f.name, ", ", module_.functions[f.aliasOf].name, ";");
  for (const std::string &section : module_.debugSections) line(section);
  return std::move(text_);
}

void Printer::linkage(Linkage linkage) {
  switch (linkage) {
    case Linkage::internal: return;
    case Linkage::visible: return out(".visible ");
    case Linkage::extern_: return out(".extern ");
    case Linkage::weak: return out(".weak ");
    case Linkage::common: return out(".common ");
  }
}

// Which variables are named by an initialiser that comes no later in this order.
std::vector<bool> Printer::namedTooEarly(const std::vector<std::size_t> &order) const {
  std::vector<bool> early(order.size()), printed(order.size());
  for (std::size_t i : order) {
    for (const Relocation &r : module_.variables[i].relocations)
      if (r.symbol.kind == SymbolRef::Kind::global && !printed[r.symbol.index]) early[r.symbol.index] = true;
    printed[i] = true;
  }
  return early;
}

// An initialiser names what is declared before it, but the linker puts a definition where another module's .extern
// was, and variables of several modules may name each other. Then internal ones, which name each other backwards
// only, come first, and what is still named too early is declared.
void Printer::globals() {
  const std::vector<Variable> &all = module_.variables;
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<bool> early = namedTooEarly(order);
  if (std::find(early.begin(), early.end(), true) != early.end()) {
    order.clear();
    for (bool internal : {true, false})
      for (std::size_t i = 0; i < all.size(); ++i)
        if ((all[i].linkage == Linkage::internal) == internal) order.push_back(i);
    early = namedTooEarly(order);
  }
  for (std::size_t i : order)
    if (early[i]) variable(all[i], "", true);
  for (std::size_t i : order) variable(all[i], "");
}

void Printer::variable(const Variable &v, std::string_view indent, bool declare) {
  out(indent);
  linkage(declare ? Linkage::extern_ : v.linkage);
  out(".");
  out(name(v.space));
  if (v.managed) out(" .attribute(.managed)");
  out(" .align ");
  out(std::uint64_t(v.alignment));
  if (v.vector > 1) {
    out(" .v");
    out(std::uint64_t(v.vector));
  }
  out(" .");
  out(name(v.type));
  out(" " + v.name);
  for (std::uint64_t d : v.dimensions) {
    out("[");
    if (d) out(d);
    out("]");
  }
  if (!(v.init.empty() && v.relocations.empty()) && !declare) initialiser(v);
  out(";\n");
}

std::string_view Printer::symbolName(const Function *f, const SymbolRef &symbol) const {
  switch (symbol.kind) {
    case SymbolRef::Kind::global: return module_.variables[symbol.index].name;
    case SymbolRef::Kind::function: return module_.functions[symbol.index].name;
    case SymbolRef::Kind::local: return f->variables[symbol.index].name;
    case SymbolRef::Kind::param: return f->params[symbol.index].name;
    case SymbolRef::Kind::result: return f->results[symbol.index].name;
  }
  return {};
}

void Printer::offset(std::int64_t value) {
  if (value == 0) return;
  out(value < 0 ? "+-" : "+");
  out(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
}

void Printer::address(const Relocation &r) {
  if (r.bytes == 1) {
    char mask[32];
    std::snprintf(mask, sizeof mask, "0x%" PRIX64 "(", std::uint64_t(0xff) << r.shift);
    out(mask);
  }
  if (r.generic) out("generic(");
  out(symbolName(nullptr, r.symbol));
  if (r.generic) out(")");
  offset(r.addend);
  if (r.bytes == 1) out(")");
}

// A flat list of elements; zeros at the end are left out.
void Printer::initialiser(const Variable &v) {
  out(" = ");
  std::uint64_t element = byteSize(v.type), count = v.size / element, last = 0;
  for (std::uint64_t i = 0; i < v.init.size(); ++i)
    if (v.init[i]) last = i / element;
  for (const Relocation &r : v.relocations) last = std::max(last, r.offset / element);
  bool scalar = v.dimensions.empty() && v.vector == 1;
  if (!scalar) out("{");
  auto relocation = v.relocations.begin();
  for (std::uint64_t e = 0; e < count && e <= last; ++e) {
    if (e) out(", ");
    if (relocation != v.relocations.end() && relocation->offset == e * element) {
      address(*relocation++);
      continue;
    }
    std::uint64_t bits = 0;
    for (std::uint64_t b = 0; b < std::min<std::uint64_t>(element, 8) && e * element + b < v.init.size(); ++b)
      bits |= std::uint64_t(v.init[e * element + b]) << (8 * b);
    char hex[24];
    if (v.type == Type::f32) std::snprintf(hex, sizeof hex, "0f%08" PRIX64, bits);
    else if (v.type == Type::f64) std::snprintf(hex, sizeof hex, "0d%016" PRIX64, bits);
    else std::snprintf(hex, sizeof hex, "%" PRIu64, bits);
    out(hex);
  }
  if (!scalar) out("}");
}

void Printer::params(const std::vector<Param> &params) {
  out("(");
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Param &p = params[i];
    if (i) out(", ");
    if (p.isRegister) {
      out(".reg .");
      out(name(p.type));
    } else {
      out(".param .align ");
      out(std::uint64_t(p.alignment));
      out(" .");
      out(name(p.type));
      if (p.isPointer) {
        out(" .ptr");
        if (p.pointerSpace != Space::generic) {
          out(" .");
          out(name(p.pointerSpace));
        }
        if (p.pointerAlignment) {
          out(" .align ");
          out(std::uint64_t(p.pointerAlignment));
        }
      }
    }
    out(" ");
    out(p.name.empty() ? "_" : p.name);
    for (std::uint64_t d : p.dimensions) {
      out("[");
      if (d) out(d);
      out("]");
    }
  }
  out(")");
}

void Printer::head(const Function &f) {
  linkage(f.linkage);
  out(f.isKernel ? ".entry " : ".func ");
  if (!f.results.empty()) {
    params(f.results);
    out(" ");
  }
  out(f.name);
  params(f.params);
  if (f.noreturn) out(" .noreturn");
}

void Printer::dimensions(std::string_view name, const std::uint32_t (&dims)[3]) {
  if (dims[0] == 0) return;
  line(name, " ", std::uint64_t(dims[0]), ", ", std::uint64_t(dims[1]), ", ", std::uint64_t(dims[2]));
}

void Printer::directives(const Function &f) {
  out("\n");
  if (f.explicitCluster) line(".explicitcluster");
  if (f.blocksAreClusters) line(".blocksareclusters");
  dimensions(".maxntid", f.maxntid);
  dimensions(".reqntid", f.reqntid);
  dimensions(".reqnctapercluster", f.reqnctapercluster);
  if (f.maxclusterrank) line(".maxclusterrank ", std::uint64_t(f.maxclusterrank));
  if (f.minnctapersm) line(".minnctapersm ", std::uint64_t(f.minnctapersm));
  if (f.maxnreg) line(".maxnreg ", std::uint64_t(f.maxnreg));
}

// ---- Bodies -----------------------------------------------------------------------------------------

// Splits "%r12" into its prefix and number, if the number is written without leading zeros.
bool splitNumber(std::string_view name, std::string_view &prefix, std::uint64_t &number) {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  std::string_view digits = name.substr(at);
  if (digits.empty() || digits.size() > 7 || (digits.size() > 1 && digits[0] == '0')) return false;
  prefix = name.substr(0, at);
  number = 0;
  for (char c : digits) number = number * 10 + static_cast<std::uint64_t>(c - '0');
  return true;
}

// Consecutive registers %r0, %r1, … of one type become %r<n>. Register parameters are declared already,
// and %cc is no register of the text.
void Printer::registers(const Function &f) {
  std::vector<bool> declared(f.registers.size());
  for (const auto *list : {&f.params, &f.results})
    for (const Param &p : *list)
      if (p.isRegister) declared[p.reg] = true;
  for (std::size_t i = 0; i < f.registers.size();) {
    const Register &r = f.registers[i];
    std::string_view prefix;
    std::uint64_t number = 0;
    if (declared[i] || r.name == "%cc") {
      ++i;
    } else if (splitNumber(r.name, prefix, number) && number == 0) {
      std::size_t end = i + 1;
      std::string_view p;
      for (std::uint64_t n = 0; end < f.registers.size() && f.registers[end].type == r.type &&
                                splitNumber(f.registers[end].name, p, n) && p == prefix && n == end - i;)
        ++end;
      line("\t.reg .", name(r.type), " ", prefix, "<", end - i, ">;");
      i = end;
    } else {
      line("\t.reg .", name(r.type), " ", r.name, ";");
      ++i;
    }
  }
}

void Printer::prototypes(const Function &f) {
  for (const Prototype &p : f.prototypes) {
    out(p.name + ": .callprototype ");
    if (!p.results.empty()) params(p.results);
    out(" _ ");
    params(p.params);
    line(p.noreturn ? " .noreturn;" : ";");
  }
  for (std::size_t i = 0; i < f.branchTargets.size(); ++i) {
    out(f.branchTargetNames[i] + ": .branchtargets ");
    for (std::size_t k = 0; k < f.branchTargets[i].size(); ++k) {
      if (k) out(", ");
      out(f.labels[f.branchTargets[i][k]].name);
    }
    line(";");
  }
}

void Printer::location(const Function &f, std::int32_t index) {
  const SourceLine &l = f.sourceLines[static_cast<std::size_t>(index)];
  out("\t.loc ");
  out(std::to_string(l.file) + " " + std::to_string(l.line) + " " + std::to_string(l.column));
  if (!l.functionLabel.empty()) out(", function_name " + l.functionLabel);
  if (l.inlinedAt >= 0) {
    const SourceLine &site = f.sourceLines[static_cast<std::size_t>(l.inlinedAt)];
    out(", inlined_at " + std::to_string(site.file) + " " + std::to_string(site.line) + " " +
        std::to_string(site.column));
  }
  out("\n");
}

void Printer::body(const Function &f) {
  line("{");
  for (const std::string &pragma : f.pragmas) line("\t.pragma \"", pragma, "\";");
  registers(f);
  for (const Variable &v : f.variables) variable(v, "\t");
  prototypes(f);
  std::size_t label = 0;
  std::int32_t source = -1;
  for (std::size_t i = 0; i <= f.body.size(); ++i) {
    for (; label < f.labels.size() && f.labels[label].instruction == i; ++label) line(f.labels[label].name, ":");
    if (i == f.body.size()) break;
    if (f.body[i].sourceLine >= 0 && f.body[i].sourceLine != source) location(f, source = f.body[i].sourceLine);
    instruction(f, f.body[i]);
  }
  line("}");
}

void Printer::instruction(const Function &f, const Instruction &i) {
  out("\t");
  if (i.guard) {
    out(i.guard->negated ? "@!" : "@");
    out(f.registers[i.guard->reg].name);
    out(" ");
  }
  out(name(i.opcode));
  // In the row's order, which is the manual's.
  SuffixMismatch mismatch;
  const Pattern &pattern = patternOf(*i.form);
  if (auto fit = fitSuffixes(pattern, suffixesOf(i), mismatch))
    for (std::size_t s = 0; s < fit->fills.size(); ++s)
      if (fit->fills[s] >= 0) {
        out(".");
        out(name(pattern.suffixes[s].options[static_cast<std::size_t>(fit->fills[s])]));
      }
  std::size_t count = i.operands.size();
  if (i.form->effects & (carryIn | carryOut)) --count;
  if (i.opcode == Opcode::call) {
    call(f, i);
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      out(k ? ", " : " ");
      operand(f, i.operands[k]);
    }
  }
  out(";\n");
}

void Printer::call(const Function &f, const Instruction &i) {
  out(" ");
  if (!i.operands[0].elements.empty()) {
    operand(f, i.operands[0]);
    out(", ");
  }
  operand(f, i.operands[1]);
  // An indirect call's prototype comes after its arguments, empty or not.
  if (!i.operands[2].elements.empty() || i.operands.size() > 3) {
    out(", ");
    operand(f, i.operands[2]);
  }
  if (i.operands.size() > 3) {
    out(", ");
    operand(f, i.operands[3]);
  }
}

void Printer::operandList(const Function &f, const std::vector<Operand> &list) {
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (k) out(", ");
    operand(f, list[k]);
  }
}

void Printer::operand(const Function &f, const Operand &o) {
  using Kind = Operand::Kind;
  char number[32];
  if (o.negated) out("!");
  switch (o.kind) {
    case Kind::reg:
      out(f.registers[o.reg].name);
      if (o.selector[0]) out("." + std::string(o.selector.data()));
      return;
    case Kind::immediate:
      if (o.type == Type::f32) std::snprintf(number, sizeof number, "0f%08" PRIX64, o.bits);
      else if (o.type == Type::f64) std::snprintf(number, sizeof number, "0d%016" PRIX64, o.bits);
      else if (o.type == Type::u64) std::snprintf(number, sizeof number, "%" PRIu64 "U", o.bits);
      else std::snprintf(number, sizeof number, "%" PRId64, static_cast<std::int64_t>(o.bits));
      return out(number);
    case Kind::symbol: out(symbolName(&f, o.symbol)); return offset(o.offset);
    case Kind::address:
      out("[");
      if (o.hasReg) out(f.registers[o.reg].name);
      if (o.hasSymbol) out(symbolName(&f, o.symbol));
      if (o.hasReg || o.hasSymbol) offset(o.offset);
      else out(std::to_string(o.offset));
      if (!o.elements.empty()) {
        out(", ");
        operandList(f, o.elements);
      }
      return out("]");
    case Kind::vector:
      out("{");
      operandList(f, o.elements);
      return out("}");
    case Kind::pair:
      operand(f, o.elements[0]);
      out("|");
      return operand(f, o.elements[1]);
    case Kind::special: return out(name(o.special));
    case Kind::label: return out(f.labels[o.label].name);
    case Kind::labelList: return out(f.branchTargetNames[o.label]);
    case Kind::prototype: return out(f.prototypes[o.label].name);
    case Kind::arguments:
      out("(");
      operandList(f, o.elements);
      return out(")");
    case Kind::sink: return out("_");
  }
}

}  // namespace

std::string print(const Module &module) { return Printer(module).run(); }

}  // namespace strata::ptx
