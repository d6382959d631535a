// SPDX-License-Identifier: Apache-2.0
#include "driver/entries.h"
#include "driver/entry.h"
#include "driver/memory.h"
#include "driver/module.h"

namespace strata::driver {

Library::Library(std::shared_ptr<simt::Module> code, std::uint32_t ptxVersion)
    : code(std::move(code)), ptxVersion(ptxVersion) {
  for (const simt::KernelInfo &info : this->code->info().kernels) {
    auto kernel = makeRef<LibraryKernel>(*this, info);
    kernel->handle = handles<LibraryKernel, CUkernel>().add(kernel);
    kernels.push_back(std::move(kernel));
  }
}

CUresult Library::moduleIn(Context &context, Module *&module) {
  std::lock_guard lock(mutex_);
  Ref<Module> &known = modules_[context.id];
  if (!known) {
    CUresult result = Module::create(context, code, ptxVersion, this, known);
    if (result != CUDA_SUCCESS) {
      modules_.erase(context.id);
      return result;
    }
  }
  module = known.get();
  return CUDA_SUCCESS;
}

void Library::forget(const Context &context) {
  std::lock_guard lock(mutex_);
  modules_.erase(context.id);
}

void Library::unload() {
  for (const auto &kernel : kernels) handles<LibraryKernel, CUkernel>().remove(kernel->handle);
  std::lock_guard lock(mutex_);
  for (auto &[id, module] : modules_) {
    for (const auto &function : module->functions()) handles<Function, CUfunction>().remove(function->handle);
    handles<Module, CUmodule>().remove(module->handle);
  }
  modules_.clear();
}

CUresult resolveFunction(CUfunction handle, Context &context, Function *&function) {
  function = handles<Function, CUfunction>().find(handle);
  if (function) return CUDA_SUCCESS;
  auto *kernel = handles<LibraryKernel, CUkernel>().find(reinterpret_cast<CUkernel>(handle));
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  Module *module = nullptr;
  if (CUresult result = kernel->library.moduleIn(context, module); result != CUDA_SUCCESS) return result;
  function = module->function(kernel->info.name);
  return CUDA_SUCCESS;
}

namespace {

Library *findLibrary(CUlibrary handle) { return handles<Library, CUlibrary>().find(handle); }
LibraryKernel *findKernel(CUkernel handle) { return handles<LibraryKernel, CUkernel>().find(handle); }

CUresult checkOptions(unsigned count, CUlibraryOption *options, void **values) {
  if (!validList(options, count)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE) return CUDA_ERROR_NOT_SUPPORTED;
    if (options[i] != CU_LIBRARY_BINARY_IS_PRESERVED) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult add(CUlibrary *library, const LoadedImage &image) {
  auto made = makeRef<Library>(image.code, image.ptxVersion);
  made->handle = handles<Library, CUlibrary>().add(made);
  if (!made->handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *library = made->handle;
  return CUDA_SUCCESS;
}

// The context that a query about a device's kernel means: the current one if it is of the device, else the
// device's primary context, if that is active.
CUresult contextOf(CUdevice ordinal, Context *&context) {
  Device *device = findDevice(ordinal);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  context = currentContext();
  if (!context || &context->device != device) context = &device->primary();
  return CUDA_SUCCESS;
}

CUresult functionOn(CUkernel handle, CUdevice device, Function *&function) {
  if (!findKernel(handle)) return CUDA_ERROR_INVALID_HANDLE;
  Context *context = nullptr;
  if (CUresult result = contextOf(device, context); result != CUDA_SUCCESS) return result;
  return resolveFunction(reinterpret_cast<CUfunction>(handle), *context, function);
}

CUresult findGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary handle, const char *name, bool managed) {
  if ((!dptr && !bytes) || !name || !*name || !handle) return CUDA_ERROR_INVALID_VALUE;
  Library *library = findLibrary(handle);
  if (!library) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult result = checkGate(Gate::live); result != CUDA_SUCCESS) return result;
  Module *module = nullptr;
  if (CUresult result = library->moduleIn(*currentContext(), module); result != CUDA_SUCCESS) return result;
  const simt::GlobalInfo *global = module->global(name);
  if (!global || (managed && !global->managed)) return CUDA_ERROR_NOT_FOUND;
  if (dptr) *dptr = reinterpret_cast<std::uint64_t>(module->globals) + global->offset;
  if (bytes) *bytes = global->size;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult entry::cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                  void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                  void **libraryOptionValues, unsigned int numLibraryOptions) {
  if (!library || !code) return CUDA_ERROR_INVALID_VALUE;
  JitOptions options;
  CUresult result = parseJitOptions(numJitOptions, jitOptions, jitOptionsValues, options);
  if (result == CUDA_SUCCESS) result = checkOptions(numLibraryOptions, libraryOptions, libraryOptionValues);
  LoadedImage loaded;
  if (result == CUDA_SUCCESS) result = loadImage(code, 0, options, loaded);
  return result == CUDA_SUCCESS ? add(library, loaded) : result;
}

CUresult entry::cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                                      void **jitOptionsValues, unsigned int numJitOptions,
                                      CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                      unsigned int numLibraryOptions) {
  if (!library || !fileName) return CUDA_ERROR_INVALID_VALUE;
  JitOptions options;
  CUresult result = parseJitOptions(numJitOptions, jitOptions, jitOptionsValues, options);
  if (result == CUDA_SUCCESS) result = checkOptions(numLibraryOptions, libraryOptions, libraryOptionValues);
  LoadedImage loaded;
  if (result == CUDA_SUCCESS) result = loadImageFile(fileName, options, loaded);
  return result == CUDA_SUCCESS ? add(library, loaded) : result;
}

CUresult entry::cuLibraryUnload(CUlibrary library) {
  Ref<Library> removed = handles<Library, CUlibrary>().remove(library);
  if (!removed) return CUDA_ERROR_INVALID_HANDLE;
  removed->unload();
  return CUDA_SUCCESS;
}

CUresult entry::cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name) {
  if (!pKernel || !name || !*name || !library) return CUDA_ERROR_INVALID_VALUE;
  Library *found = findLibrary(library);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto &kernel : found->kernels) {
    if (kernel->info.name != name) continue;
    *pKernel = kernel->handle;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult entry::cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib) {
  if (!count || !lib) return CUDA_ERROR_INVALID_VALUE;
  Library *library = findLibrary(lib);
  if (!library) return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned>(library->kernels.size());
  return CUDA_SUCCESS;
}

CUresult entry::cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib) {
  if (!kernels || !lib) return CUDA_ERROR_INVALID_VALUE;
  Library *library = findLibrary(lib);
  if (!library) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < numKernels && i < library->kernels.size(); ++i) kernels[i] = library->kernels[i]->handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuLibraryGetModule(CUmodule *pMod, CUlibrary library) {
  if (!pMod || !library) return CUDA_ERROR_INVALID_VALUE;
  Library *found = findLibrary(library);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult result = checkGate(Gate::live); result != CUDA_SUCCESS) return result;
  Module *module = nullptr;
  if (CUresult result = found->moduleIn(*currentContext(), module); result != CUDA_SUCCESS) return result;
  *pMod = module->handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name) {
  return findGlobal(dptr, bytes, library, name, false);
}

CUresult entry::cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name) {
  return findGlobal(dptr, bytes, library, name, true);
}

CUresult entry::cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel) {
  if (!pFunc || !kernel) return CUDA_ERROR_INVALID_VALUE;
  if (!findKernel(kernel)) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult result = checkGate(Gate::live); result != CUDA_SUCCESS) return result;
  Function *function = nullptr;
  CUresult result = resolveFunction(reinterpret_cast<CUfunction>(kernel), *currentContext(), function);
  if (result == CUDA_SUCCESS) *pFunc = function->handle;
  return result;
}

CUresult entry::cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel) {
  if (!pLib || !kernel) return CUDA_ERROR_INVALID_VALUE;
  LibraryKernel *found = findKernel(kernel);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  *pLib = found->library.handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
  Function *function = nullptr;
  CUresult result = functionOn(kernel, dev, function);
  if (result == CUDA_SUCCESS && !pi) return CUDA_ERROR_INVALID_VALUE;
  return result == CUDA_SUCCESS ? function->attribute(attrib, *pi) : result;
}

CUresult entry::cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
  Function *function = nullptr;
  CUresult result = functionOn(kernel, dev, function);
  return result == CUDA_SUCCESS ? function->setAttribute(attrib, val) : result;
}

CUresult entry::cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
  Function *function = nullptr;
  CUresult result = functionOn(kernel, dev, function);
  if (result == CUDA_SUCCESS && config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  return result;  // a hint, as in cuCtxSetCacheConfig
}

CUresult entry::cuKernelGetName(const char **name, CUkernel hfunc) {
  if (!name || !hfunc) return CUDA_ERROR_INVALID_VALUE;
  LibraryKernel *kernel = findKernel(hfunc);
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  *name = kernel->info.name.c_str();
  return CUDA_SUCCESS;
}

CUresult entry::cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize) {
  if (!paramOffset || !kernel) return CUDA_ERROR_INVALID_VALUE;
  LibraryKernel *found = findKernel(kernel);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (paramIndex >= found->info.params.size()) return CUDA_ERROR_INVALID_VALUE;
  *paramOffset = found->info.params[paramIndex].offset;
  if (paramSize) *paramSize = found->info.params[paramIndex].size;
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
