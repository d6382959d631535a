// SPDX-License-Identifier: Apache-2.0
// Where things lie: module variables in the globals block, shared variables in a block's shared memory,
// parameters in the parameter buffer; and what a kernel reaches. No LLVM.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptx/ptx.h"

namespace strata::simt {

// .global and .const variables: those with an initial value, then the others.
struct GlobalsLayout {
  static constexpr std::uint64_t kNone = ~0ull;
  std::vector<std::uint64_t> offset;  // by ptx::Module::variables index; kNone: lies elsewhere
  std::uint64_t size = 0;             // bytes
};
GlobalsLayout layoutGlobals(const ptx::Module &module);

// A function's address, as PTX code sees it (simt/lane_ir.md).
constexpr std::uint64_t functionHandle(std::uint32_t index) { return 0x10000 + 16ull * index; }

// Functions that `kernel` may run, itself first. Indirect calls reach every function whose address is taken
// anywhere in the module.
struct Reach {
  std::vector<std::uint32_t> functions;
  std::vector<std::uint32_t> addressTaken;  // only if there is an indirect call
};
Reach reach(const ptx::Module &module, std::uint32_t kernel);

// Shared variables that the functions of a Reach name. Unsized ones (dynamic shared memory) all start at
// staticBytes, which is aligned for them.
struct SharedLayout {
  using Key = std::pair<std::int32_t, std::uint32_t>;  // function (-1: module scope), variable
  std::map<Key, std::uint64_t> offset;
  std::uint64_t staticBytes = 0;
};
SharedLayout layoutShared(const ptx::Module &module, const Reach &reach);

// Offsets of parameters as the driver API packs them; `size` gets the whole buffer's.
std::vector<std::uint64_t> layoutParams(const std::vector<ptx::Param> &params, std::uint64_t &size);

// Calls `fn` for `operand` and all operands inside it.
template <class Fn>
void forEachOperand(const ptx::Operand &operand, const Fn &fn) {
  fn(operand);
  for (const ptx::Operand &element : operand.elements) forEachOperand(element, fn);
}

constexpr std::uint64_t alignUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace strata::simt
