// SPDX-License-Identifier: Apache-2.0
// ptx::LaneBuilder with LLVM: writes one lane function at the builder's insertion point. Values are SSA values of
// irType(); f16 and bf16 are half and bfloat between operations and i16 in registers.
// Errors do not throw: the first one is kept, and what is built after it is thrown away.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simt/lower/debug_info.h"
#include "simt/lower/lane_module.h"

namespace strata::simt {

class LaneIrBuilder final : public ptx::LaneBuilder {
public:
  using Value = ptx::Value;
  using Instruction = ptx::Instruction;
  using ScalarType = ptx::ScalarType;

  LaneIrBuilder(LaneModule &module, std::uint32_t functionIndex);

  // --- for FunctionLowering ---------------------------------------------------------------------
  llvm::IRBuilder<> ir;
  // While set, registers keep their value unless it holds: a guarded instruction without side effects.
  llvm::Value *writeMask = nullptr;
  llvm::Value *readRegister(std::uint32_t reg);
  void writeRegister(std::uint32_t reg, llvm::Value *value, bool isSigned);
  llvm::Value *warp() const { return function_.getArg(0); }
  llvm::Function &function() { return function_; }
  // Memory of a .param variable of a call, of a parameter, of a result.
  llvm::Value *variableMemory(const ptx::SymbolRef &symbol);
  llvm::Value *operandAs(const ptx::Operand &operand, ptx::Type type);
  std::optional<Error> error;
  void fail(Error e) {
    if (!error) error = std::move(e);
  }
  std::string where(const Instruction &i) const;

  // --- LaneBuilder ------------------------------------------------------------------------------
  Value operand(const Instruction &i, unsigned index, ptx::Type type) override;
  Value element(const Instruction &i, unsigned index, unsigned element, ptx::Type type) override;
  Value address(const Instruction &i, unsigned index, ptx::Space space) override;
  void define(const Instruction &i, unsigned index, Value value, ptx::Type type) override;
  void defineElement(const Instruction &i, unsigned index, unsigned element, Value value, ptx::Type type) override;
  bool wants(const Instruction &i, unsigned index, unsigned element) override;

  Value constant(ScalarType type, std::uint64_t bits) override;
  ScalarType typeOf(Value v) override;
  Value bitcast(Value v, ScalarType to) override;
  Value trunc(Value v, ScalarType to) override;
  Value zext(Value v, ScalarType to) override;
  Value sext(Value v, ScalarType to) override;

  Value integer(ptx::IntOp op, Value a, Value b) override;
  Value shift(ptx::ShiftOp op, Value a, Value amount) override;
  Value funnelLeft(Value hi, Value lo, Value amount) override;
  Value funnelRight(Value hi, Value lo, Value amount) override;
  Value unary(ptx::Unary op, Value a) override;
  Value compare(ptx::Compare op, Value a, Value b) override;
  Value select(Value condition, Value a, Value b) override;

  Value floating(ptx::FloatOp op, Value a, Value b, ptx::Rounding r) override;
  Value fma(Value a, Value b, Value c, ptx::Rounding r) override;
  Value sqrt(Value a, ptx::Rounding r) override;
  Value fneg(Value a) override;
  Value fabs(Value a) override;
  Value copysign(Value magnitude, Value sign) override;
  Value fcompare(ptx::FCompare op, Value a, Value b) override;
  Value fmin(Value a, Value b) override;
  Value fmax(Value a, Value b) override;
  Value flushSubnormal(Value a) override;
  Value approx(ptx::Approx fn, Value a) override;
  Value roundToIntegral(Value a, ptx::Rounding r) override;
  Value floatToFloat(Value a, ScalarType to, ptx::Rounding r) override;
  Value floatToInt(Value a, ScalarType to, bool isSigned, ptx::Rounding r) override;
  Value intToFloat(Value a, ScalarType to, bool isSigned, ptx::Rounding r) override;

  std::vector<Value> load(const ptx::Access &access, ScalarType type, unsigned count, Value address) override;
  void store(const ptx::Access &access, Value address, const std::vector<Value> &values) override;
  Value atomic(ptx::AtomicOp op, const ptx::Access &access, Value address, Value operand) override;
  Value compareExchange(const ptx::Access &access, Value address, Value expected, Value desired) override;
  void fence(ptx::Order order, ptx::Scope scope) override;
  Value toGeneric(ptx::Space from, Value address) override;
  Value fromGeneric(ptx::Space to, Value address) override;
  Value isSpace(ptx::Space space, Value generic) override;
  void copy(ptx::Space dstSpace, Value dst, ptx::Space srcSpace, Value src, Value bytes) override;

  Value special(ptx::SpecialRegister which) override;
  std::vector<Value> intrinsic(std::string_view name, const std::vector<Value> &args,
                               const std::vector<ScalarType> &results) override;

private:
  static llvm::Value *get(Value v) { return static_cast<llvm::Value *>(v.handle); }
  static Value put(llvm::Value *v) { return {v}; }
  llvm::Type *type(ScalarType t) const { return irType(function_.getContext(), t); }
  std::string nameOf(llvm::Value *v) const { return std::string(typeName(scalarTypeOf(v->getType()))); }
  Value elementwise(const std::string &name, llvm::Type *result, llvm::ArrayRef<llvm::Value *> args);

  // operands.cpp
  llvm::Value *registerAs(std::uint32_t reg, ptx::Type type);
  llvm::Value *immediateAs(const ptx::Operand &operand, ptx::Type type);
  llvm::Value *symbolAddress(const ptx::SymbolRef &symbol);  // i64 in the symbol's own window
  llvm::Value *converted(llvm::Value *v, ptx::Type type);
  llvm::Value *variableAddress(const ptx::Variable &v, SharedLayout::Key key);
  void defineOperand(const ptx::Operand &operand, llvm::Value *value, ptx::Type type);

  // memory.cpp
  llvm::Value *pointer(ptx::Space space, llvm::Value *address);
  void checkAligned(ptx::Space space, llvm::Value *address, unsigned bytes);
  Value atomicHalf(ptx::AtomicOp op, llvm::Value *pointer, llvm::Value *operand, llvm::AtomicOrdering ordering);

  // special.cpp: uniform machine state, loaded once in the entry block
  llvm::Value *field(llvm::Value *base, std::uint64_t offset, llvm::Type *type, const char *name,
                     std::uint32_t least = 0, std::uint32_t beyond = 0);
  llvm::Value *launchField(std::uint64_t offset, llvm::Type *type, const char *name, std::uint32_t least = 0,
                           std::uint32_t beyond = 0);
  llvm::Value *blockField(std::uint64_t offset, llvm::Type *type, const char *name, std::uint32_t least = 0,
                          std::uint32_t beyond = 0);
  llvm::Value *warpField(std::uint64_t offset, llvm::Type *type, const char *name, std::uint32_t least = 0,
                         std::uint32_t beyond = 0);
  llvm::Value *block();
  llvm::Value *launch();
  llvm::Value *sharedBase();
  llvm::Value *lane();
  llvm::Value *tid(unsigned dimension);
  llvm::Value *ntid(unsigned dimension);
  llvm::Value *machineCall(std::string_view name, llvm::Type *result);

  LaneModule &module_;
  const std::uint32_t functionIndex_;
  const ptx::Function &source_;
  llvm::Function &function_;
  llvm::Instruction *entryEnd_;  // allocas and uniform state go before it
  std::vector<llvm::AllocaInst *> registers_;
  std::map<std::uint64_t, llvm::AllocaInst *> variables_;  // .local, .param of calls
  std::map<std::uint64_t, llvm::Value *> fields_;          // what field() has loaded, by base and offset
  std::vector<llvm::Value *> params_, results_;            // memory of each; functions only
  std::vector<std::uint64_t> paramOffsets_;                // kernels
  std::uint64_t paramBytes_ = 0;

  void prepareParams();
  llvm::AllocaInst *entryAlloca(llvm::Type *type, std::uint64_t alignment, const llvm::Twine &name);
};

}  // namespace strata::simt
