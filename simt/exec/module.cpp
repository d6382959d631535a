// SPDX-License-Identifier: Apache-2.0
// Modules and kernels: memory first, then the disk cache, then the code generator.
#include "simt/exec/module.h"

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/knobs.h"
#include "base/log.h"
#include "simt/exec/cache.h"
#include "simt/exec/cache_key.h"
#include "simt/exec/codegen_library.h"
#include "simt/exec/image.h"
#include "simt/exec/long_compilation.h"
#include "simt/exec/native_image.h"
#include "simt/exec/serialize.h"

namespace strata::simt {
namespace {

constexpr std::size_t kMaxExactShapes = 8;  // variants of one kernel for odd block shapes; then the general one

using Shape = std::array<std::uint32_t, 3>;
using KernelPtr = std::shared_ptr<const Kernel>;
using VariantKey = std::pair<std::string, CompileOptions>;

// "…" of a report's first line "kernel: lane mode (…)".
std::string reasonIn(const std::string &report) {
  const std::string line = report.substr(0, report.find('\n'));
  const std::size_t open = line.find('('), close = line.rfind(')');
  return open < close && close != line.npos ? line.substr(open + 1, close - open - 1) : "";
}

class ModuleImpl final : public Module, public std::enable_shared_from_this<ModuleImpl> {
public:
  ModuleImpl(ModuleSource source, const CacheKey &sourceKey);

  const ModuleInfo &info() const override { return info_; }
  Result<void> open();
  Result<KernelPtr> kernel(std::string_view name, const std::uint32_t blockDim[3], CompileOptions options);

private:
  // The code stays as long as the module; the Kernel, which owns the module, only while someone holds it.
  struct Variant {
    bool busy = false;  // a thread is making it
    std::shared_ptr<const CodeImage> code;
    EntryKind entryKind = EntryKind::warp;
    bool takesTurns = false;
    std::uint32_t stackBytes = 0;
    std::string whyLane;
    std::weak_ptr<const Kernel> kernel;
  };

  Result<CodegenModule *> codegen();
  Result<KernelImage> image(std::string_view name, const CompileOptions &options);
  Result<void> make(Variant &variant, std::string_view name, const CompileOptions &options);
  KernelPtr wrap(Variant &variant, const KernelInfo &info);
  void specialise(std::string_view name, const std::uint32_t blockDim[3], CompileOptions &options);

  const CacheKey key_;
  ModuleSource source_;
  std::unique_ptr<NativeImage> native_;  // or null
  ModuleInfo info_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<VariantKey, Variant> variants_;
  std::map<std::string, std::set<Shape>, std::less<>> exactShapes_;

  std::mutex codegenMutex_;
  std::unique_ptr<CodegenModule> codegen_;
};

ModuleImpl::ModuleImpl(ModuleSource source, const CacheKey &sourceKey)
    : key_(moduleKey(sourceKey)), source_(std::move(source)) {
  if (auto simd = hostSimd()) native_ = chooseNative(std::exchange(source_.natives, {}), sourceKey, *simd);
}

STRATA_FOREIGN_VTABLE Result<void> ModuleImpl::open() {
  if (native_) {
    info_ = native_->table().info;
    return {};
  }
  DiskCache &cache = DiskCache::process();
  if (auto bytes = cache.get(key_)) {
    if (auto info = deserializeModule(*bytes)) {
      info_ = std::move(*info);
      return {};
    }
    cache.remove(key_);
  }
  auto module = codegen();
  if (!module) return module.error();
  info_ = (*module)->info();
  cache.put(key_, serialize(info_));
  return {};
}

Result<CodegenModule *> ModuleImpl::codegen() {
  std::lock_guard lock(codegenMutex_);
  if (codegen_) return codegen_.get();
  auto opened = openCodegen(source_);
  if (!opened) return opened.error();
  codegen_ = std::move(*opened);
  return codegen_.get();
}

STRATA_FOREIGN_VTABLE Result<KernelImage> ModuleImpl::image(std::string_view name, const CompileOptions &options) {
  auto module = codegen();
  if (!module) return module.error();
  const LongCompilation named{std::string(name)};
  return (*module)->compile(name, options);
}

Result<void> ModuleImpl::make(Variant &variant, std::string_view name, const CompileOptions &options) {
  auto install = [&](KernelImage &&image) -> Result<void> {
    auto code = CodeImage::load(std::move(image.object));
    if (!code) return code.error();
    variant.code = std::move(*code);
    variant.entryKind = image.entryKind;
    variant.takesTurns = image.takesTurns;
    variant.stackBytes = image.stackBytes;
    if (image.entryKind == EntryKind::lane) variant.whyLane = reasonIn(image.report);
    return {};
  };
  if (auto image = native_ ? native_->kernel(name, options) : std::nullopt)
    if (install(std::move(*image))) return {};
  DiskCache &cache = DiskCache::process();
  const CacheKey key = kernelKey(key_, name, options);
  if (auto bytes = cache.get(key)) {
    if (auto image = deserializeKernel(*bytes))
      if (install(std::move(*image))) return {};
    cache.remove(key);
  }
  auto compiled = image(name, options);
  if (!compiled) return compiled.error();
  std::vector<std::uint8_t> bytes = serialize(*compiled);
  if (auto installed = install(std::move(*compiled)); !installed) return installed;
  cache.put(key, bytes);
  return {};
}

// Warps that are all full need no masks for missing lanes. Where they are not, a few exact shapes are worth
// their own code; beyond these, code for any shape.
void ModuleImpl::specialise(std::string_view name, const std::uint32_t blockDim[3], CompileOptions &options) {
  if (blockDim[0] % kWarpSize) {
    const Shape shape = {blockDim[0], blockDim[1], blockDim[2]};
    auto &shapes = exactShapes_.try_emplace(std::string(name)).first->second;
    if (!shapes.contains(shape) && shapes.size() >= kMaxExactShapes) return;
    shapes.insert(shape);
  }
  specialiseFor(blockDim, options);
}

KernelPtr ModuleImpl::wrap(Variant &variant, const KernelInfo &info) {
  if (KernelPtr kernel = variant.kernel.lock()) return kernel;
  auto kernel = std::make_shared<Kernel>();
  kernel->module = shared_from_this();
  kernel->info = &info;
  kernel->entryKind = variant.entryKind;
  kernel->takesTurns = variant.takesTurns;
  kernel->entry = variant.code->entry();
  kernel->stackBytes = variant.stackBytes;
  kernel->whyLane = variant.whyLane;
  kernel->code = variant.code;
  variant.kernel = kernel;
  return kernel;
}

Result<KernelPtr> ModuleImpl::kernel(std::string_view name, const std::uint32_t blockDim[3], CompileOptions options) {
  const KernelInfo *info = nullptr;
  for (const KernelInfo &candidate : info_.kernels)
    if (candidate.name == name) info = &candidate;
  if (!info) return userError("the module has no kernel '" + std::string(name) + "'");

  std::unique_lock lock(mutex_);
  specialise(name, blockDim, options);
  Variant &variant = variants_[VariantKey(name, options)];
  changed_.wait(lock, [&] { return !variant.busy; });
  if (variant.code) return wrap(variant, *info);
  variant.busy = true;
  lock.unlock();
  struct Made {  // also where making it throws
    ~Made() {
      lock.lock();
      variant.busy = false;
      changed.notify_all();
    }
    std::unique_lock<std::mutex> &lock;
    Variant &variant;
    std::condition_variable &changed;
  };
  Result<void> made = [&] {
    Made end{lock, variant, changed_};
    return make(variant, name, options);
  }();
  if (!made) return made.error();
  return wrap(variant, *info);
}

// Open modules by their PTX: a text that is loaded twice is parsed and compiled once.
struct OpenModules {
  std::mutex mutex;
  std::map<CacheKey, std::weak_ptr<ModuleImpl>> modules;
};

OpenModules &openModules() {
  static OpenModules *open = new OpenModules;
  return *open;
}

}  // namespace

Result<std::shared_ptr<Module>> openModule(ModuleSource source) {
  const CacheKey key = sourceKey(source.ptx, source.relocatable);
  OpenModules &open = openModules();
  {
    std::lock_guard lock(open.mutex);
    if (auto found = open.modules.find(key); found != open.modules.end())
      if (auto module = found->second.lock()) return std::shared_ptr<Module>(std::move(module));
  }
  auto module = std::make_shared<ModuleImpl>(std::move(source), key);
  if (auto opened = module->open(); !opened) return opened.error();
  std::lock_guard lock(open.mutex);
  std::erase_if(open.modules, [](const auto &entry) { return entry.second.expired(); });
  auto &slot = open.modules[key];
  if (auto other = slot.lock()) return std::shared_ptr<Module>(std::move(other));
  slot = module;
  return std::shared_ptr<Module>(std::move(module));
}

Result<std::string> wholePtx(const ModuleSource &source) {
  if (source.relocatable || source.ptx.size() != 1) return linkPtx(source.ptx, source.names);
  return source.ptx[0];
}

STRATA_FOREIGN_VTABLE Result<std::unique_ptr<CodegenModule>> openCodegen(const ModuleSource &source) {
  auto library = codegenLibrary();
  if (!library) return library.error();
  const Result<std::string> ptx = wholePtx(source);
  if (!ptx) return ptx.error();
  Error error = internalError("the code generator gave no reason");
  std::unique_ptr<CodegenModule> module((*library)->open(ptx->data(), ptx->size(), &error));
  if (!module) return error;
  return module;
}

void specialiseFor(const std::uint32_t blockDim[3], CompileOptions &options) {
  options.blockMultipleOf32 = blockDim[0] % kWarpSize == 0;
  for (int i = 0; i < 3 && !options.blockMultipleOf32; ++i) options.blockDim[i] = blockDim[i];
}

Result<std::string> linkPtx(const std::vector<std::string> &ptx, const std::vector<std::string> &names) {
  auto library = codegenLibrary();
  if (!library) return library.error();
  return (*library)->link(ptx, names);
}

Result<std::shared_ptr<const Kernel>> loadKernelInMode(const std::shared_ptr<Module> &module, std::string_view name,
                                                       const std::uint32_t blockDim[3], Mode mode) {
  auto simd = hostSimd();
  if (!simd) return simd.error();
  CompileOptions options;
  options.simd = *simd;
  options.mode = mode;
  options.passes = knobs::get().STRATA_PASSES;
  auto *opened = dynamic_cast<ModuleImpl *>(module.get());
  if (!opened) return internalError("kernel '" + std::string(name) + "': its module was not opened by openModule");
  return opened->kernel(name, blockDim, options);
}

Result<std::shared_ptr<const Kernel>> loadKernel(const std::shared_ptr<Module> &module, std::string_view name,
                                                 const std::uint32_t blockDim[3]) {
  const std::string &mode = knobs::get().STRATA_MODE;
  auto kernel = loadKernelInMode(module, name, blockDim, mode == "lane" ? Mode::lane : Mode::vector);
  if (kernel && mode == "vector" && (*kernel)->entryKind == EntryKind::lane)
    return environmentError("STRATA_MODE=vector: kernel '" + std::string(name) + "' runs in lane mode only" +
                            ((*kernel)->whyLane.empty() ? "" : ": " + (*kernel)->whyLane));
  return kernel;
}

Result<std::shared_ptr<const Kernel>> makeKernel(std::shared_ptr<Module> module, const KernelInfo *info,
                                                 KernelImage image) {
  auto code = CodeImage::load(std::move(image.object));
  if (!code) return code.error();
  auto kernel = std::make_shared<Kernel>();
  kernel->module = std::move(module);
  kernel->info = info;
  kernel->entryKind = image.entryKind;
  kernel->takesTurns = image.takesTurns;
  kernel->entry = (*code)->entry();
  kernel->stackBytes = image.stackBytes;
  kernel->code = std::move(*code);
  return std::shared_ptr<const Kernel>(std::move(kernel));
}

}  // namespace strata::simt
