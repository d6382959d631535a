// SPDX-License-Identifier: Apache-2.0
#include "simt/lower/module_layout.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace strata::simt {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::SymbolRef;

GlobalsLayout layoutGlobals(const ptx::Module &module) {
  GlobalsLayout layout;
  layout.offset.assign(module.variables.size(), GlobalsLayout::kNone);
  // Those with an initial value first, the smallest before the others, so that the bytes up to the last initial value
  // are few.
  std::vector<std::size_t> order(module.variables.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return module.variables[a].size < module.variables[b].size; });
  for (const bool initialised : {true, false})
    for (std::size_t n : order) {
      const ptx::Variable &v = module.variables[n];
      const bool inBlock =
          (v.space == ptx::Space::global || v.space == ptx::Space::const_) && v.linkage != ptx::Linkage::extern_;
      if (!inBlock || initialised == (v.init.empty() && v.relocations.empty())) continue;
      // At least 16: vectors of elements may be accessed through pointers cast to wider types.
      layout.size = alignUp(layout.size, std::max<std::uint64_t>(v.alignment, v.size >= 16 ? 16 : 1));
      layout.offset[n] = layout.size;
      layout.size += v.size;
    }
  layout.size = alignUp(layout.size, 256);
  return layout;
}

static void collectAddressTaken(const ptx::Module &module, std::set<std::uint32_t> &taken) {
  for (const ptx::Variable &v : module.variables)
    for (const ptx::Relocation &r : v.relocations)
      if (r.symbol.kind == SymbolRef::Kind::function) taken.insert(r.symbol.index);
  for (const Function &f : module.functions)
    for (const Instruction &i : f.body) {
      if (i.opcode == Opcode::call) continue;
      for (const Operand &o : i.operands)
        forEachOperand(o, [&](const Operand &e) {
          const bool names = e.kind == Operand::Kind::symbol || (e.kind == Operand::Kind::address && e.hasSymbol);
          if (names && e.symbol.kind == SymbolRef::Kind::function) taken.insert(e.symbol.index);
        });
    }
}

Reach reach(const ptx::Module &module, std::uint32_t kernel) {
  Reach result;
  std::set<std::uint32_t> seen{kernel};
  std::vector<std::uint32_t> work{kernel};
  const auto visit = [&](std::uint32_t f) {
    if (module.functions[f].hasBody && seen.insert(f).second) work.push_back(f);
  };
  bool indirect = false;
  while (!work.empty()) {
    const std::uint32_t f = work.back();
    work.pop_back();
    result.functions.push_back(f);
    for (const Instruction &i : module.functions[f].body) {
      if (i.opcode != Opcode::call) continue;
      if (i.operands[1].kind == Operand::Kind::symbol) {
        visit(i.operands[1].symbol.index);
      } else if (!indirect) {
        indirect = true;
        std::set<std::uint32_t> taken;
        collectAddressTaken(module, taken);
        for (std::uint32_t t : taken) {
          if (module.functions[t].hasBody && !module.functions[t].isKernel) result.addressTaken.push_back(t);
          if (!module.functions[t].isKernel) visit(t);
        }
      }
    }
  }
  return result;
}

SharedLayout layoutShared(const ptx::Module &module, const Reach &reach) {
  SharedLayout layout;
  std::vector<SharedLayout::Key> dynamic;
  std::uint64_t dynamicAlignment = 16;
  const auto place = [&](SharedLayout::Key key, const ptx::Variable &v) {
    if (v.space != ptx::Space::shared || !layout.offset.try_emplace(key, 0).second) return;
    if (v.size == 0) {
      dynamic.push_back(key);
      dynamicAlignment = std::max<std::uint64_t>(dynamicAlignment, v.alignment);
      return;
    }
    layout.staticBytes = alignUp(layout.staticBytes, v.alignment);
    layout.offset[key] = layout.staticBytes;
    layout.staticBytes += v.size;
  };
  std::set<SharedLayout::Key> named;
  for (std::uint32_t f : reach.functions)
    for (const Instruction &i : module.functions[f].body)
      for (const Operand &o : i.operands)
        forEachOperand(o, [&](const Operand &e) {
          const bool names = e.kind == Operand::Kind::symbol || (e.kind == Operand::Kind::address && e.hasSymbol);
          if (!names) return;
          if (e.symbol.kind == SymbolRef::Kind::global) named.insert({-1, e.symbol.index});
          if (e.symbol.kind == SymbolRef::Kind::local) named.insert({static_cast<std::int32_t>(f), e.symbol.index});
        });
  for (const SharedLayout::Key &key : named)
    place(key, key.first < 0 ? module.variables[key.second] : module.functions[key.first].variables[key.second]);
  if (!dynamic.empty()) layout.staticBytes = alignUp(layout.staticBytes, dynamicAlignment);
  for (const SharedLayout::Key &key : dynamic) layout.offset[key] = layout.staticBytes;
  return layout;
}

std::vector<std::uint64_t> layoutParams(const std::vector<ptx::Param> &params, std::uint64_t &size) {
  std::vector<std::uint64_t> offsets;
  size = 0;
  for (const ptx::Param &p : params) {
    size = alignUp(size, std::max<std::uint32_t>(p.alignment, 1));
    offsets.push_back(size);
    size += p.size;
  }
  return offsets;
}

}  // namespace strata::simt
