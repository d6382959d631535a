// SPDX-License-Identifier: Apache-2.0
// What holds of a module that parse() or link() gives, and that verify() checks. V1 … are in the tests' names.
//
//   V1  Names are unique in their scope; indices (registers, symbols, labels, lines) are in range.
//   V2  Every instruction fits its row: suffixes, number, kind and types of operands.
//   V3  Guards are predicates.
//   V4  The row's PTX version and target are not above the module's.
//   V5  An address that begins with a variable is in the space that the instruction names; kernel
//       parameters are not written.
//   V6  A vector access has at most 16 bytes, on sm_100 and later 32.
//   V7  A call's arguments and results agree with the callee or the prototype in number and size; kernels
//       are not called; a call through a register has a prototype.
//   V8  Kernels have no results; their parameters have at most 32764 bytes.
//   V9  Initialisers have the size of their variable; addresses in them lie inside it and name variables
//       of .global or .const, or functions.
//   V10 Constant memory is at most 64 KiB.
#include <unordered_set>

#include "ptx/isa/pattern.h"
#include "ptx/ptx.h"

namespace strata::ptx {
namespace {

constexpr std::uint64_t kMostParameterBytes = 32764, kMostConstantBytes = 65536;

bool suffixesAgree(const Instruction &i, std::optional<SuffixFit> &fit) {
  SuffixMismatch mismatch;
  fit = fitSuffixes(patternOf(*i.form), suffixesOf(i), mismatch);
  return fit.has_value();
}

class Verifier {
public:
  explicit Verifier(const Module &module) : module_(module) {
    version_ = ptx(module.versionMajor, module.versionMinor);
    std::string_view target = module.target;
    for (char c : target)
      if (c >= '0' && c <= '9') sm_ = sm_ * 10 + static_cast<unsigned>(c - '0');
    specific_ = target.ends_with('a') || target.ends_with('f');
  }

  Result<void> run() {
    uniqueNames();
    for (const Variable &v : module_.variables) variable(v);
    constants();
    for (const Function &f : module_.functions) {
      if (error_) break;
      function(f);
    }
    if (error_) return *error_;
    return {};
  }

private:
  using Kind = Operand::Kind;

  void fail(TextPlace place, std::string what) {
    if (error_) return;
    std::string where =
        place.line ? "line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": " : "";
    error_ = userError(where + std::move(what));
  }
  void fail(const Instruction &i, TextPlace place, std::string what) {
    fail(place, std::string(name(i.opcode)) + ": " + std::move(what));
  }

  void uniqueNames();
  void variable(const Variable &v);
  void constants();
  void function(const Function &f);
  void signature(const Function &f);
  void localNames(const Function &f);
  void instruction(const Function &f, const Instruction &i);
  void version(const Instruction &i);
  bool operandInRange(const Function &f, const Operand &o);
  bool symbolInRange(const Function *f, const SymbolRef &symbol);
  void addresses(const Function &f, const Instruction &i);
  void vectorSize(const Instruction &i, const SuffixFit &fit);
  void call(const Function &f, const Instruction &i);
  void callList(const Function &f, const Instruction &i, const Operand &list, const std::vector<Param> &params,
                std::string_view what);
  std::uint64_t argumentSize(const Function &f, const Operand &o);

  const Module &module_;
  Version version_;
  unsigned sm_ = 0;
  bool specific_ = false;
  std::optional<Error> error_;
};

void Verifier::uniqueNames() {
  std::unordered_set<std::string_view> names;
  for (const Variable &v : module_.variables)
    if (!names.insert(v.name).second) fail(v.place, "'" + v.name + "' is declared twice");
  for (const Function &f : module_.functions)
    if (!names.insert(f.name).second) fail(f.place, "'" + f.name + "' is declared twice");
}

void Verifier::variable(const Variable &v) {
  if (v.init.size() > v.size) return fail(v.place, "the initialiser of '" + v.name + "' is longer than the variable");
  for (const Relocation &r : v.relocations) {
    if (r.offset + r.bytes > v.size)
      return fail(v.place, "an address in the initialiser of '" + v.name + "' lies outside it");
    if (!symbolInRange(nullptr, r.symbol))
      return fail(v.place, "the initialiser of '" + v.name + "' names an unknown symbol");
    if (r.symbol.kind != SymbolRef::Kind::global) continue;
    Space space = module_.variables[r.symbol.index].space;
    if (space != Space::global && space != Space::const_)
      return fail(v.place, "the initialiser of '" + v.name + "' takes the address of a ." + std::string(name(space)) +
                               " variable");
  }
}

void Verifier::constants() {
  std::uint64_t total = 0;
  for (const Variable &v : module_.variables)
    if (v.space == Space::const_ && v.linkage != Linkage::extern_) {
      total = (total + v.alignment - 1) / v.alignment * v.alignment + v.size;
      if (total > kMostConstantBytes) return fail(v.place, "'" + v.name + "' brings constant memory above 64 KiB");
    }
}

bool Verifier::symbolInRange(const Function *f, const SymbolRef &symbol) {
  switch (symbol.kind) {
    case SymbolRef::Kind::global: return symbol.index < module_.variables.size();
    case SymbolRef::Kind::function: return symbol.index < module_.functions.size();
    case SymbolRef::Kind::local: return f && symbol.index < f->variables.size();
    case SymbolRef::Kind::param: return f && symbol.index < f->params.size();
    case SymbolRef::Kind::result: return f && symbol.index < f->results.size();
  }
  return false;
}

void Verifier::signature(const Function &f) {
  if (f.isKernel && !f.results.empty()) return fail(f.place, "kernel '" + f.name + "' may not return a value");
  std::uint64_t bytes = 0;
  for (const Param &p : f.params) {
    if (f.isKernel && p.isRegister)
      return fail(f.place, "kernel '" + f.name + "' takes parameters in .param space only");
    bytes = (bytes + p.alignment - 1) / p.alignment * p.alignment + p.size;
  }
  if (f.isKernel && bytes > kMostParameterBytes)
    fail(f.place, "kernel '" + f.name + "' has " + std::to_string(bytes) + " bytes of parameters, more than " +
                      std::to_string(kMostParameterBytes));
}

void Verifier::localNames(const Function &f) {
  std::unordered_set<std::string_view> names;
  auto add = [&](std::string_view name) {
    if (!name.empty() && !names.insert(name).second)
      fail(f.place, "'" + f.name + "': '" + std::string(name) + "' is declared twice");
  };
  for (const Register &r : f.registers) add(r.name);
  for (const Variable &v : f.variables) add(v.name);
  for (const Label &l : f.labels) add(l.name);
}

void Verifier::function(const Function &f) {
  signature(f);
  if (!f.hasBody) return;
  localNames(f);
  for (const Label &l : f.labels)
    if (l.instruction > f.body.size()) fail(f.place, "label '" + l.name + "' is outside its function");
  for (const auto &targets : f.branchTargets)
    for (std::uint32_t target : targets)
      if (target >= f.labels.size()) fail(f.place, "a .branchtargets of '" + f.name + "' names an unknown label");
  for (const Instruction &i : f.body) {
    if (error_) return;
    instruction(f, i);
  }
}

bool Verifier::operandInRange(const Function &f, const Operand &o) {
  switch (o.kind) {
    case Kind::reg: return o.reg < f.registers.size();
    case Kind::symbol: return symbolInRange(&f, o.symbol);
    case Kind::address:
      if (o.hasReg && o.reg >= f.registers.size()) return false;
      if (o.hasSymbol && !symbolInRange(&f, o.symbol)) return false;
      break;
    case Kind::label: return o.label < f.labels.size();
    case Kind::labelList: return o.label < f.branchTargets.size();
    case Kind::prototype: return o.label < f.prototypes.size();
    default: break;
  }
  for (const Operand &element : o.elements)
    if (!operandInRange(f, element)) return false;
  return true;
}

void Verifier::version(const Instruction &i) {
  const Form &form = *i.form;
  if (version_ < form.version)
    return fail(i, i.place,
                "this form needs PTX " + std::to_string(form.version.major) + "." + std::to_string(form.version.minor) +
                    " or later, the module says " + std::to_string(version_.major) + "." +
                    std::to_string(version_.minor));
  if (sm_ < form.target.sm || (form.target.specific && !specific_))
    fail(i, i.place,
         "this form needs target sm_" + std::to_string(form.target.sm) + (form.target.specific ? "a" : " or later") +
             ", the module says " + module_.target);
}

void Verifier::instruction(const Function &f, const Instruction &i) {
  for (const Operand &o : i.operands)
    if (!operandInRange(f, o)) return fail(i, i.place, "an operand's index is out of range");
  if (i.guard && (i.guard->reg >= f.registers.size() || f.registers[i.guard->reg].type != Type::pred))
    return fail(i, i.place, "the guard is not a predicate");
  if (i.sourceLine >= static_cast<std::int32_t>(f.sourceLines.size()))
    return fail(i, i.place, "the source line is out of range");
  std::optional<SuffixFit> fit;
  if (!i.form || patternOf(*i.form).opcode != i.opcode || !suffixesAgree(i, fit))
    return fail(i, i.place, "the instruction does not fit its row");
  version(i);
  if (i.opcode == Opcode::call) return call(f, i);
  OperandMismatch mismatch;
  if (!fitOperands(*fit, i, f, mismatch)) return fail(i, mismatch.place, mismatch.what);
  addresses(f, i);
  vectorSize(i, *fit);
}

std::string_view spaceModifier(const Instruction &i) {
  for (Mod mod : i.modifiers) switch (mod) {
      case Mod::global:
      case Mod::local:
      case Mod::const_:
      case Mod::param: return name(mod);
      case Mod::shared:
      case Mod::shared_cta:
      case Mod::shared_cluster: return "shared";
      case Mod::param_entry:
      case Mod::param_func: return "param";
      default: break;
    }
  return {};
}

void Verifier::addresses(const Function &f, const Instruction &i) {
  bool memory = i.opcode == Opcode::ld || i.opcode == Opcode::ldu || i.opcode == Opcode::st ||
                i.opcode == Opcode::atom || i.opcode == Opcode::red;
  bool conversion = i.opcode == Opcode::cvta;
  if (!memory && !conversion) return;
  std::string_view wanted = spaceModifier(i);
  for (const Operand &o : i.operands) {
    bool based = memory ? o.kind == Kind::address && o.hasSymbol : o.kind == Kind::symbol;
    if (!based) continue;
    if (o.symbol.kind == SymbolRef::Kind::function) return fail(i, o.place, "a function has no memory to access");
    Space space = Space::param;
    if (o.symbol.kind == SymbolRef::Kind::global) space = module_.variables[o.symbol.index].space;
    if (o.symbol.kind == SymbolRef::Kind::local) space = f.variables[o.symbol.index].space;
    bool generic = wanted.empty() && space == Space::global;
    if (!generic && wanted != name(space))
      return fail(i, o.place,
                  "the address is in the ." + std::string(name(space)) + " space, the instruction says " +
                      (wanted.empty() ? "none" : "." + std::string(wanted)));
    if (i.opcode == Opcode::st && o.symbol.kind == SymbolRef::Kind::param)
      return fail(i, o.place, "parameter '" + f.params[o.symbol.index].name + "' may not be written");
  }
}

void Verifier::vectorSize(const Instruction &i, const SuffixFit &fit) {
  if (fit.vector == 1 || (i.opcode != Opcode::ld && i.opcode != Opcode::st && i.opcode != Opcode::ldu)) return;
  std::uint32_t bytes = fit.vector * byteSize(i.type()), most = sm_ >= 100 ? 32 : 16;
  if (bytes > most) fail(i, i.place, "a vector access of " + std::to_string(bytes) + " bytes is too large");
}

// ---- Calls ------------------------------------------------------------------------------------------

std::uint64_t Verifier::argumentSize(const Function &f, const Operand &o) {
  switch (o.kind) {
    case Kind::reg: return byteSize(f.registers[o.reg].type);
    case Kind::symbol:
      if (o.symbol.kind == SymbolRef::Kind::local) return f.variables[o.symbol.index].size;
      if (o.symbol.kind == SymbolRef::Kind::param) return f.params[o.symbol.index].size;
      return 8;
    default: return 0;  // constants take the parameter's size; a sink takes any result
  }
}

void Verifier::callList(const Function &f, const Instruction &i, const Operand &list, const std::vector<Param> &params,
                        std::string_view what) {
  bool open = !params.empty() && !params.back().dimensions.empty() && params.back().dimensions[0] == 0;
  if (open ? list.elements.size() + 1 < params.size() : list.elements.size() != params.size())
    return fail(i, list.place,
                "the callee takes " + std::to_string(params.size()) + " " + std::string(what) + ", not " +
                    std::to_string(list.elements.size()));
  for (std::size_t k = 0; k < params.size() && k < list.elements.size(); ++k) {
    const Operand &o = list.elements[k];
    bool allowed = o.kind == Kind::reg || o.kind == Kind::symbol || o.kind == Kind::immediate || o.kind == Kind::sink;
    std::uint64_t size = allowed ? argumentSize(f, o) : 0;
    bool last = open && k + 1 == params.size();
    if (!allowed || (size && size != params[k].size && !last))
      return fail(i, o.place,
                  std::string(what) + " " + std::to_string(k + 1) + " has " + std::to_string(size) +
                      " bytes, the callee's has " + std::to_string(params[k].size));
  }
}

void Verifier::call(const Function &f, const Instruction &i) {
  if (i.operands.size() < 3 || i.operands[0].kind != Kind::arguments || i.operands[2].kind != Kind::arguments)
    return fail(i, i.place, "the operands are not those of a call");
  const Operand &callee = i.operands[1];
  if (callee.kind == Kind::symbol && callee.symbol.kind == SymbolRef::Kind::function) {
    const Function &target = module_.functions[callee.symbol.index];
    if (target.isKernel) return fail(i, callee.place, "'" + target.name + "' is a kernel and may not be called");
    callList(f, i, i.operands[0], target.results, "results");
    return callList(f, i, i.operands[2], target.params, "arguments");
  }
  if (callee.kind != Kind::reg || bitWidth(f.registers[callee.reg].type) != 64)
    return fail(i, callee.place, "the callee must be a function or a 64-bit register");
  if (i.operands.size() != 4 || i.operands[3].kind != Kind::prototype)
    return fail(i, i.place, "a call through a register needs a .callprototype");
  const Prototype &prototype = f.prototypes[i.operands[3].label];
  callList(f, i, i.operands[0], prototype.results, "results");
  callList(f, i, i.operands[2], prototype.params, "arguments");
}

}  // namespace

Result<void> verify(const Module &module) { return Verifier(module).run(); }

}  // namespace strata::ptx
