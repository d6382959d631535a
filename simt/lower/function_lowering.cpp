// SPDX-License-Identifier: Apache-2.0
#include "simt/lower/function_lowering.h"

#include "base/device_functions.h"
#include "ptx/isa/form.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

class FunctionLowering {
public:
  FunctionLowering(LaneModule &module, std::uint32_t index)
      : module_(module), source_(module.ptx.functions[index]), b_(module, index), ir_(b_.ir) {}
  Result<void> run();

private:
  void instruction(const Instruction &i);
  void guarded(const Instruction &i);
  void branch(const Instruction &i);
  void branchIndexed(const Instruction &i);
  void call(const Instruction &i);
  void callRuntime(const Instruction &i, const ptx::Function &callee);
  void leave();  // ret
  void exit();
  BasicBlock *newBlock(const llvm::Twine &name = "") {
    return BasicBlock::Create(ir_.getContext(), name, &b_.function());
  }
  // Code after a jump, up to the next label, cannot be reached.
  void startUnreachable() { ir_.SetInsertPoint(newBlock("unreachable")); }
  llvm::Value *guardOf(const Instruction &i);
  llvm::Value *argument(const Operand &operand, llvm::Type *type);
  void receive(const Operand &operand, llvm::Value *value);

  LaneModule &module_;
  const ptx::Function &source_;
  LaneIrBuilder b_;
  llvm::IRBuilder<> &ir_;
  std::vector<BasicBlock *> labels_;
};

llvm::Value *FunctionLowering::guardOf(const Instruction &i) {
  llvm::Value *p = b_.readRegister(i.guard->reg);
  return i.guard->negated ? ir_.CreateNot(p) : p;
}

// --- control flow -----------------------------------------------------------------------------------------

void FunctionLowering::branch(const Instruction &i) {
  BasicBlock *target = labels_[i.operands[0].label];
  if (!i.guard) {
    ir_.CreateBr(target);
    return startUnreachable();
  }
  BasicBlock *next = newBlock();
  ir_.CreateCondBr(guardOf(i), target, next);
  ir_.SetInsertPoint(next);
}

void FunctionLowering::branchIndexed(const Instruction &i) {
  const std::vector<std::uint32_t> &targets = source_.branchTargets[i.operands[1].label];
  BasicBlock *bad = newBlock("bad.index");
  auto *choice =
      ir_.CreateSwitch(b_.operandAs(i.operands[0], ptx::Type::u32), bad, static_cast<unsigned>(targets.size()));
  for (std::uint32_t t = 0; t < targets.size(); ++t) choice->addCase(ir_.getInt32(t), labels_[targets[t]]);
  ir_.SetInsertPoint(bad);
  llvm::FunctionCallee fault = module_.intrinsic("fault", ir_.getVoidTy(), {ir_.getInt32Ty()});
  ir_.CreateCall(fault, {ir_.getInt32(static_cast<std::uint32_t>(FaultKind::illegalInstruction))});
  ir_.CreateUnreachable();
  startUnreachable();
}

void FunctionLowering::leave() {
  llvm::Type *type = b_.function().getReturnType();
  if (type->isVoidTy()) {
    ir_.CreateRetVoid();
  } else if (source_.results[0].isRegister) {
    llvm::Value *v = b_.readRegister(source_.results[0].reg);
    ir_.CreateRet(ir_.CreateBitCast(v, type));
  } else {
    ir_.CreateRet(ir_.CreateLoad(type, b_.variableMemory({ptx::SymbolRef::Kind::result, 0})));
  }
  startUnreachable();
}

void FunctionLowering::exit() {
  if (source_.isKernel) {
    ir_.CreateRetVoid();
  } else {
    ir_.CreateCall(module_.intrinsic("exit", ir_.getVoidTy(), {}), {});
    ir_.CreateUnreachable();
  }
  startUnreachable();
}

// --- calls ------------------------------------------------------------------------------------------------

// A parameter variable (its memory, or the scalar in it), a register or an immediate.
llvm::Value *FunctionLowering::argument(const Operand &o, llvm::Type *type) {
  if (o.kind == Operand::Kind::symbol) {
    llvm::Value *memory = b_.variableMemory(o.symbol);
    return type->isPointerTy() ? memory : ir_.CreateLoad(type, memory);
  }
  const ptx::Type as = type->isIntegerTy(1)    ? ptx::Type::pred
                       : type->isIntegerTy(8)  ? ptx::Type::b8
                       : type->isIntegerTy(16) ? ptx::Type::b16
                       : type->isIntegerTy(32) ? ptx::Type::b32
                                               : ptx::Type::b64;
  return b_.operandAs(o, as);
}

void FunctionLowering::receive(const Operand &o, llvm::Value *value) {
  if (o.kind == Operand::Kind::symbol) ir_.CreateStore(value, b_.variableMemory(o.symbol));
  else if (o.kind == Operand::Kind::reg) b_.writeRegister(o.reg, value, false);
}

void FunctionLowering::callRuntime(const Instruction &i, const ptx::Function &callee) {
  struct Row {
    const char *name, *intrinsic;
    std::initializer_list<unsigned> bits;
    unsigned result;
  };  // bits: 0: pointer
  static const Row rows[] = {{"vprintf", "rt.vprintf", {0, 0}, 32},
                             {"__assertfail", "rt.assertfail", {0, 0, 32, 0, 64}, 1},
                             {"malloc", "rt.malloc", {64}, 0},
                             {"free", "rt.free", {0}, 1}};
  for (const Row &row : rows) {
    if (callee.name != row.name) continue;
    const std::vector<Operand> &given = i.operands[2].elements;
    if (given.size() != row.bits.size())
      return b_.fail(userError("wrong number of arguments for " + callee.name + " in " + b_.where(i)));
    std::vector<llvm::Value *> args;
    std::vector<llvm::Type *> types;
    for (unsigned bits : row.bits) {
      llvm::Value *v = argument(given[args.size()], ir_.getIntNTy(bits ? bits : 64));
      args.push_back(bits ? v : ir_.CreateIntToPtr(v, ir_.getPtrTy()));
      types.push_back(args.back()->getType());
    }
    llvm::Type *type = row.result == 1 ? ir_.getVoidTy()
                       : row.result    ? ir_.getIntNTy(row.result)
                                       : static_cast<llvm::Type *>(ir_.getPtrTy());
    llvm::Value *r = ir_.CreateCall(module_.intrinsic(row.intrinsic, type, types), args);
    if (i.operands[0].elements.empty() || type->isVoidTy()) return;
    return receive(i.operands[0].elements[0], type->isPointerTy() ? ir_.CreatePtrToInt(r, ir_.getInt64Ty()) : r);
  }
}

void FunctionLowering::call(const Instruction &i) {
  const std::vector<Operand> &results = i.operands[0].elements, &given = i.operands[2].elements;
  const Operand &target = i.operands[1];
  const bool direct = target.kind == Operand::Kind::symbol;
  if (!direct && i.operands.size() < 4)
    return b_.fail(userError("indirect call without a prototype in " + b_.where(i)));
  const ptx::Function *callee = direct ? &module_.ptx.functions[target.symbol.index] : nullptr;
  if (direct && !callee->hasBody) {
    if (isDeviceFunction(callee->name)) return callRuntime(i, *callee);
    return b_.fail(userError("undefined reference to function '" + callee->name + "' in " + b_.where(i)));
  }
  const ptx::Prototype *prototype = direct ? nullptr : &source_.prototypes[i.operands[3].label];
  const auto &resultTypes = direct ? callee->results : prototype->results;
  const auto &paramTypes = direct ? callee->params : prototype->params;
  if (given.size() != paramTypes.size() || results.size() > resultTypes.size())
    return b_.fail(userError("arguments do not match the callee's parameters in " + b_.where(i)));
  const Signature signature = module_.signature(resultTypes, paramTypes);
  std::vector<llvm::Value *> args{b_.warp()};
  if (!direct) args.push_back(b_.operandAs(target, ptx::Type::b64));
  if (signature.resultInMemory) {
    if (results.empty()) return b_.fail(unsupported("call that drops an aggregate result in " + b_.where(i)));
    args.push_back(b_.variableMemory(results[0].symbol));
  }
  for (std::size_t a = 0; a < given.size(); ++a)
    args.push_back(
        argument(given[a], signature.type->getParamType(static_cast<unsigned>(1 + signature.resultInMemory + a))));
  llvm::Function *function = direct ? module_.function(target.symbol.index) : module_.dispatcher(signature.type);
  llvm::CallInst *r = ir_.CreateCall(function, args);
  if (!results.empty() && !r->getType()->isVoidTy()) receive(results[0], r);
}

// --- everything -------------------------------------------------------------------------------------------

// An instruction without side effects runs anyway and its results are selected; others are jumped over.
void FunctionLowering::guarded(const Instruction &i) {
  if (i.form->state == ptx::State::executes && i.form->effects == ptx::pure) {
    b_.writeMask = guardOf(i);
    i.form->meaning(b_, i);
    b_.writeMask = nullptr;
    return;
  }
  BasicBlock *then = newBlock(), *next = newBlock();
  ir_.CreateCondBr(guardOf(i), then, next);
  ir_.SetInsertPoint(then);
  instruction(i);
  ir_.CreateBr(next);
  ir_.SetInsertPoint(next);
}

void FunctionLowering::instruction(const Instruction &i) {
  switch (i.opcode) {
    case Opcode::brx: return branchIndexed(i);
    case Opcode::call: return call(i);
    case Opcode::ret: return source_.isKernel ? exit() : leave();
    case Opcode::exit: return exit();
    default: break;
  }
  if (!i.form || i.form->state != ptx::State::executes || !i.form->meaning)
    return b_.fail(unsupported("instruction '" + std::string(i.form ? i.form->syntax : ptx::name(i.opcode)) + "' in " +
                               b_.where(i)));
  i.form->meaning(b_, i);
}

Result<void> FunctionLowering::run() {
  std::multimap<std::uint32_t, std::uint32_t> at;  // instruction -> label
  for (std::uint32_t l = 0; l < source_.labels.size(); ++l) {
    labels_.push_back(newBlock(source_.labels[l].name));
    at.emplace(source_.labels[l].instruction, l);
  }
  for (std::uint32_t n = 0; n <= source_.body.size(); ++n) {
    for (auto [it, end] = at.equal_range(n); it != end; ++it) {
      ir_.CreateBr(labels_[it->second]);
      ir_.SetInsertPoint(labels_[it->second]);
    }
    if (n == source_.body.size()) break;
    const Instruction &i = source_.body[n];
    if (module_.debug) ir_.SetCurrentDebugLocation(module_.debug->location(b_.function(), source_, i.sourceLine));
    if (i.opcode == Opcode::bra) branch(i);
    else if (i.guard) guarded(i);
    else instruction(i);
    if (b_.error) return *b_.error;
  }
  if (source_.isKernel) ir_.CreateRetVoid();
  else leave(), ir_.CreateUnreachable();
  return {};
}

}  // namespace

Result<void> lowerFunction(LaneModule &module, std::uint32_t index) {
  llvm::Function *function = module.function(index);
  if (module.debug) module.debug->attach(*function, module.ptx.functions[index]);
  return FunctionLowering(module, index).run();
}

}  // namespace strata::simt
