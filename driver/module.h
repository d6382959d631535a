// SPDX-License-Identifier: Apache-2.0
// Modules, their functions and variables; libraries, which are modules made per context on demand.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/context.h"
#include "driver/cuda_types.h"
#include "driver/handles.h"
#include "simt/simt.h"

namespace strata::driver {

class Module;
class Library;

// What a program may set on a function (CU_FUNC_ATTRIBUTE_*); kernels of libraries hand theirs on.
struct FunctionSettings {
  std::atomic<int> maxDynamicShared{-1};  // -1: the default, what 48 KiB leave beside the static part
  std::atomic<int> carveout{-1};
  std::atomic<int> clusterDim[3] = {0, 0, 0};
  std::atomic<int> nonPortableCluster{0};
  std::atomic<int> clusterPolicy{0};
};

class Function final : public Shared {
public:
  Function(Module &module, const simt::KernelInfo &info);

  Module &module;  // outlives its functions
  const simt::KernelInfo &info;
  CUfunction handle = nullptr;
  FunctionSettings settings;

  // Machine code for this block shape.
  Result<std::shared_ptr<const simt::Kernel>> kernel(const std::uint32_t blockDim[3]);

  // Most dynamic shared memory that a launch may ask for, bytes.
  std::uint32_t maxDynamicShared() const;
  CUresult attribute(CUfunction_attribute attribute, int &value) const;
  CUresult setAttribute(CUfunction_attribute attribute, int value);

private:
  using BlockShape = std::array<std::uint32_t, 3>;
  using Loaded = std::map<BlockShape, std::shared_ptr<const simt::Kernel>>;
  std::mutex mutex_;
  Loaded loaded_;  // the first shapes; what is here stays, since latest_ is read without the lock
  std::atomic<const Loaded::value_type *> latest_{nullptr};  // most launches have their predecessor's shape
};

class Module final : public Shared {
public:
  static CUresult create(Context &context, std::shared_ptr<simt::Module> code, std::uint32_t ptxVersion,
                         Library *library, Ref<Module> &module);
  ~Module() override;

  Context &context;
  CUmodule handle = nullptr;
  const std::shared_ptr<simt::Module> code;
  const std::uint32_t ptxVersion;  // target architecture of its PTX, 90 for sm_90
  Library *const library;          // that it belongs to, or null
  std::uint8_t *globals = nullptr;

  const std::vector<Ref<Function>> &functions() const { return functions_; }
  Function *function(std::string_view name) const;
  const simt::GlobalInfo *global(std::string_view name) const;

private:
  Module(Context &context, std::shared_ptr<simt::Module> code, std::uint32_t ptxVersion, Library *library);
  CUresult placeGlobals();

  std::vector<Ref<Function>> functions_;
};

// A kernel of a library: it stands for the function of the current context's module.
struct LibraryKernel final : Shared {
  LibraryKernel(Library &library, const simt::KernelInfo &info) : library(library), info(info) {}
  Library &library;
  const simt::KernelInfo &info;
  CUkernel handle = nullptr;
};

class Library final : public Shared {
public:
  Library(std::shared_ptr<simt::Module> code, std::uint32_t ptxVersion);

  CUlibrary handle = nullptr;
  const std::shared_ptr<simt::Module> code;
  const std::uint32_t ptxVersion;
  std::vector<Ref<LibraryKernel>> kernels;

  // The library's module in this context, made at the first call.
  CUresult moduleIn(Context &context, Module *&module);
  void forget(const Context &context);
  void unload();

private:
  std::mutex mutex_;
  std::map<std::uint64_t, Ref<Module>> modules_;  // by context id
};

// Ends all modules of a context.
void unloadModules(const Context &context);

// The function that a launch names: a CUfunction, or a CUkernel, whose function in `context` it is.
CUresult resolveFunction(CUfunction handle, Context &context, Function *&function);

// What cuModuleLoad* and cuLibraryLoad* take apart: see image.cpp.
struct JitOptions {
  char *infoLog = nullptr, *errorLog = nullptr;
  std::size_t infoBytes = 0, errorBytes = 0;
  void **infoSize = nullptr, **errorSize = nullptr;  // receive the sizes that were filled
  float *wallTime = nullptr;
};
CUresult parseJitOptions(unsigned count, CUjit_option *options, void **values, JitOptions &parsed);

struct LoadedImage {
  std::shared_ptr<simt::Module> code;
  std::uint32_t ptxVersion = 0;
};
// `image`: PTX text ending in NUL, a fat binary, or its wrapper; of unknown extent if `bytes` is 0.
CUresult loadImage(const void *image, std::size_t bytes, const JitOptions &options, LoadedImage &loaded);
CUresult loadImageFile(const char *path, const JitOptions &options, LoadedImage &loaded);
// What this device takes from an image.
CUresult findSource(const void *image, std::size_t bytes, const JitOptions &options, simt::ModuleSource &source);
// Reports an error of the compiler to the log buffers and the log; returns its API code.
CUresult reportCompileError(const Error &error, const JitOptions &options);

}  // namespace strata::driver
