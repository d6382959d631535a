// SPDX-License-Identifier: Apache-2.0
// LLVM's code generator: IR to an ELF object or assembly, in memory.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "simt/target/cpu_features.h"

namespace strata::simt {

// Position independent, small code model. Errors: internal.
Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const CpuFeatures &cpu);

// What every function needs for this CPU: 512-bit registers where there are, stack probes.
void setFunctionAttributes(llvm::Module &module, const CpuFeatures &cpu);

struct MachineCode {
  std::vector<std::uint8_t> object;
  std::uint32_t stackBytes = 0;  // of all frames together; 0 if functions call each other in circles
};
// Errors: internal: the object would need a library function other than memcpy, memmove, memset (names it).
Result<MachineCode> emitObject(llvm::Module &module, llvm::TargetMachine &target);

struct Assembly {
  std::string text;
  std::string spills;  // "file:line: …", one line for each loop and function in which registers did not suffice
};
Assembly emitAssembly(llvm::Module &module, llvm::TargetMachine &target);

}  // namespace strata::simt
