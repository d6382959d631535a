// SPDX-License-Identifier: Apache-2.0
// Linking of relocatable modules, as nvlink does it. Names with linkage meet across modules: an .extern
// takes the definition, a strong definition beats .weak ones, .common variables of one name are one
// variable, two strong definitions are an error. Internal names are renamed apart. Debug sections of
// several modules would clash and are dropped; .loc lines stay.
#include <algorithm>
#include <unordered_map>

#include "base/device_functions.h"
#include "ptx/isa/pattern.h"
#include "ptx/ptx.h"
#include "ptx/symbols.h"

namespace strata::ptx {
namespace {

// How strongly an entry claims its name.
enum class Strength { declaration, common, weak, strong };

Strength strengthOf(const Variable &v) {
  switch (v.linkage) {
    case Linkage::extern_: return Strength::declaration;
    case Linkage::common: return Strength::common;
    case Linkage::weak: return Strength::weak;
    default: return Strength::strong;
  }
}
Strength strengthOf(const Function &f) {
  if (!f.hasBody && f.aliasOf < 0) return Strength::declaration;
  return f.linkage == Linkage::weak ? Strength::weak : Strength::strong;
}

bool agree(const std::vector<Param> &a, const std::vector<Param> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Param &x, const Param &y) { return x.size == y.size; });
}
bool agree(const Function &a, const Function &b) {
  return a.isKernel == b.isKernel && agree(a.params, b.params) && agree(a.results, b.results);
}
bool agree(const Variable &a, const Variable &b) {
  return a.space == b.space && (a.size == b.size || a.size == 0 || b.size == 0);
}

class Linker {
public:
  explicit Linker(const std::vector<std::string> &moduleNames) : moduleNames_(moduleNames) {}

  Result<Module> run(std::vector<Module> modules) {
    for (std::size_t m = 0; m < modules.size() && !error_; ++m) takeHead(modules[m], m == 0);
    for (std::size_t m = 0; m < modules.size(); ++m) reserveNames(modules[m]);
    for (std::size_t m = 0; m < modules.size() && !error_; ++m) takeModule(std::move(modules[m]), m);
    if (modules.size() > 1) dropDebugSections();
    if (!error_) resolveAliases(merged_);
    if (!error_) checkResolved();
    if (error_) return *error_;
    if (Result<void> sound = verify(merged_); !sound) return sound.error();
    return std::move(merged_);
  }

private:
  struct Place {
    bool isFunction = false;
    std::uint32_t index = 0;
    std::size_t module = 0;  // whose definition it is
    Strength strength = Strength::declaration;
  };

  void fail(std::string what) {
    if (!error_) error_ = userError("link: " + std::move(what));
  }

  std::string moduleName(std::size_t number) const {
    if (number < moduleNames_.size() && !moduleNames_[number].empty()) return "'" + moduleNames_[number] + "'";
    return "module " + std::to_string(number + 1);
  }

  void takeHead(const Module &m, bool first);
  void reserveNames(const Module &m);
  void takeModule(Module &&m, std::size_t number);
  template <class Entry>
  std::uint32_t take(Entry &entry, std::vector<Entry> &entries, std::size_t number, bool &taken);
  template <class Entry>
  void settle(Entry &have, Entry &entry, Place &place, std::size_t number, bool &taken);
  std::string apart(const std::string &name);
  void checkResolved();
  void failUndefined(const char *what, const std::string &name) {
    fail(what + (" '" + name) + "', declared in " + moduleName(names_.at(name).module) +
         ", is not defined in any module");
  }
  void dropDebugSections();

  const std::vector<std::string> &moduleNames_;
  Module merged_;
  std::unordered_map<std::string, Place> names_;        // with linkage
  std::unordered_map<std::string, unsigned> reserved_;  // names that internal ones must avoid
  std::optional<Error> error_;
};

unsigned smNumber(std::string_view target) {
  unsigned number = 0;
  for (char c : target)
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<unsigned>(c - '0');
  return number;
}

void Linker::takeHead(const Module &m, bool first) {
  if (first) {
    merged_.versionMajor = m.versionMajor;
    merged_.versionMinor = m.versionMinor;
    merged_.target = m.target;
    merged_.addressSize = m.addressSize;
  }
  if (ptx(merged_.versionMajor, merged_.versionMinor) < ptx(m.versionMajor, m.versionMinor)) {
    merged_.versionMajor = m.versionMajor;
    merged_.versionMinor = m.versionMinor;
  }
  // sm_90a code needs sm_90a; among plain targets the newest runs all.
  bool specific = m.target.ends_with('a'), haveSpecific = merged_.target.ends_with('a');
  if (specific && haveSpecific && m.target != merged_.target)
    return fail("targets " + merged_.target + " and " + m.target + " cannot be linked together");
  bool newer = smNumber(m.target) > smNumber(merged_.target);
  if (newer && haveSpecific)
    return fail("targets " + merged_.target + " and " + m.target + " cannot be linked together");
  if (newer || (specific && smNumber(m.target) == smNumber(merged_.target))) merged_.target = m.target;
  for (const std::string &option : m.targetOptions)
    if (std::find(merged_.targetOptions.begin(), merged_.targetOptions.end(), option) == merged_.targetOptions.end())
      merged_.targetOptions.push_back(option);
}

void Linker::reserveNames(const Module &m) {
  for (const Variable &v : m.variables)
    if (v.linkage != Linkage::internal) reserved_[v.name];
  for (const Function &f : m.functions)
    if (f.linkage != Linkage::internal) reserved_[f.name];
}

std::string Linker::apart(const std::string &name) {
  std::string result = name;
  while (!reserved_.try_emplace(result, 0).second) result = name + "__" + std::to_string(++reserved_[name]);
  return result;
}

// The entry that stands for a name after one more module has named it.
template <class Entry>
void Linker::settle(Entry &have, Entry &entry, Place &place, std::size_t number, bool &taken) {
  Strength strength = strengthOf(entry);
  if (!agree(have, entry))
    return fail("'" + entry.name + "' is declared differently in " + moduleName(place.module) + " and " +
                moduleName(number));
  if (strength == Strength::strong && place.strength == Strength::strong)
    return fail("'" + entry.name + "' is defined in " + moduleName(place.module) + " and " + moduleName(number));
  if constexpr (std::is_same_v<Entry, Variable>)
    have.alignment = entry.alignment = std::max(have.alignment, entry.alignment);
  taken = strength > place.strength;
  if (!taken) return;
  have = std::move(entry);
  place.strength = strength;
  place.module = number;
}

// Puts an entry of module `number` into the result; `taken` if it is the one that stays.
template <class Entry>
std::uint32_t Linker::take(Entry &entry, std::vector<Entry> &entries, std::size_t number, bool &taken) {
  auto next = static_cast<std::uint32_t>(entries.size());
  taken = true;
  // Undefined internal functions (forward declarations without .extern) meet by name, too.
  bool internal = entry.linkage == Linkage::internal && strengthOf(entry) == Strength::strong;
  if (internal) {
    entry.name = apart(entry.name);
    entries.push_back(std::move(entry));
    return next;
  }
  constexpr bool isFunction = std::is_same_v<Entry, Function>;
  auto [found, added] = names_.try_emplace(entry.name, Place{isFunction, next, number, strengthOf(entry)});
  if (added) {
    entries.push_back(std::move(entry));
    return next;
  }
  Place &place = found->second;
  if (place.isFunction != isFunction) {
    const std::string one = moduleName(place.module), other = moduleName(number);
    fail("'" + entry.name + "' is a function in " + (isFunction ? other : one) + " and a variable in " +
         (isFunction ? one : other));
    return 0;
  }
  settle(entries[place.index], entry, place, number, taken);
  return place.index;
}

void Linker::takeModule(Module &&m, std::size_t number) {
  auto fileBase = static_cast<std::uint32_t>(merged_.files.size());
  for (std::string &file : m.files) merged_.files.push_back(std::move(file));
  for (std::string &pragma : m.pragmas) merged_.pragmas.push_back(std::move(pragma));
  for (std::string &section : m.debugSections) merged_.debugSections.push_back(std::move(section));
  std::vector<std::uint32_t> variables(m.variables.size()), functions(m.functions.size());
  std::vector<std::uint32_t> takenVariables, takenFunctions;
  for (std::size_t k = 0; k < m.variables.size() && !error_; ++k) {
    bool taken = false;
    variables[k] = take(m.variables[k], merged_.variables, number, taken);
    if (taken) takenVariables.push_back(variables[k]);
  }
  for (std::size_t k = 0; k < m.functions.size() && !error_; ++k) {
    bool taken = false;
    functions[k] = take(m.functions[k], merged_.functions, number, taken);
    if (taken) takenFunctions.push_back(functions[k]);
  }
  if (error_) return;
  auto moved = [&](SymbolRef &symbol) {
    if (symbol.kind == SymbolRef::Kind::global) symbol.index = variables[symbol.index];
    if (symbol.kind == SymbolRef::Kind::function) symbol.index = functions[symbol.index];
  };
  for (std::uint32_t v : takenVariables) forEachSymbol(merged_.variables[v], moved);
  for (std::uint32_t index : takenFunctions) {
    Function &f = merged_.functions[index];
    if (f.aliasOf >= 0) f.aliasOf = static_cast<std::int32_t>(functions[static_cast<std::size_t>(f.aliasOf)]);
    for (SourceLine &line : f.sourceLines) line.file += fileBase;
    forEachSymbol(f, moved);
  }
}

void Linker::dropDebugSections() {
  merged_.debugSections.clear();
  std::erase(merged_.targetOptions, "debug");
  for (Function &f : merged_.functions)
    for (SourceLine &line : f.sourceLines) line.functionLabel.clear();
}

void Linker::checkResolved() {
  for (const Variable &v : merged_.variables) {
    bool dynamic = v.space == Space::shared && v.size == 0;  // dynamic shared memory
    if (v.linkage == Linkage::extern_ && !dynamic) return failUndefined("variable", v.name);
  }
  for (const Function &f : merged_.functions)
    if (strengthOf(f) == Strength::declaration && !isDeviceFunction(f.name)) return failUndefined("function", f.name);
}

}  // namespace

Result<Module> link(std::vector<Module> modules, const std::vector<std::string> &moduleNames) {
  if (modules.empty()) return userError("link: there is no module to link");
  return Linker(moduleNames).run(std::move(modules));
}

}  // namespace strata::ptx
