// SPDX-License-Identifier: Apache-2.0
#include "simt/lower/lane_module.h"

#include <llvm/IR/IRBuilder.h>

#include "simt/intrinsics.h"
#include "simt/lower/debug_info.h"

namespace strata::simt {

using llvm::Type;

Type *irType(llvm::LLVMContext &context, ptx::ScalarType type) {
  switch (type) {
    case ptx::ScalarType::i1: return Type::getInt1Ty(context);
    case ptx::ScalarType::i8: return Type::getInt8Ty(context);
    case ptx::ScalarType::i16: return Type::getInt16Ty(context);
    case ptx::ScalarType::i32: return Type::getInt32Ty(context);
    case ptx::ScalarType::i64: return Type::getInt64Ty(context);
    case ptx::ScalarType::i128: return Type::getInt128Ty(context);
    case ptx::ScalarType::f16: return Type::getHalfTy(context);
    case ptx::ScalarType::bf16: return Type::getBFloatTy(context);
    case ptx::ScalarType::f32: return Type::getFloatTy(context);
    case ptx::ScalarType::f64: return Type::getDoubleTy(context);
  }
  __builtin_unreachable();
}

ptx::ScalarType scalarTypeOf(Type *type) {
  if (type->isHalfTy()) return ptx::ScalarType::f16;
  if (type->isBFloatTy()) return ptx::ScalarType::bf16;
  if (type->isFloatTy()) return ptx::ScalarType::f32;
  if (type->isDoubleTy()) return ptx::ScalarType::f64;
  switch (type->getIntegerBitWidth()) {
    case 1: return ptx::ScalarType::i1;
    case 8: return ptx::ScalarType::i8;
    case 16: return ptx::ScalarType::i16;
    case 32: return ptx::ScalarType::i32;
    case 64: return ptx::ScalarType::i64;
    default: return ptx::ScalarType::i128;
  }
}

std::string_view typeName(ptx::ScalarType type) {
  constexpr std::string_view names[] = {"i1", "i8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32", "f64"};
  return names[static_cast<unsigned>(type)];
}

LaneModule::LaneModule(llvm::Module &ir, const ptx::Module &ptx, const Reach &reach, const CompileOptions &options)
    : ir(ir),
      ptx(ptx),
      reached(reach),
      options(options),
      globals(layoutGlobals(ptx)),
      shared(layoutShared(ptx, reach)),
      debug(options.lineInfo ? std::make_unique<DebugInfo>(ir, ptx) : nullptr),
      functions_(ptx.functions.size()) {}
LaneModule::~LaneModule() = default;

static bool isAggregate(const ptx::Param &p) { return !p.isRegister && (!p.dimensions.empty() || p.size > 8); }

Signature LaneModule::signature(const std::vector<ptx::Param> &results, const std::vector<ptx::Param> &params) const {
  Signature s;
  std::vector<Type *> types{llvm::PointerType::get(context(), 0)};
  Type *result = Type::getVoidTy(context());
  const auto scalar = [&](const ptx::Param &p) -> Type * {
    return p.type == ptx::Type::pred ? Type::getInt1Ty(context())
                                     : Type::getIntNTy(context(), static_cast<unsigned>(p.size * 8));
  };
  if (!results.empty()) {
    s.resultInMemory = isAggregate(results[0]);
    if (s.resultInMemory) types.push_back(llvm::PointerType::get(context(), 0));
    else result = scalar(results[0]);
  }
  for (const ptx::Param &p : params) types.push_back(isAggregate(p) ? llvm::PointerType::get(context(), 0) : scalar(p));
  s.type = llvm::FunctionType::get(result, types, false);
  return s;
}

llvm::Function *LaneModule::function(std::uint32_t index) {
  llvm::Function *&f = functions_[index];
  if (f) return f;
  const ptx::Function &source = ptx.functions[index];
  llvm::FunctionType *type = source.isKernel ? llvm::FunctionType::get(Type::getVoidTy(context()),
                                                                       {llvm::PointerType::get(context(), 0)}, false)
                                             : signature(source.results, source.params).type;
  f = llvm::Function::Create(type, source.isKernel ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage,
                             source.name, ir);
  if (source.isKernel) f->addFnAttr("strata.kernel");
  else f->addFnAttr("strata.function", source.name);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::Convergent);
  f->getArg(0)->setName("warp");
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  f->addParamAttr(0, llvm::Attribute::NoUndef);
  return f;
}

// A chain of comparisons would do; a switch lets LLVM choose.
llvm::Function *LaneModule::dispatcher(llvm::FunctionType *type) {
  for (llvm::Function *known : dispatchers_)
    if (known->getFnAttribute("strata.dispatches").isValid() && known->getReturnType() == type->getReturnType() &&
        known->getFunctionType()->params().drop_front(2) == type->params().drop_front())
      return known;
  std::vector<Type *> params(type->param_begin(), type->param_end());
  params.insert(params.begin() + 1, Type::getInt64Ty(context()));
  auto *f =
      llvm::Function::Create(llvm::FunctionType::get(type->getReturnType(), params, false),
                             llvm::Function::InternalLinkage, "strata.call." + std::to_string(dispatchers_.size()), ir);
  f->addFnAttr("strata.function", "indirect call");
  f->addFnAttr("strata.dispatches");
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::Convergent);
  f->getArg(0)->setName("warp");
  f->addParamAttr(0, llvm::Attribute::NoAlias);
  f->addParamAttr(0, llvm::Attribute::NoUndef);
  dispatchers_.push_back(f);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context(), "", f));
  auto *bad = llvm::BasicBlock::Create(context(), "bad", f);
  auto *choice = b.CreateSwitch(f->getArg(1), bad);
  std::vector<llvm::Value *> args;
  for (llvm::Argument &a : f->args())
    if (a.getArgNo() != 1) args.push_back(&a);
  for (std::uint32_t target : reached.addressTaken) {
    llvm::Function *callee = function(target);
    if (callee->getFunctionType() != type) continue;
    auto *block = llvm::BasicBlock::Create(context(), callee->getName(), f);
    choice->addCase(b.getInt64(functionHandle(target)), block);
    b.SetInsertPoint(block);
    llvm::CallInst *call = b.CreateCall(callee, args);
    if (type->getReturnType()->isVoidTy()) b.CreateRetVoid();
    else b.CreateRet(call);
  }
  b.SetInsertPoint(bad);
  llvm::FunctionCallee fault = intrinsic("fault", b.getVoidTy(), {b.getInt32Ty()});
  b.CreateCall(fault, {b.getInt32(static_cast<std::uint32_t>(FaultKind::invalidPc))});
  b.CreateUnreachable();
  return f;
}

llvm::FunctionCallee LaneModule::intrinsic(std::string_view name, Type *result, llvm::ArrayRef<Type *> args) {
  const std::string full = "strata." + std::string(name);
  if (llvm::Function *f = ir.getFunction(full)) return f;
  auto *f =
      llvm::Function::Create(llvm::FunctionType::get(result, args, false), llvm::Function::ExternalLinkage, full, ir);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  const IntrinsicRow *row = rowOf(name);
  if (!row) return f;  // whoever expands it says that there is none
  if (row->group == IntrinsicRow::Group::end) {
    f->addFnAttr(llvm::Attribute::NoReturn);
    f->addFnAttr(llvm::Attribute::Cold);
  } else {
    f->addFnAttr(llvm::Attribute::WillReturn);
  }
  if (row->isConvergent()) f->addFnAttr(llvm::Attribute::Convergent);
  if (row->effect == IntrinsicRow::Effect::pure) {
    f->setMemoryEffects(llvm::MemoryEffects::none());
    f->addFnAttr(llvm::Attribute::Speculatable);
  }
  if (row->effect == IntrinsicRow::Effect::ordered) f->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  return f;
}

llvm::FunctionCallee LaneModule::elementwise(const std::string &name, Type *result, llvm::ArrayRef<Type *> args) {
  const std::string full = "strata." + name;
  if (llvm::Function *f = ir.getFunction(full)) return f;
  auto *f =
      llvm::Function::Create(llvm::FunctionType::get(result, args, false), llvm::Function::ExternalLinkage, full, ir);
  f->addFnAttr("strata.elementwise");
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::WillReturn);
  f->addFnAttr(llvm::Attribute::Speculatable);
  f->setMemoryEffects(llvm::MemoryEffects::none());
  return f;
}

}  // namespace strata::simt
