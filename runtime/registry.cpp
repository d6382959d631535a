// SPDX-License-Identifier: Apache-2.0
#include "runtime/registry.h"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>

#include "base/log.h"
#include "runtime/address_map.h"
#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/image.h"

namespace strata::runtime {

struct Module {
  const fatbin::Wrapper *wrapper = nullptr;
  std::array<CUmodule, kMaxContexts> loaded{};
  std::vector<std::pair<const void *, std::unique_ptr<Function>>> functions;
  std::vector<std::pair<const void *, std::unique_ptr<Variable>>> variables;
};

namespace {

// Never destroyed: programs unregister in exit handlers.
struct Registry {
  std::mutex mutex;  // registration and loading; lookups take no lock
  std::vector<Module *> modules;
  std::vector<std::unique_ptr<Function>> kernels;
  AddressMap<Function> functions;
  AddressMap<Variable> variables;
  AddressMap<const char> references;
};
Registry &registry() {
  static Registry &instance = *new Registry;
  // The mutex's holder may not be in the child of a fork.
  [[maybe_unused]] static const int watched =
      pthread_atfork(nullptr, nullptr, [] { new (&instance.mutex) std::mutex; });
  return instance;
}

// The module in `context`, loaded if need be. Under the mutex.
cudaError_t moduleIn(Module &module, Context &context, CUmodule &loaded) {
  loaded = module.loaded[context.slot];
  if (loaded) return cudaSuccess;
  if (cudaError_t error = loadImage(module.wrapper, context.device, loaded)) return error;
  module.loaded[context.slot] = loaded;
  return cudaSuccess;
}

cudaError_t loadRegistered(Function &function, Context &context, CUfunction &loaded) {
  CUmodule module;
  if (cudaError_t error = moduleIn(*function.module, context, module)) return error;
  CUresult result = driver().cuModuleGetFunction(&loaded, module, function.name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) {
    log::error("the loaded image has no kernel " + function.name);
    return cudaErrorInvalidDeviceFunction;
  }
  return toError(result);
}

cudaError_t loadVariable(Variable &variable, Context &context) {
  CUmodule module;
  if (cudaError_t error = moduleIn(*variable.module, context, module)) return error;
  CUdeviceptr address = 0;
  std::size_t size = 0;
  CUresult result = driver().cuModuleGetGlobal(&address, &size, module, variable.name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) {
    log::error("the loaded image has no variable " + variable.name);
    return cudaErrorInvalidSymbol;
  }
  if (result != CUDA_SUCCESS) return toError(result);
  if (variable.managed) *variable.managed = reinterpret_cast<void *>(address);
  variable.loaded[context.slot].store(address, std::memory_order_release);
  return cudaSuccess;
}

// Host code names a managed variable by where it lies.
Variable *managedAt(const void *address) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  for (Module *module : all.modules)
    for (auto &[shadow, variable] : module->variables)
      if (address && variable->managed && *variable->managed == address) return variable.get();
  return nullptr;
}

void unload(Module &module, int slot) {
  module.loaded[slot] = nullptr;
  for (auto &[stub, function] : module.functions) function->loaded[slot] = nullptr;
  for (auto &[shadow, variable] : module.variables) variable->loaded[slot] = 0;
}

}  // namespace

Module *addModule(const fatbin::Wrapper *wrapper) {
  std::lock_guard lock(registry().mutex);
  auto *module = new Module{.wrapper = wrapper, .loaded = {}, .functions = {}, .variables = {}};
  registry().modules.push_back(module);
  return module;
}

void removeModule(Module *module) {
  if (!cuda::processAlive()) return;
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  auto found = std::find(all.modules.begin(), all.modules.end(), module);
  if (found == all.modules.end()) return;
  all.modules.erase(found);
  for (auto &[stub, function] : module->functions) all.functions.erase(stub);
  for (auto &[shadow, variable] : module->variables) all.variables.erase(shadow);
  for (CUmodule loaded : module->loaded)
    if (loaded) driver().cuModuleUnload(loaded);
  delete module;
}

void addFunction(Module *module, const void *stub, const char *name) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  auto function = std::make_unique<Function>();
  function->module = module;
  function->name = name;
  all.functions.insert(stub, function.get());
  module->functions.emplace_back(stub, std::move(function));
}

void addVariable(Module *module, const void *shadow, const char *name, std::size_t size, void **managed) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  auto variable = std::make_unique<Variable>();
  variable->module = module;
  variable->name = name;
  variable->size = size;
  variable->managed = managed;
  all.variables.insert(shadow, variable.get());
  module->variables.emplace_back(shadow, std::move(variable));
}

void addReference(Module *, const void *shadow, const char *name) {
  std::lock_guard lock(registry().mutex);
  registry().references.insert(shadow, name);
}

void addKernel(CUkernel kernel) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  if (all.functions.find(kernel)) return;
  auto function = std::make_unique<Function>();
  function->kernel = kernel;
  all.functions.insert(kernel, function.get());
  all.kernels.push_back(std::move(function));
}

void removeKernel(CUkernel kernel) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  all.functions.erase(kernel);
  std::erase_if(all.kernels, [&](auto &function) { return function->kernel == kernel; });
}

const void *stubOf(CUfunction function) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  auto isIn = [&](const Function &record) {
    return std::any_of(record.loaded.begin(), record.loaded.end(), [&](auto &loaded) { return loaded == function; });
  };
  for (Module *module : all.modules)
    for (auto &[stub, record] : module->functions)
      if (isIn(*record)) return stub;
  for (auto &record : all.kernels)
    if (isIn(*record)) return record->kernel;
  return nullptr;
}

cudaError_t loadFunction(const void *stub, Context &context, CUfunction &loaded) {
  Function *function = registry().functions.find(stub);
  if (!function) return cudaErrorInvalidDeviceFunction;
  loaded = function->loaded[context.slot].load(std::memory_order_acquire);
  if (loaded) return cudaSuccess;
  std::lock_guard lock(registry().mutex);
  cudaError_t error = function->kernel ? toError(driver().cuKernelGetFunction(&loaded, function->kernel))
                                       : loadRegistered(*function, context, loaded);
  if (error == cudaSuccess) function->loaded[context.slot].store(loaded, std::memory_order_release);
  return error;
}

cudaError_t functionFor(const void *stub, CUfunction &function) {
  Context *context;
  if (cudaError_t error = bindContext(context)) return error;
  return loadFunction(stub, *context, function);
}

cudaError_t symbolFor(const void *shadow, CUdeviceptr &address, std::size_t &size) {
  Context *context;
  if (cudaError_t error = bindContext(context)) return error;
  Variable *variable = registry().variables.find(shadow);
  if (!variable) variable = managedAt(shadow);
  if (!variable) {
    if (const char *name = registry().references.find(shadow)) return notSupported(name);
    return cudaErrorInvalidSymbol;
  }
  size = variable->size;
  address = variable->loaded[context->slot].load(std::memory_order_acquire);
  if (address) return cudaSuccess;
  std::lock_guard lock(registry().mutex);
  if (cudaError_t error = loadVariable(*variable, *context)) return error;
  address = variable->loaded[context->slot];
  return cudaSuccess;
}

void dropLoaded(Context &context) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  for (Module *module : all.modules) unload(*module, context.slot);
  for (auto &kernel : all.kernels) kernel->loaded[context.slot] = nullptr;
}

cudaError_t initModule(Module *module) {
  Context *context;
  if (cudaError_t error = bindContext(context)) return error;
  std::lock_guard lock(registry().mutex);
  for (auto &[shadow, variable] : module->variables) {
    if (!variable->managed) continue;
    if (cudaError_t error = loadVariable(*variable, *context)) return error;
  }
  return cudaSuccess;
}

}  // namespace strata::runtime
