// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/module_info.h"

#include <algorithm>

#include "simt/lower/module_layout.h"

namespace strata::simt {
namespace {

using ptx::Operand;
using ptx::SymbolRef;

// From the first to the last byte with an initial value, beside what is in proportion to their number.
constexpr std::uint64_t kMostImage = 1ull << 28, kMostImagePerByte = 64;
constexpr std::uint64_t kMostStaticShared = 48 << 10;  // as on every GPU
constexpr std::uint64_t kMostLocal = 512 << 10;        // of a thread, as on every GPU

// Registers that are live at the same time, in 32-bit units, taking a live range from first to last mention:
// loops make it longer than that, reuse shorter. An estimate for occupancy, as ptxas' number would be.
std::uint32_t estimateRegisters(const ptx::Function &f) {
  const std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> first(f.registers.size(), none), last(f.registers.size(), 0);
  const auto mention = [&](std::uint32_t r, std::size_t at) {
    first[r] = std::min(first[r], at);
    last[r] = at;
  };
  for (std::size_t n = 0; n < f.body.size(); ++n) {
    if (f.body[n].guard) mention(f.body[n].guard->reg, n);
    for (const Operand &o : f.body[n].operands)
      forEachOperand(o, [&](const Operand &e) {
        if (e.kind == Operand::Kind::reg || (e.kind == Operand::Kind::address && e.hasReg)) mention(e.reg, n);
      });
  }
  std::vector<std::int64_t> change(f.body.size() + 1);
  for (std::size_t r = 0; r < first.size(); ++r) {
    if (first[r] == none || f.registers[r].type == ptx::Type::pred) continue;
    const std::int64_t units = std::max(1u, ptx::bitWidth(f.registers[r].type) / 32);
    change[first[r]] += units;
    change[last[r]] -= units;
  }
  std::int64_t live = 0, most = 0;
  for (std::int64_t c : change) most = std::max(most, live += c);
  const std::int64_t limit = f.maxnreg ? f.maxnreg : 255;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(most + 8, limit));  // ABI and addresses
}

std::uint32_t threadLimit(const ptx::Function &f) {
  const auto product = [](const std::uint32_t d[3]) {
    return d[0] ? d[0] * std::max(1u, d[1]) * std::max(1u, d[2]) : 0;
  };
  if (std::uint32_t n = product(f.reqntid)) return n;
  if (std::uint32_t n = product(f.maxntid)) return std::min(n, 1024u);
  return 1024;
}

Result<KernelInfo> describeKernel(const ptx::Module &module, std::uint32_t index) {
  const ptx::Function &f = module.functions[index];
  KernelInfo info;
  info.name = f.name;
  std::uint64_t bytes = 0;
  const std::vector<std::uint64_t> offsets = layoutParams(f.params, bytes);
  for (std::size_t p = 0; p < offsets.size(); ++p)
    info.params.push_back({static_cast<std::uint32_t>(offsets[p]), static_cast<std::uint32_t>(f.params[p].size),
                           std::max(1u, f.params[p].alignment)});
  info.paramBytes = static_cast<std::uint32_t>(bytes);
  const Reach reached = reach(module, index);
  std::uint64_t local = 0;
  const std::uint64_t shared = layoutShared(module, reached).staticBytes;
  if (shared > kMostStaticShared)
    return userError("kernel '" + f.name + "' has " + std::to_string(shared) +
                     " bytes of shared memory of fixed size; " + "more than " + std::to_string(kMostStaticShared) +
                     " need .extern .shared, and a launch that asks");
  info.staticShared = static_cast<std::uint32_t>(shared);
  for (std::uint32_t r : reached.functions) {
    const ptx::Function &function = module.functions[r];
    std::uint64_t own = 0;
    for (const ptx::Variable &v : function.variables)
      if (v.space == ptx::Space::local) own += v.size;
    if (own > kMostLocal)
      return userError("function '" + function.name + "' has " + std::to_string(own) +
                       " bytes of local memory; a thread has at most " + std::to_string(kMostLocal));
    local += own;
    for (const ptx::Instruction &i : function.body) {
      info.usesBarrier = info.usesBarrier || i.opcode == ptx::Opcode::bar || i.opcode == ptx::Opcode::barrier;
      for (const Operand &o : i.operands)
        info.usesThreadY =
            info.usesThreadY || (o.kind == Operand::Kind::special && o.special == ptx::SpecialRegister::tid_y);
    }
    info.registers = std::max(info.registers, estimateRegisters(function));
  }
  info.localBytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(local, ~0u));
  info.maxThreads = threadLimit(f);
  for (unsigned d = 0; d < 3; ++d) {
    info.reqntid[d] = f.reqntid[0] ? std::max(1u, f.reqntid[d]) : 0;
    info.clusterDim[d] = f.reqnctapercluster[0] ? std::max(1u, f.reqnctapercluster[d]) : 0;
  }
  return info;
}

Result<void> initialise(const ptx::Module &module, const ptx::Variable &v, std::uint64_t base,
                        const GlobalsLayout &layout, ModuleInfo &info) {
  const auto reserve = [&](std::uint64_t end) {
    if (end > info.globalsImage.size()) info.globalsImage.resize(end);
  };
  if (!v.init.empty()) {
    reserve(base + v.init.size());
    std::copy(v.init.begin(), v.init.end(), info.globalsImage.begin() + static_cast<std::ptrdiff_t>(base));
  }
  for (const ptx::Relocation &r : v.relocations) {
    const std::uint64_t at = base + r.offset;
    std::uint64_t value = 0;
    if (r.symbol.kind == SymbolRef::Kind::function) {
      value = functionHandle(r.symbol.index) + static_cast<std::uint64_t>(r.addend);
    } else {
      const ptx::Variable &target = module.variables[r.symbol.index];
      if (layout.offset[r.symbol.index] == GlobalsLayout::kNone)
        return userError("initialiser of '" + v.name + "' needs the address of '" + target.name +
                         "', which is not defined in global memory");
      if (r.bytes != 8)
        return unsupported("initialiser of '" + v.name + "' with part of the address of '" + target.name + "'");
      info.relocations.push_back({at, layout.offset[r.symbol.index] + static_cast<std::uint64_t>(r.addend)});
      continue;
    }
    value >>= r.shift;
    reserve(at + r.bytes);
    for (std::uint64_t b = 0; b < r.bytes; ++b) info.globalsImage[at + b] = static_cast<std::uint8_t>(value >> (8 * b));
  }
  return {};
}

// A few initial values in large variables would make an image of all bytes between them.
Result<void> checkImage(const ptx::Module &module, const GlobalsLayout &layout) {
  std::uint64_t end = 0, given = 0;
  for (std::size_t n = 0; n < module.variables.size(); ++n) {
    const ptx::Variable &v = module.variables[n];
    if (layout.offset[n] == GlobalsLayout::kNone || v.init.empty()) continue;
    end = std::max(end, layout.offset[n] + v.init.size());
    given += v.init.size();
    if (end > kMostImage + kMostImagePerByte * given)
      return unsupported("the initial value of '" + v.name + "' lies " + std::to_string(end) +
                         " bytes behind that of the first variable: too far for an image of them");
  }
  return {};
}

}  // namespace

Result<ModuleInfo> describeModule(const ptx::Module &module) {
  ModuleInfo info;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    if (!module.functions[f].isKernel || !module.functions[f].hasBody) continue;
    Result<KernelInfo> kernel = describeKernel(module, f);
    if (!kernel) return kernel.error();
    info.kernels.push_back(std::move(*kernel));
  }
  const GlobalsLayout layout = layoutGlobals(module);
  if (auto bounded = checkImage(module, layout); !bounded) return bounded.error();
  info.globalsSize = layout.size;
  for (std::size_t n = 0; n < module.variables.size(); ++n) {
    const ptx::Variable &v = module.variables[n];
    if (layout.offset[n] == GlobalsLayout::kNone) continue;
    info.globals.push_back({v.name, layout.offset[n], v.size, v.space == ptx::Space::const_, v.managed});
    if (auto done = initialise(module, v, layout.offset[n], layout, info); !done) return done.error();
  }
  return info;
}

}  // namespace strata::simt
