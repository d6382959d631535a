// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/array_names.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <optional>

#include "simt/abi.h"
#include "simt/analysis/launch_fields.h"

namespace strata::simt {
namespace {

using llvm::dyn_cast;
using llvm::Value;

constexpr const char *kNames = "strata.arrays";  // of nodes {name, space, offset, size}
constexpr unsigned kMostSteps = 64;

// A base of memory and how far from it, as far as that is constant.
struct Place {
  ArraySpace space = ArraySpace::globals;
  std::int64_t offset = 0;
};

std::uint64_t number(const llvm::MDNode &node, unsigned i) {
  return llvm::mdconst::extract<llvm::ConstantInt>(node.getOperand(i))->getZExtValue();
}

std::string nameAt(const llvm::Module &module, const Place &place) {
  const llvm::NamedMDNode *names = module.getNamedMetadata(kNames);
  if (!names || place.offset < 0) return {};
  const auto at = static_cast<std::uint64_t>(place.offset);
  for (const llvm::MDNode *node : names->operands()) {
    const std::uint64_t offset = number(*node, 2), size = number(*node, 3);
    if (number(*node, 1) == static_cast<std::uint64_t>(place.space) && at >= offset && (!size || at - offset < size))
      return llvm::cast<llvm::MDString>(node->getOperand(0))->getString().str();
  }
  return {};
}

// Follows an address to the loads of %warp's fields that it was made from.
class Tracer {
public:
  explicit Tracer(const llvm::Module &module) : module_(module) {}

  // Names found from `value` on; `offset` is what the way has added.
  void follow(const Value *value, std::int64_t offset) {
    if (++steps_ > kMostSteps || !seen_.insert(value).second) return;
    if (auto *load = dyn_cast<llvm::LoadInst>(value)) return ofLoad(*load, offset);
    if (llvm::isa<llvm::AllocaInst>(value)) return found("local memory");
    if (auto *gep = dyn_cast<llvm::GEPOperator>(value)) {
      llvm::APInt constant(64, 0);
      if (gep->accumulateConstantOffset(module_.getDataLayout(), constant)) offset += constant.getSExtValue();
      return follow(gep->getPointerOperand(), offset);
    }
    auto *operation = dyn_cast<llvm::Operator>(value);
    if (!operation) return;
    switch (operation->getOpcode()) {
      case llvm::Instruction::IntToPtr:
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::Freeze: return follow(operation->getOperand(0), offset);
      case llvm::Instruction::Add:
      case llvm::Instruction::Or:
        for (unsigned side : {0u, 1u}) {
          auto *constant = dyn_cast<llvm::ConstantInt>(operation->getOperand(1 - side));
          follow(operation->getOperand(side), constant ? offset + constant->getSExtValue() : offset);
        }
        return;
      case llvm::Instruction::Select:
        follow(operation->getOperand(1), offset);
        return follow(operation->getOperand(2), offset);
      case llvm::Instruction::PHI:
        for (const llvm::Use &incoming : llvm::cast<llvm::PHINode>(value)->incoming_values()) follow(incoming, offset);
        return;
      default: return;
    }
  }

  std::string name() const { return several_ ? std::string() : name_; }

private:
  void ofLoad(const llvm::LoadInst &load, std::int64_t offset) {
    if (module_.getDataLayout().getTypeStoreSize(load.getType()) != 8) return;
    if (launchField(load) == offsetof(LaunchState, globals))
      return found(nameAt(module_, {ArraySpace::globals, offset}));
    if (isSharedAddress(load)) return found(nameAt(module_, {ArraySpace::shared, offset}));
    const auto [base, at] = splitAddress(load);
    auto *parameters = dyn_cast<llvm::LoadInst>(base);
    if (parameters && launchField(*parameters) == offsetof(LaunchState, params))
      found(nameAt(module_, {ArraySpace::parameters, static_cast<std::int64_t>(at)}));
  }

  void found(const std::string &name) {
    several_ |= !name_.empty() && name != name_;
    name_ = name;
  }

  const llvm::Module &module_;
  llvm::SmallPtrSet<const Value *, 16> seen_;
  unsigned steps_ = 0;
  std::string name_;
  bool several_ = false;
};

}  // namespace

void nameArray(llvm::Module &module, ArraySpace space, std::uint64_t offset, std::uint64_t size,
               const std::string &name) {
  llvm::LLVMContext &context = module.getContext();
  auto number = [&](std::uint64_t value) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value));
  };
  llvm::Metadata *fields[] = {llvm::MDString::get(context, name), number(static_cast<std::uint64_t>(space)),
                              number(offset), number(size)};
  module.getOrInsertNamedMetadata(kNames)->addOperand(llvm::MDNode::get(context, fields));
}

std::string arrayName(const Value &address) {
  auto *instruction = dyn_cast<llvm::Instruction>(&address);
  if (!instruction) return {};
  Tracer tracer(*instruction->getModule());
  tracer.follow(&address, 0);
  return tracer.name();
}

}  // namespace strata::simt
