// SPDX-License-Identifier: Apache-2.0
// Device code that the program's objects register when they are loaded: fat binaries, and in each its kernels
// and variables, known to host code by the address of a stub or shadow. A fat binary is loaded into a context
// when one of its kernels or variables is first used there.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "base/fatbin.h"
#include "runtime/context.h"

namespace strata::runtime {

struct Module;

// One kernel: a registered stub, or a CUkernel of a library.
struct Function {
  Module *module = nullptr;
  CUkernel kernel = nullptr;
  std::string name;
  std::array<std::atomic<CUfunction>, kMaxContexts> loaded{};
};

struct Variable {
  Module *module = nullptr;
  std::string name;
  std::size_t size = 0;
  void **managed = nullptr;  // __managed__: where host code reads the variable's address
  std::array<std::atomic<CUdeviceptr>, kMaxContexts> loaded{};
};

Module *addModule(const fatbin::Wrapper *wrapper);
// Unloads it wherever it is loaded, unless the process is ending, and forgets its kernels and variables.
void removeModule(Module *module);
void addFunction(Module *module, const void *stub, const char *name);
void addVariable(Module *module, const void *shadow, const char *name, std::size_t size, void **managed);
// Textures and surfaces declared at file scope: their use is refused.
void addReference(Module *module, const void *shadow, const char *name);

// A kernel of a library gets a record of its own, so that launches accept it like a stub.
void addKernel(CUkernel kernel);
void removeKernel(CUkernel kernel);

// The kernel of `stub` in the current context, loaded if need be. Errors: cudaErrorInvalidDeviceFunction,
// cudaErrorNoKernelImageForDevice, and what loading gives.
cudaError_t loadFunction(const void *stub, Context &context, CUfunction &function);
cudaError_t functionFor(const void *stub, CUfunction &function);  // binds the context
// The stub of a kernel that is loaded somewhere, to answer what a graph node runs. Null: not one of ours.
const void *stubOf(CUfunction function);

// The variable of `shadow`: its address in the current context, and its size in bytes. Error:
// cudaErrorInvalidSymbol.
cudaError_t symbolFor(const void *shadow, CUdeviceptr &address, std::size_t &size);

// Nothing is loaded in `context` any more.
void dropLoaded(Context &context);
// Loads the module into the current context and gives host code its managed variables.
cudaError_t initModule(Module *module);

}  // namespace strata::runtime
