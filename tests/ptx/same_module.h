// SPDX-License-Identifier: Apache-2.0
// Structural equality of modules, places in the text and names of scoped things aside.
#pragma once

#include <string>

#include "ptx/ptx.h"

namespace strata::ptx {

inline bool same(const SymbolRef &a, const SymbolRef &b) { return a.kind == b.kind && a.index == b.index; }

inline bool same(const Operand &a, const Operand &b) {
  bool equal = a.kind == b.kind && a.negated == b.negated && a.hasSymbol == b.hasSymbol && a.hasReg == b.hasReg &&
               a.type == b.type && a.reg == b.reg && a.bits == b.bits && a.offset == b.offset &&
               same(a.symbol, b.symbol) && a.special == b.special && a.selector == b.selector && a.label == b.label &&
               a.elements.size() == b.elements.size();
  for (std::size_t k = 0; equal && k < a.elements.size(); ++k) equal = same(a.elements[k], b.elements[k]);
  return equal;
}

inline bool same(const Instruction &a, const Instruction &b) {
  bool equal = a.form == b.form && a.opcode == b.opcode && a.modifiers == b.modifiers && a.types == b.types &&
               a.guard.has_value() == b.guard.has_value() && a.operands.size() == b.operands.size() &&
               (a.sourceLine < 0) == (b.sourceLine < 0);
  if (equal && a.guard) equal = a.guard->reg == b.guard->reg && a.guard->negated == b.guard->negated;
  for (std::size_t k = 0; equal && k < a.operands.size(); ++k) equal = same(a.operands[k], b.operands[k]);
  return equal;
}

inline bool same(const Variable &a, const Variable &b) {
  bool equal = a.space == b.space && a.type == b.type && a.linkage == b.linkage && a.vector == b.vector &&
               a.alignment == b.alignment && a.size == b.size && a.dimensions == b.dimensions &&
               a.managed == b.managed && a.init == b.init && a.relocations.size() == b.relocations.size();
  for (std::size_t k = 0; equal && k < a.relocations.size(); ++k) {
    const Relocation &x = a.relocations[k], &y = b.relocations[k];
    equal = x.offset == y.offset && same(x.symbol, y.symbol) && x.addend == y.addend && x.bytes == y.bytes &&
            x.generic == y.generic && x.shift == y.shift;
  }
  return equal;
}

inline bool same(const std::vector<Param> &a, const std::vector<Param> &b) {
  bool equal = a.size() == b.size();
  for (std::size_t k = 0; equal && k < a.size(); ++k)
    equal = a[k].type == b[k].type && a[k].alignment == b[k].alignment && a[k].size == b[k].size &&
            a[k].dimensions == b[k].dimensions && a[k].isRegister == b[k].isRegister && a[k].reg == b[k].reg &&
            a[k].isPointer == b[k].isPointer && a[k].pointerSpace == b[k].pointerSpace &&
            a[k].pointerAlignment == b[k].pointerAlignment;
  return equal;
}

// Empty if the functions are the same; else what differs.
inline std::string difference(const Function &a, const Function &b) {
  if (a.name != b.name || a.isKernel != b.isKernel || a.hasBody != b.hasBody || a.linkage != b.linkage ||
      a.noreturn != b.noreturn || a.aliasOf != b.aliasOf)
    return "head of " + a.name;
  if (!same(a.params, b.params) || !same(a.results, b.results)) return "parameters of " + a.name;
  for (int d = 0; d < 3; ++d)
    if (a.maxntid[d] != b.maxntid[d] || a.reqntid[d] != b.reqntid[d] ||
        a.reqnctapercluster[d] != b.reqnctapercluster[d])
      return "dimensions of " + a.name;
  if (a.minnctapersm != b.minnctapersm || a.maxnreg != b.maxnreg || a.maxclusterrank != b.maxclusterrank ||
      a.explicitCluster != b.explicitCluster || a.pragmas != b.pragmas)
    return "directives of " + a.name;
  if (a.registers.size() != b.registers.size() || a.variables.size() != b.variables.size() ||
      a.body.size() != b.body.size() || a.labels.size() != b.labels.size() || a.branchTargets != b.branchTargets ||
      a.prototypes.size() != b.prototypes.size())
    return "size of " + a.name;
  for (std::size_t k = 0; k < a.registers.size(); ++k)
    if (a.registers[k].type != b.registers[k].type) return "register " + a.registers[k].name;
  for (std::size_t k = 0; k < a.variables.size(); ++k)
    if (!same(a.variables[k], b.variables[k])) return "variable " + a.variables[k].name;
  for (std::size_t k = 0; k < a.labels.size(); ++k)
    if (a.labels[k].instruction != b.labels[k].instruction) return "label " + a.labels[k].name;
  for (std::size_t k = 0; k < a.prototypes.size(); ++k)
    if (!same(a.prototypes[k].params, b.prototypes[k].params) ||
        !same(a.prototypes[k].results, b.prototypes[k].results))
      return "prototype " + a.prototypes[k].name;
  for (std::size_t k = 0; k < a.body.size(); ++k) {
    if (!same(a.body[k], b.body[k])) return "instruction " + std::to_string(k) + " of " + a.name;
    if (a.body[k].sourceLine < 0) continue;
    const SourceLine &x = a.sourceLines[static_cast<std::size_t>(a.body[k].sourceLine)];
    const SourceLine &y = b.sourceLines[static_cast<std::size_t>(b.body[k].sourceLine)];
    if (x.file != y.file || x.line != y.line || x.column != y.column || x.function != y.function ||
        (x.inlinedAt < 0) != (y.inlinedAt < 0))
      return "source line of instruction " + std::to_string(k) + " of " + a.name;
  }
  return {};
}

inline std::string difference(const Module &a, const Module &b) {
  if (a.versionMajor != b.versionMajor || a.versionMinor != b.versionMinor || a.target != b.target ||
      a.targetOptions != b.targetOptions || a.files != b.files || a.pragmas != b.pragmas ||
      a.debugSections != b.debugSections)
    return "head of the module";
  if (a.variables.size() != b.variables.size() || a.functions.size() != b.functions.size()) return "size of the module";
  for (std::size_t k = 0; k < a.variables.size(); ++k)
    if (a.variables[k].name != b.variables[k].name || !same(a.variables[k], b.variables[k]))
      return "variable " + a.variables[k].name;
  for (std::size_t k = 0; k < a.functions.size(); ++k)
    if (std::string what = difference(a.functions[k], b.functions[k]); !what.empty()) return what;
  return {};
}

}  // namespace strata::ptx
