// SPDX-License-Identifier: Apache-2.0
// Registers, immediates, symbols, addresses; results.
#include "simt/lower/lane_ir_builder.h"

namespace strata::simt {

using ptx::Operand;
using ptx::SymbolRef;

// Registers hold integers as they are, f32 and f64 as floats, the 16-bit floats as i16.
static llvm::Type *registerType(llvm::LLVMContext &context, ptx::Type t) {
  const ptx::ScalarType scalar = ptx::scalarType(t);
  if (scalar == ptx::ScalarType::f16 || scalar == ptx::ScalarType::bf16) return llvm::Type::getInt16Ty(context);
  return irType(context, scalar);
}

LaneIrBuilder::LaneIrBuilder(LaneModule &module, std::uint32_t functionIndex)
    : ir(module.context()),
      module_(module),
      functionIndex_(functionIndex),
      source_(module.ptx.functions[functionIndex]),
      function_(*module.function(functionIndex)) {
  auto *entry = llvm::BasicBlock::Create(module.context(), "entry", &function_);
  auto *body = llvm::BasicBlock::Create(module.context(), "body", &function_);
  ir.SetInsertPoint(entry);
  if (module.debug) ir.SetCurrentDebugLocation(module.debug->location(function_, source_, -1));
  entryEnd_ = ir.CreateBr(body);
  ir.SetInsertPoint(entryEnd_);
  for (const ptx::Register &r : source_.registers) {
    llvm::Type *type = registerType(module.context(), r.type);
    registers_.push_back(entryAlloca(type, 0, r.name));
    // Reading a register that was never written must not be undefined behaviour of LLVM's kind.
    ir.CreateStore(llvm::Constant::getNullValue(type), registers_.back());
  }
  prepareParams();
  ir.SetInsertPoint(body);
}

llvm::AllocaInst *LaneIrBuilder::entryAlloca(llvm::Type *type, std::uint64_t alignment, const llvm::Twine &name) {
  llvm::IRBuilder<> b(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  llvm::AllocaInst *a = b.CreateAlloca(type, nullptr, name);
  if (alignment) a->setAlignment(llvm::Align(alignment));
  return a;
}

// Parameters of functions get memory of their own, unless they came by address.
void LaneIrBuilder::prepareParams() {
  if (source_.isKernel) {
    paramOffsets_ = layoutParams(source_.params, paramBytes_);
    return;
  }
  const Signature signature = module_.signature(source_.results, source_.params);
  unsigned next = 1;
  const auto memory = [&](const ptx::Param &p) {
    return entryAlloca(llvm::ArrayType::get(ir.getInt8Ty(), p.size), std::max<std::uint32_t>(p.alignment, 8), p.name);
  };
  for (const ptx::Param &p : source_.results)
    results_.push_back(signature.resultInMemory ? static_cast<llvm::Value *>(function_.getArg(next++)) : memory(p));
  for (const ptx::Param &p : source_.params) {
    llvm::Argument *arg = function_.getArg(next++);
    if (p.isRegister) {
      params_.push_back(nullptr);
      writeRegister(p.reg, arg, false);
    } else if (arg->getType()->isPointerTy()) {
      params_.push_back(arg);
    } else {
      params_.push_back(memory(p));
      ir.CreateStore(arg, params_.back());
    }
  }
}

std::string LaneIrBuilder::where(const Instruction &i) const {
  return source_.name + ", line " + std::to_string(i.place.line);
}

// --- registers ------------------------------------------------------------------------------------------

llvm::Value *LaneIrBuilder::readRegister(std::uint32_t reg) {
  llvm::AllocaInst *a = registers_[reg];
  return ir.CreateLoad(a->getAllocatedType(), a);
}

void LaneIrBuilder::writeRegister(std::uint32_t reg, llvm::Value *value, bool isSigned) {
  llvm::AllocaInst *a = registers_[reg];
  llvm::Type *want = a->getAllocatedType();
  const unsigned from = value->getType()->getScalarSizeInBits(), to = want->getScalarSizeInBits();
  if (value->getType() != want) {
    if (!value->getType()->isIntegerTy()) value = ir.CreateBitCast(value, ir.getIntNTy(from));
    if (from != to)
      value = from > to  ? ir.CreateTrunc(value, ir.getIntNTy(to))
              : isSigned ? ir.CreateSExt(value, ir.getIntNTy(to))
                         : ir.CreateZExt(value, ir.getIntNTy(to));
    value = ir.CreateBitCast(value, want);
  }
  if (writeMask) value = ir.CreateSelect(writeMask, value, ir.CreateLoad(want, a));
  ir.CreateStore(value, a);
}

static bool isSignedType(ptx::Type type) {
  return type == ptx::Type::s8 || type == ptx::Type::s16 || type == ptx::Type::s32 || type == ptx::Type::s64;
}

// An integer or float as the scalar type of `type`: bits cut or extended, then the same bits.
llvm::Value *LaneIrBuilder::converted(llvm::Value *v, ptx::Type type) {
  llvm::Type *want = this->type(ptx::scalarType(type));
  if (v->getType() == want) return v;
  const unsigned from = v->getType()->getScalarSizeInBits(), to = want->getScalarSizeInBits();
  if (!v->getType()->isIntegerTy()) v = ir.CreateBitCast(v, ir.getIntNTy(from));
  if (from > to) v = ir.CreateTrunc(v, ir.getIntNTy(to));
  if (from < to) v = isSignedType(type) ? ir.CreateSExt(v, ir.getIntNTy(to)) : ir.CreateZExt(v, ir.getIntNTy(to));
  return ir.CreateBitCast(v, want);
}

llvm::Value *LaneIrBuilder::registerAs(std::uint32_t reg, ptx::Type type) { return converted(readRegister(reg), type); }

// --- immediates and symbols -------------------------------------------------------------------------------

llvm::Value *LaneIrBuilder::immediateAs(const Operand &operand, ptx::Type type) {
  llvm::Type *want = this->type(ptx::scalarType(type));
  const bool isFloat = operand.type == ptx::Type::f32 || operand.type == ptx::Type::f64;
  if (isFloat && want->isFloatingPointTy()) {
    llvm::APFloat value = operand.type == ptx::Type::f32
                              ? llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, operand.bits))
                              : llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, operand.bits));
    bool inexact = false;
    value.convert(want->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return llvm::ConstantFP::get(want, value);
  }
  const unsigned bits = want->getScalarSizeInBits();
  const bool extendSign = operand.type == ptx::Type::s64 && bits > 64;
  if (bits == 1) return ir.getInt1(operand.bits != 0);
  llvm::APInt value(64, operand.bits);
  value = extendSign ? value.sextOrTrunc(bits) : value.zextOrTrunc(bits);
  return ir.CreateBitCast(ir.getInt(value), want);
}

llvm::Value *LaneIrBuilder::variableAddress(const ptx::Variable &v, SharedLayout::Key key) {
  if (v.space == ptx::Space::shared) return ir.getInt64(module_.shared.offset.at(key));
  if (key.first < 0 && (v.space == ptx::Space::global || v.space == ptx::Space::const_)) {
    const std::uint64_t offset = module_.globals.offset[key.second];
    if (offset == GlobalsLayout::kNone) {
      fail(userError("undefined reference to variable '" + v.name + "' in " + source_.name));
      return ir.getInt64(0);
    }
    llvm::Value *base = launchField(offsetof(LaunchState, globals), ir.getPtrTy(), "globals");
    return ir.CreateAdd(ir.CreatePtrToInt(base, ir.getInt64Ty()), ir.getInt64(offset));
  }
  // .local, and .param of calls; module-scope .local has a copy in each function that names it only if
  // there is one such function, which PTX's "accessible in the whole module" would break.
  if (key.first < 0) {
    fail(unsupported("variable '" + v.name + "' of module scope in state space ." + std::string(ptx::name(v.space))));
    return ir.getInt64(0);
  }
  llvm::AllocaInst *&memory = variables_[key.second];
  if (!memory)
    memory = entryAlloca(llvm::ArrayType::get(ir.getInt8Ty(), v.size), std::max<std::uint32_t>(v.alignment, 8), v.name);
  return ir.CreatePtrToInt(memory, ir.getInt64Ty());
}

llvm::Value *LaneIrBuilder::symbolAddress(const SymbolRef &symbol) {
  switch (symbol.kind) {
    case SymbolRef::Kind::function: return ir.getInt64(functionHandle(symbol.index));
    case SymbolRef::Kind::global: return variableAddress(module_.ptx.variables[symbol.index], {-1, symbol.index});
    case SymbolRef::Kind::local:
      return variableAddress(source_.variables[symbol.index],
                             {static_cast<std::int32_t>(functionIndex_), symbol.index});
    case SymbolRef::Kind::param:
    case SymbolRef::Kind::result: return ir.CreatePtrToInt(variableMemory(symbol), ir.getInt64Ty());
  }
  __builtin_unreachable();
}

llvm::Value *LaneIrBuilder::variableMemory(const SymbolRef &symbol) {
  if (symbol.kind == SymbolRef::Kind::result) return results_[symbol.index];
  if (symbol.kind == SymbolRef::Kind::param && !source_.isKernel) return params_[symbol.index];
  if (symbol.kind == SymbolRef::Kind::param) {
    llvm::Value *base = launchField(offsetof(LaunchState, params), ir.getPtrTy(), "params");
    return ir.CreateConstGEP1_64(ir.getInt8Ty(), base, paramOffsets_[symbol.index]);
  }
  llvm::Value *address = symbolAddress(symbol);
  return llvm::cast<llvm::PtrToIntInst>(address)->getPointerOperand();
}

// --- operands ---------------------------------------------------------------------------------------------

llvm::Value *LaneIrBuilder::operandAs(const Operand &operand, ptx::Type type) {
  llvm::Value *v = nullptr;
  switch (operand.kind) {
    case Operand::Kind::reg: v = registerAs(operand.reg, type); break;
    case Operand::Kind::immediate: v = immediateAs(operand, type); break;
    case Operand::Kind::special: v = converted(get(special(operand.special)), type); break;
    case Operand::Kind::symbol:
      v = converted(ir.CreateAdd(symbolAddress(operand.symbol), ir.getInt64(operand.offset)), type);
      break;
    default:
      fail(internalError("operand at line " + std::to_string(operand.place.line) + " of " + source_.name +
                         " is not a value"));
      return llvm::Constant::getNullValue(this->type(ptx::scalarType(type)));
  }
  return operand.negated ? ir.CreateNot(v) : v;
}

ptx::Value LaneIrBuilder::operand(const Instruction &i, unsigned index, ptx::Type type) {
  return put(operandAs(i.operands[index], type));
}

ptx::Value LaneIrBuilder::element(const Instruction &i, unsigned index, unsigned element, ptx::Type type) {
  return put(operandAs(i.operands[index].elements[element], type));
}

ptx::Value LaneIrBuilder::address(const Instruction &i, unsigned index, ptx::Space) {
  const Operand &o = i.operands[index];
  llvm::Value *base = o.hasSymbol ? symbolAddress(o.symbol) : o.hasReg ? registerAs(o.reg, ptx::Type::u64) : nullptr;
  if (!base) return put(ir.getInt64(static_cast<std::uint64_t>(o.offset)));
  return put(o.offset ? ir.CreateAdd(base, ir.getInt64(static_cast<std::uint64_t>(o.offset))) : base);
}

void LaneIrBuilder::defineOperand(const Operand &operand, llvm::Value *value, ptx::Type type) {
  if (operand.kind == Operand::Kind::sink) return;
  if (operand.kind != Operand::Kind::reg)
    return fail(internalError("result at line " + std::to_string(operand.place.line) + " of " + source_.name +
                              " is not a register"));
  writeRegister(operand.reg, value, isSignedType(type));
}

void LaneIrBuilder::define(const Instruction &i, unsigned index, Value value, ptx::Type type) {
  const Operand &o = i.operands[index];
  defineOperand(o.kind == Operand::Kind::pair ? o.elements[0] : o, get(value), type);
}

void LaneIrBuilder::defineElement(const Instruction &i, unsigned index, unsigned element, Value value, ptx::Type type) {
  const Operand &o = i.operands[index];
  defineOperand(o.elements.empty() ? o : o.elements[element], get(value), type);
}

bool LaneIrBuilder::wants(const Instruction &i, unsigned index, unsigned element) {
  if (index >= i.operands.size()) return false;
  const Operand &o = i.operands[index];
  if (o.elements.empty()) return element == 0 && o.kind != Operand::Kind::sink;
  return element < o.elements.size() && o.elements[element].kind != Operand::Kind::sink;
}

}  // namespace strata::simt
