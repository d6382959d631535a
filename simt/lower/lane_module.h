// SPDX-License-Identifier: Apache-2.0
// What the functions of one lane-IR module share: the PTX tree, layouts, LLVM declarations.
#pragma once

#include <llvm/IR/Attributes.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string_view>

#include "ptx/lane_builder.h"
#include "simt/lower/module_layout.h"
#include "simt/simt.h"

namespace strata::simt {

class DebugInfo;

llvm::Type *irType(llvm::LLVMContext &context, ptx::ScalarType type);
ptx::ScalarType scalarTypeOf(llvm::Type *type);
// "f32", "i64": as in the names of strata.* operations.
std::string_view typeName(ptx::ScalarType type);

// A function's signature in lane IR: (ptr warp, [ptr result,] scalars as iN, aggregates as ptr).
struct Signature {
  llvm::FunctionType *type = nullptr;
  bool resultInMemory = false;  // an aggregate: the caller passes where it goes
};

class LaneModule {
public:
  LaneModule(llvm::Module &ir, const ptx::Module &ptx, const Reach &reach, const CompileOptions &options);
  ~LaneModule();

  llvm::LLVMContext &context() const { return ir.getContext(); }
  Signature signature(const std::vector<ptx::Param> &results, const std::vector<ptx::Param> &params) const;
  // The lane function of a PTX function with a body.
  llvm::Function *function(std::uint32_t index);
  // @strata.call.<n>(ptr warp, i64 handle, args…) for this type of function.
  llvm::Function *dispatcher(llvm::FunctionType *type);
  // strata.<name>, a collective or machine intrinsic.
  llvm::FunctionCallee intrinsic(std::string_view name, llvm::Type *result, llvm::ArrayRef<llvm::Type *> args);
  // strata.<name>, pure and elementwise.
  llvm::FunctionCallee elementwise(const std::string &name, llvm::Type *result, llvm::ArrayRef<llvm::Type *> args);

  llvm::Module &ir;
  const ptx::Module &ptx;
  const Reach &reached;
  const CompileOptions &options;
  const GlobalsLayout globals;
  const SharedLayout shared;
  const std::unique_ptr<DebugInfo> debug;  // null without lineInfo

private:
  std::vector<llvm::Function *> functions_;  // by ptx index, as declared
  std::vector<llvm::Function *> dispatchers_;
};

}  // namespace strata::simt
