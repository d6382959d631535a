// SPDX-License-Identifier: Apache-2.0
// Every place in a module that names a symbol.
#pragma once

#include "ptx/ptx.h"

namespace strata::ptx {

template <class Fn>
void forEachSymbol(Operand &operand, Fn &&fn) {
  if (operand.kind == Operand::Kind::symbol || (operand.kind == Operand::Kind::address && operand.hasSymbol))
    fn(operand.symbol);
  for (Operand &element : operand.elements) forEachSymbol(element, fn);
}
template <class Fn>
void forEachSymbol(Function &function, Fn &&fn) {
  for (Instruction &i : function.body)
    for (Operand &o : i.operands) forEachSymbol(o, fn);
}
template <class Fn>
void forEachSymbol(Variable &variable, Fn &&fn) {
  for (Relocation &r : variable.relocations) fn(r.symbol);
}

// Lets every use of an alias name its function.
inline void resolveAliases(Module &module) {
  bool any = false;
  for (const Function &f : module.functions) any |= f.aliasOf >= 0;
  if (!any) return;
  auto resolve = [&](SymbolRef &symbol) {
    if (symbol.kind != SymbolRef::Kind::function) return;
    if (std::int32_t meant = module.functions[symbol.index].aliasOf; meant >= 0)
      symbol.index = static_cast<std::uint32_t>(meant);
  };
  for (Function &f : module.functions) forEachSymbol(f, resolve);
  for (Variable &v : module.variables) forEachSymbol(v, resolve);
}

}  // namespace strata::ptx
