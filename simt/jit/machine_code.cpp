// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/machine_code.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/LEB128.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "simt/jit/spill_report.h"
#include "simt/target/instructions.h"

namespace strata::simt {

Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const CpuFeatures &cpu) {
  initializeTarget();
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(targetTriple(), error);
  if (!target) return internalError("LLVM does not know this processor: " + error);
  llvm::TargetOptions options;
  options.EmitStackSizeSection = true;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto *machine = target->createTargetMachine(targetTriple(), cpu.cpu, cpu.features, options, llvm::Reloc::PIC_,
                                              llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default);
  if (!machine) return internalError("LLVM cannot target " + cpu.cpu);
  return std::unique_ptr<llvm::TargetMachine>(machine);
}

void setFunctionAttributes(llvm::Module &module, const CpuFeatures &cpu) {
  for (llvm::Function &f : module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", cpu.cpu);
    if (!cpu.features.empty()) f.addFnAttr("target-features", cpu.features);
    if (const char *bits = cpu.vectorBits) {
      f.addFnAttr("prefer-vector-width", bits);
      f.addFnAttr("min-legal-vector-width", bits);
    }
    f.addFnAttr("probe-stack", "inline-asm");  // a large frame must not step over the stack's guard page
    f.addFnAttr("no-builtins");
    f.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

// As TargetMachine::addPassesToEmitFile, but without MachineSink: like InstCombine it moves what is used once to its
// user, past the tests between accesses, and undoes simt/passes/warp/raise_operations.h.
static void emit(llvm::Module &module, llvm::TargetMachine &target, llvm::raw_pwrite_stream &out,
                 llvm::CodeGenFileType type) {
  auto &machine = static_cast<llvm::LLVMTargetMachine &>(target);
  llvm::legacy::PassManager passes;
  auto *info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&llvm::MachineSinkingID);
  passes.add(config);
  passes.add(info);
  config->addISelPasses();
  config->addMachinePasses();
  config->setInitialized();
  machine.addAsmPrinter(passes, out, nullptr, type, info->getMMI().getContext());
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
}

Assembly emitAssembly(llvm::Module &module, llvm::TargetMachine &target) {
  Assembly result;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::LLVMContext &context = module.getContext();
  auto before = context.getDiagnosticHandler();
  context.setDiagnosticHandler(makeSpillReport(result.spills));
  emit(*llvm::CloneModule(module), target, out, llvm::CodeGenFileType::AssemblyFile);
  context.setDiagnosticHandler(std::move(before));
  result.text = std::string(text);
  return result;
}

using Elf = llvm::object::ELFObjectFile<llvm::object::ELF64LE>;

static Result<void> checkUndefined(const Elf &object) {
  for (const llvm::object::ELFSymbolRef symbol : object.symbols()) {
    llvm::Expected<std::uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) return internalError("LLVM wrote an unreadable symbol table");
    const bool undefined = *flags & llvm::object::SymbolRef::SF_Undefined;
    if (!undefined || name->empty() || *name == "memcpy" || *name == "memmove" || *name == "memset") continue;
    return internalError("generated code needs the library function '" + name->str() + "'");
  }
  return {};
}

// .stack_sizes: for each function its address (8 bytes) and its frame's size (ULEB128).
static std::uint32_t sumOfFrames(const Elf &object) {
  std::uint64_t sum = 0;
  for (const llvm::object::SectionRef &section : object.sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName(), contents = section.getContents();
    if (!name || !contents || *name != ".stack_sizes") continue;
    const auto *at = reinterpret_cast<const std::uint8_t *>(contents->begin()),
               *end = reinterpret_cast<const std::uint8_t *>(contents->end());
    while (end - at > 8) {
      unsigned length = 0;
      sum += llvm::decodeULEB128(at + 8, &length, end) + 16;
      at += 8 + length;
    }
  }
  return static_cast<std::uint32_t>(sum);
}

static bool isRecursive(const llvm::Module &module) {
  llvm::SmallPtrSet<const llvm::Function *, 8> done, open;
  std::function<bool(const llvm::Function &)> circles = [&](const llvm::Function &f) {
    if (open.contains(&f)) return true;
    if (!done.insert(&f).second) return false;
    open.insert(&f);
    for (const llvm::BasicBlock &block : f)
      for (const llvm::Instruction &i : block)
        if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i))
          if (const llvm::Function *callee = call->getCalledFunction();
              callee && !callee->isDeclaration() && circles(*callee))
            return true;
    open.erase(&f);
    return false;
  };
  return llvm::any_of(module, [&](const llvm::Function &f) { return circles(f); });
}

Result<MachineCode> emitObject(llvm::Module &module, llvm::TargetMachine &target) {
  const bool recursive = isRecursive(module);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  emit(module, target, out, llvm::CodeGenFileType::ObjectFile);
  auto object = Elf::create(llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()), "object"));
  if (!object) return internalError("LLVM wrote an unreadable object: " + llvm::toString(object.takeError()));
  if (auto checked = checkUndefined(*object); !checked) return checked.error();
  MachineCode code;
  code.stackBytes = recursive ? 0 : sumOfFrames(*object);
  code.object.assign(bytes.begin(), bytes.end());
  return code;
}

}  // namespace strata::simt
