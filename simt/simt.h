// SPDX-License-Identifier: Apache-2.0
// The door of simt/: compile PTX kernels for this CPU, and run them. Two halves:
//  - Codegen (LLVM) lives in its own shared library, libstrata_codegen.so, loaded on the first cache miss.
//  - the Engine and image loading (no LLVM) are linked into the driver.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/recycled.h"
#include "base/result.h"
#include "simt/abi.h"
#include "simt/target/simd_level.h"

namespace strata::simt {

// ---- What a module holds, without any machine code ----------------------------------------------

struct ParamInfo {
  std::uint32_t offset = 0, size = 0, alignment = 1;  // bytes
};

struct KernelInfo {
  std::string name;
  std::vector<ParamInfo> params;
  std::uint32_t paramBytes = 0;
  std::uint32_t staticShared = 0;   // bytes
  std::uint32_t localBytes = 0;     // .local bytes per thread
  std::uint32_t registers = 0;      // an estimate (live PTX registers, capped at 255), for occupancy
  std::uint32_t maxThreads = 1024;  // from .maxntid/.reqntid
  std::uint32_t reqntid[3] = {0, 0, 0};
  std::uint32_t clusterDim[3] = {0, 0, 0};
  bool usesBarrier = false;
  bool usesThreadY = false;  // reads %tid.y: its blocks are rectangles
};

struct GlobalInfo {
  std::string name;
  std::uint64_t offset = 0, size = 0;  // in the module's globals block
  bool constant = false, managed = false;
};

// An 8-byte slot of the globals block that holds address of the block + target (set when loading).
struct GlobalRelocation {
  std::uint64_t offset = 0;
  std::uint64_t target = 0;
};

struct ModuleInfo {
  std::vector<KernelInfo> kernels;
  std::vector<GlobalInfo> globals;
  std::uint64_t globalsSize = 0;           // bytes; alignment 256
  std::vector<std::uint8_t> globalsImage;  // initial contents of the first bytes; the others are zeros
  std::vector<GlobalRelocation> relocations;
};

// ---- Compilation --------------------------------------------------------------------------------

enum class Mode : std::uint32_t { vector, lane };

// The best target this CPU has, or what STRATA_SIMD asks for (an error if the CPU lacks it).
Result<Simd> hostSimd();

struct CompileOptions {
  Simd simd = kMostSimd;
  Mode mode = Mode::vector;               // codegen may answer with lane mode where vector mode cannot make progress
  std::uint32_t blockDim[3] = {0, 0, 0};  // 0: any shape; else the code may assume exactly this
  bool blockMultipleOf32 = false;         // blockDim.x is a multiple of 32
  bool lineInfo = true;                   // keep a table from code to source lines
  bool hostExtensions =
      true;            // use what this CPU has beyond the target; false: the code runs on each CPU of the target
  std::string passes;  // as in STRATA_PASSES
  auto operator<=>(const CompileOptions &) const = default;
};

// Machine code of one kernel and what is needed to run it. Serialised as it is into the cache.
struct KernelImage {
  EntryKind entryKind = EntryKind::warp;
  bool takesTurns = false;           // blocks that lie side by side gain from running in turns (Runtime::turn)
  std::uint32_t stackBytes = 0;      // per fiber, an estimate; 0: unknown
  std::vector<std::uint8_t> object;  // ELF relocatable; entry symbol "strata_entry"
  std::string report;                // per source line: what was vectorised and why not
};

// The whole module once parsed; kernels are compiled on demand. Thread-safe.
class CodegenModule {
public:
  virtual ~CodegenModule() = default;
  virtual const ModuleInfo &info() const = 0;
  virtual Result<KernelImage> compile(std::string_view kernel, const CompileOptions &options) = 0;
  // stage: "ptx", "lane", "vector", "asm", "why", "passes" or the name of a pass. For `strata inspect`.
  virtual Result<std::string> inspect(std::string_view kernel, const CompileOptions &options,
                                      std::string_view stage) = 0;
};

// Entry of libstrata_codegen.so, found by name "strata_codegen_open" with this type. Returns null and
// sets *error (user: PTX rejected; unsupported; internal).
using CodegenOpen = CodegenModule *(*)(const char *ptx, std::size_t size, Error *error);
// "strata_codegen_link": links PTX texts into one PTX text, as nvlink would. Errors name the texts by `names`, which
// may be empty.
using CodegenLink = Result<std::string> (*)(const std::vector<std::string> &ptx, const std::vector<std::string> &names);

// A module opened through the cache: LLVM is not touched while everything is found on disk.
class Module {
public:
  virtual ~Module() = default;
  virtual const ModuleInfo &info() const = 0;
};

// What a module is made of.
struct ModuleSource {
  std::vector<std::string> ptx;  // several texts, or relocatable ones, are linked first
  bool relocatable = false;
  std::vector<std::vector<std::uint8_t>> natives;  // images of the same PTX's machine code (simt/exec/native_image.h)
  std::vector<std::string> names = {};             // of the texts, for errors of the link; empty: unknown
};
// Natives that are for another CPU or engine, or damaged, are left aside, and the PTX is compiled.
Result<std::shared_ptr<Module>> openModule(ModuleSource source);
inline Result<std::shared_ptr<Module>> openModule(std::string ptx) {
  return openModule(ModuleSource{{std::move(ptx)}, false, {}});
}
Result<std::string> linkPtx(const std::vector<std::string> &ptx, const std::vector<std::string> &names = {});

class CodeImage;  // simt/exec/image.h: mapped machine code

// Machine code in memory, ready to call.
struct Kernel {
  std::shared_ptr<Module> module;
  const KernelInfo *info = nullptr;  // owned by module
  EntryKind entryKind = EntryKind::warp;
  bool takesTurns = false;
  void *entry = nullptr;  // BlockEntry or WarpEntry
  std::uint32_t stackBytes = 0;
  std::string whyLane;                    // in lane mode: why; may be empty
  std::shared_ptr<const CodeImage> code;  // owns the mapping
};
// Maps an image that codegen made, past all caches. `info` must live as long as `module`. For tests and tools.
Result<std::shared_ptr<const Kernel>> makeKernel(std::shared_ptr<Module> module, const KernelInfo *info,
                                                 KernelImage image);
// Compiles (or loads from the cache) for this block shape. Thread-safe; the same request is compiled once.
Result<std::shared_ptr<const Kernel>> loadKernel(const std::shared_ptr<Module> &module, std::string_view name,
                                                 const std::uint32_t blockDim[3]);

// ---- Execution ----------------------------------------------------------------------------------

struct Fault {
  FaultKind kind = FaultKind::none;
  std::string kernel;
  std::uint32_t block[3] = {0, 0, 0}, thread[3] = {0, 0, 0};
  std::uint64_t address = 0;
  std::string source;   // "file:line" if known
  std::string message;  // one line, for the log
};

// A kernel's parameters, laid out as it reads them.
using Params = std::vector<std::uint8_t, RecycledElements<std::uint8_t>>;

struct LaunchRequest {
  std::shared_ptr<const Kernel> kernel;
  std::uint32_t gridDim[3] = {1, 1, 1}, blockDim[3] = {1, 1, 1}, clusterDim[3] = {1, 1, 1};
  std::uint32_t dynamicShared = 0;
  Params params;
  std::uint8_t *globals = nullptr;
  std::uint64_t gridId = 0;
  bool cooperative = false;  // all blocks resident
  bool explicitCluster = false;
  std::uint64_t group = 0;  // who may help in waitFor: the stream's number, as the driver counts; 0: workers only
};

inline constexpr std::uint64_t kAnyGroup = ~std::uint64_t{0};

// The worker threads of one CPU device. All calls are thread-safe.
class Engine {
public:
  virtual ~Engine() = default;  // waits for what runs
  virtual std::uint32_t workers() const = 0;
  // Runs the launch on the workers; `done` is called once, on a worker or on a thread in waitFor, with the
  // first fault (kind none if it finished). It must not block. Launches submitted together may run at the same time.
  virtual void submit(LaunchRequest request, std::function<void(const Fault &)> done) = 0;
  // Runs a host task (copies, fills) on a worker, or on a thread that waits for its group. Should the workers
  // all be busy with kernels that wait for one another or for the host, threads are added: a task always runs.
  virtual void post(std::function<void()> task, std::uint64_t group = 0) = 0;
  // Stops running and submitted launches, at a safe point or by signal; they end with `interrupted`. Returns when
  // none runs any more. Not async-signal-safe.
  virtual void interrupt() = 0;
  // Spins briefly, then sleeps, until *flag is non-zero. Meanwhile the calling thread runs blocks and tasks of
  // `group` (kAnyGroup: of all): name only work that the flag waits for, since a kernel of another group may itself
  // wait for this thread.
  virtual void waitFor(const std::atomic<std::uint32_t> &flag, std::uint64_t group = 0) = 0;
  // Wakes threads in waitFor on `flag` after it was set.
  virtual void wake(std::atomic<std::uint32_t> &flag) = 0;
  // Device heap of malloc() in kernels, bytes (cudaLimitMallocHeapSize); fiber stack limit (cudaLimitStackSize).
  virtual void setLimits(std::uint64_t heapBytes, std::uint64_t stackBytesPerThread) = 0;
};

// The device's memory window: the executor uses it to tell a kernel's bad access from a bug in Strata.
struct AddressWindow {
  std::uint64_t begin = 0, end = 0;
};
std::unique_ptr<Engine> makeEngine(std::uint32_t workers, AddressWindow window);

}  // namespace strata::simt
