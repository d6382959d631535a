// SPDX-License-Identifier: Apache-2.0
// __managed__ variables, which clang 19 has for HIP only. host_defines.h makes `__managed__ int x;` a device variable
// with the annotation "strata.managed".
//
// Device pass: the variable gets NVPTX's mark, so that PTX has `.global .attribute(.managed) … x`.
//
// Host pass: clang made a shadow of x that nobody may read, and registers it with __cudaRegisterVar. Here
//   - a slot `ptr x.managed` is added, which the runtime fills with the variable's address,
//   - the registration becomes __cudaRegisterManagedVar(handle, &x.managed, …),
//   - each use of x becomes the result of a call that loads the module at the first use:
//       ptr x.address() { if (!x.managed) __cudaInitModule(handle); return x.managed; }
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "toolkit/nvcc/plugin/passes.h"

using namespace llvm;

namespace {

void markForNvptx(Module &module, GlobalVariable &variable) {
  LLVMContext &context = module.getContext();
  Metadata *mark[] = {ValueAsMetadata::get(&variable), MDString::get(context, "managed"),
                      ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), 1))};
  module.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(MDNode::get(context, mark));
}

GlobalVariable *makeSlot(Module &module, GlobalVariable &variable) {
  auto *type = PointerType::getUnqual(module.getContext());
  Constant *null = variable.isDeclaration() ? nullptr : ConstantPointerNull::get(type);
  return new GlobalVariable(module, type, false, variable.getLinkage(), null, variable.getName() + ".managed");
}

// The call that registered the shadow registers the slot instead.
void registerSlot(Module &module, GlobalVariable &variable, GlobalVariable &slot) {
  Function *plain = module.getFunction("__cudaRegisterVar");
  if (!plain) return;
  FunctionCallee managed = module.getOrInsertFunction("__cudaRegisterManagedVar", plain->getFunctionType());
  for (User *user : make_early_inc_range(plain->users())) {
    auto *call = dyn_cast<CallInst>(user);
    if (!call || call->getArgOperand(1)->stripPointerCasts() != &variable) continue;
    call->setArgOperand(1, &slot);
    call->setCalledFunction(managed);
  }
}

// Where clang keeps the handle: what the constructor stores the result of __cudaRegisterFatBinary in. Relocatable
// code has no such variable; there the argument of the registration function is stored in one.
GlobalVariable *findHandle(Module &module) {
  if (GlobalVariable *handle = module.getGlobalVariable("__cuda_gpubin_handle", true)) return handle;
  Function *registration = module.getFunction("__cuda_register_globals");
  if (!registration) return nullptr;
  auto *type = PointerType::getUnqual(module.getContext());
  auto *handle = new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, ConstantPointerNull::get(type),
                                    "__cuda_gpubin_handle");
  IRBuilder<> builder(&*registration->getEntryBlock().getFirstInsertionPt());
  builder.CreateStore(registration->getArg(0), handle);
  return handle;
}

Function *makeAccessor(Module &module, GlobalVariable &variable, GlobalVariable &slot, GlobalVariable *handle) {
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::getUnqual(context);
  auto *function = Function::Create(FunctionType::get(pointer, false), GlobalValue::InternalLinkage,
                                    variable.getName() + ".address", module);
  function->addFnAttr(Attribute::AlwaysInline);
  auto *entry = BasicBlock::Create(context, "entry", function);
  auto *load = BasicBlock::Create(context, "load", function), *done = BasicBlock::Create(context, "done", function);
  IRBuilder<> builder(entry);
  Value *null = ConstantPointerNull::get(pointer);
  builder.CreateCondBr(builder.CreateICmpEQ(builder.CreateLoad(pointer, &slot), null), handle ? load : done, done);
  builder.SetInsertPoint(load);
  if (handle) {
    FunctionCallee init = module.getOrInsertFunction("__cudaInitModule", builder.getInt8Ty(), pointer);
    builder.CreateCall(init, builder.CreateLoad(pointer, handle));
  }
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  builder.CreateRet(builder.CreateLoad(pointer, &slot));
  return function;
}

void replaceUses(GlobalVariable &variable, Function *accessor) {
  convertUsersOfConstantsToInstructions({&variable});
  for (Use &use : make_early_inc_range(variable.uses())) {
    auto *instruction = dyn_cast<Instruction>(use.getUser());
    if (!instruction) {
      variable.getContext().emitError("the address of __managed__ variable '" + variable.getName() +
                                      "' is known only at run time and cannot initialise a constant");
      return;
    }
    auto *phi = dyn_cast<PHINode>(instruction);
    Instruction *before = phi ? phi->getIncomingBlock(use)->getTerminator() : instruction;
    use.set(CallInst::Create(accessor, {}, "", before->getIterator()));
  }
}

void giveHostAccess(Module &module, GlobalVariable &variable, GlobalVariable *handle) {
  GlobalVariable *slot = makeSlot(module, variable);
  registerSlot(module, variable, *slot);
  removeFromUsedLists(module, [&](Constant *used) { return used->stripPointerCasts() == &variable; });
  replaceUses(variable, makeAccessor(module, variable, *slot, handle));
}

}  // namespace

void strata::plugin::makeManagedVariables(Module &module) {
  SmallVector<GlobalVariable *> variables = takeAnnotated(module, "strata.managed");
  if (variables.empty()) return;
  bool device = Triple(module.getTargetTriple()).isNVPTX();
  GlobalVariable *handle = device ? nullptr : findHandle(module);
  for (GlobalVariable *variable : variables) {
    if (device) markForNvptx(module, *variable);
    else giveHostAccess(module, *variable, handle);
  }
}
