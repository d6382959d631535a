// SPDX-License-Identifier: Apache-2.0
#include "driver/module.h"

#include <cstring>

#include "driver/entries.h"
#include "driver/memory.h"
#include "driver/stream.h"

namespace strata::driver {

Module::Module(Context &context, std::shared_ptr<simt::Module> code, std::uint32_t ptxVersion, Library *library)
    : context(context), code(std::move(code)), ptxVersion(ptxVersion), library(library) {}

CUresult Module::create(Context &context, std::shared_ptr<simt::Module> code, std::uint32_t ptxVersion,
                        Library *library, Ref<Module> &module) {
  auto made = Ref<Module>::adopt(new Module(context, std::move(code), ptxVersion, library));
  if (CUresult result = made->placeGlobals(); result != CUDA_SUCCESS) return result;
  for (const simt::KernelInfo &info : made->code->info().kernels) {
    auto function = makeRef<Function>(*made, info);
    function->handle = handles<Function, CUfunction>().add(function);
    made->functions_.push_back(std::move(function));
  }
  made->handle = handles<Module, CUmodule>().add(made);
  if (!made->handle) return CUDA_ERROR_OUT_OF_MEMORY;
  module = std::move(made);
  return CUDA_SUCCESS;
}

Module::~Module() {
  for (const auto &function : functions_) handles<Function, CUfunction>().remove(function->handle);
  if (globals) Memory::get().release(reinterpret_cast<std::uint64_t>(globals));
}

CUresult Module::placeGlobals() {
  const simt::ModuleInfo &info = code->info();
  if (!info.globalsSize) return CUDA_SUCCESS;
  Allocation wanted;
  wanted.size = info.globalsSize;
  wanted.kind = MemoryKind::globals;
  wanted.device = &context.device;
  std::uint64_t base = 0;
  if (CUresult result = Memory::get().allocate(wanted, base); result != CUDA_SUCCESS) return result;
  globals = reinterpret_cast<std::uint8_t *>(base);
  std::size_t given = std::min<std::size_t>(info.globalsImage.size(), info.globalsSize);
  std::memcpy(globals, info.globalsImage.data(), given);
  std::memset(globals + given, 0, info.globalsSize - given);
  for (const simt::GlobalRelocation &relocation : info.relocations) {
    std::uint64_t address = base + relocation.target;
    std::memcpy(globals + relocation.offset, &address, sizeof address);
  }
  return CUDA_SUCCESS;
}

Function *Module::function(std::string_view name) const {
  for (const auto &function : functions_)
    if (function->info.name == name) return function.get();
  return nullptr;
}

const simt::GlobalInfo *Module::global(std::string_view name) const {
  for (const simt::GlobalInfo &global : code->info().globals)
    if (global.name == name) return &global;
  return nullptr;
}

void unloadModules(const Context &context) {
  handles<Library, CUlibrary>().removeIf([&](Library &library) {
    library.forget(context);
    return false;
  });
  handles<Module, CUmodule>().removeIf([&](const Module &module) { return &module.context == &context; });
}

namespace {

CUresult load(CUmodule *module, const LoadedImage &image) {
  Ref<Module> made;
  CUresult result = Module::create(*currentContext(), image.code, image.ptxVersion, nullptr, made);
  if (result == CUDA_SUCCESS) *module = made->handle;
  return result;
}

CUresult loadData(CUmodule *module, const void *image, const JitOptions &options) {
  if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
  LoadedImage loaded;
  CUresult result = loadImage(image, 0, options, loaded);
  return result == CUDA_SUCCESS ? load(module, loaded) : result;
}

}  // namespace

CUresult entry::cuModuleLoad(CUmodule *module, const char *fname) {
  if (!module || !fname) return CUDA_ERROR_INVALID_VALUE;
  LoadedImage loaded;
  CUresult result = loadImageFile(fname, {}, loaded);
  return result == CUDA_SUCCESS ? load(module, loaded) : result;
}

CUresult entry::cuModuleLoadData(CUmodule *module, const void *image) { return loadData(module, image, {}); }

CUresult entry::cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) { return loadData(module, fatCubin, {}); }

CUresult entry::cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                                   void **optionValues) {
  JitOptions parsed;
  if (CUresult result = parseJitOptions(numOptions, options, optionValues, parsed); result != CUDA_SUCCESS)
    return result;
  return loadData(module, image, parsed);
}

CUresult entry::cuModuleUnload(CUmodule hmod) {
  Module *module = handles<Module, CUmodule>().find(hmod);
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  if (module->library) return CUDA_ERROR_NOT_PERMITTED;  // cuLibraryUnload ends it
  // Launches hold the module until they are done; its functions' handles end now.
  for (const auto &function : module->functions()) handles<Function, CUfunction>().remove(function->handle);
  handles<Module, CUmodule>().remove(hmod);
  return CUDA_SUCCESS;
}

CUresult entry::cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;  // kernels are compiled at their first launch
  return CUDA_SUCCESS;
}

CUresult entry::cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
  Module *module = handles<Module, CUmodule>().find(hmod);
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  if (!hfunc || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
  Function *function = module->function(name);
  if (!function) return CUDA_ERROR_NOT_FOUND;
  *hfunc = function->handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuModuleGetFunctionCount(unsigned int *count, CUmodule mod) {
  Module *module = handles<Module, CUmodule>().find(mod);
  if (!count || !mod) return CUDA_ERROR_INVALID_VALUE;
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned>(module->functions().size());
  return CUDA_SUCCESS;
}

CUresult entry::cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod) {
  Module *module = handles<Module, CUmodule>().find(mod);
  if (!functions || !mod) return CUDA_ERROR_INVALID_VALUE;
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < numFunctions && i < module->functions().size(); ++i)
    functions[i] = module->functions()[i]->handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name) {
  Module *module = handles<Module, CUmodule>().find(hmod);
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  if ((!dptr && !bytes) || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
  const simt::GlobalInfo *global = module->global(name);
  if (!global) return CUDA_ERROR_NOT_FOUND;
  if (dptr) *dptr = reinterpret_cast<std::uint64_t>(module->globals) + global->offset;
  if (bytes) *bytes = global->size;
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
