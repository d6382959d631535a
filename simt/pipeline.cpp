// SPDX-License-Identifier: Apache-2.0
#include "simt/pipeline.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <ctime>
#include <utility>

#include "simt/emit/vectorize.h"
#include "simt/jit/machine_calls.h"
#include "simt/jit/machine_code.h"
#include "simt/jit/math/expand.h"
#include "simt/jit/math/narrow_storage.h"
#include "simt/jit/optimize.h"
#include "simt/lower/lower.h"
#include "simt/passes/machine/branchless_masks.h"
#include "simt/passes/machine/part_halves.h"
#include "simt/passes/machine/split_lanes.h"

namespace strata::simt {
namespace {

std::string textOf(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

Result<void> verified(const llvm::Module &module, const char *stage) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!llvm::verifyModule(module, &stream)) return {};
  return internalError("invalid IR after " + std::string(stage) + " of " + module.getName().str() + ": " + problem);
}

class Stopwatch {
public:
  // Milliseconds of this thread's processor time since the last call: other kernels may be compiled beside it.
  double lap() {
    const double now = time();
    return now - std::exchange(last_, now);
  }

private:
  static double time() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
  }
  double last_ = time();
};

// Lane code stays as it is but for the entry's name.
Result<void> finishLaneMode(llvm::Module &module, llvm::Function &kernel, KernelImage &image) {
  image.entryKind = EntryKind::lane;
  kernel.setName("strata_entry");
  return expandLaneForms(module);
}

Result<void> toWarpOrLane(llvm::Module &module, llvm::Function &kernel, const CompileOptions &options,
                          KernelImage &image) {
  if (options.mode == Mode::lane) {
    image.report =
        "kernel: lane mode (as asked for: lanes run one by one, and nothing is vectorised; vector mode shows what can "
        "be)\n";
    return finishLaneMode(module, kernel, image);
  }
  Result<VectorizeResult> r = vectorize(module, kernel, {options});
  if (!r) return r.error();
  image.entryKind = r->entryKind;
  image.takesTurns = r->takesTurns;
  image.report = r->report;
  if (!r->needsLaneMode) return {};
  image.report = "kernel: lane mode (" + r->laneModeReason + ")\n" + image.report;
  return finishLaneMode(module, kernel, image);
}

}  // namespace

Result<CompileResult> compileKernel(const ptx::Module &source, std::string_view kernelName,
                                    const CompileOptions &options, bool wantTexts) {
  CompileResult out;
  Stopwatch watch;
  const CpuFeatures cpu = cpuFeatures(options.simd, options.hostExtensions);
  auto target = makeTargetMachine(cpu);
  if (!target) return target.error();

  llvm::LLVMContext context;
  auto lowered = lower(context, (*target)->createDataLayout(), source, kernelName, options);
  if (!lowered) return lowered.error();
  llvm::Module &module = **lowered;
  llvm::Function &kernel = *module.getFunction(llvm::StringRef(kernelName.data(), kernelName.size()));
  setFunctionAttributes(module, cpu);
  out.times.lower = watch.lap();

  optimizeLane(module, **target);
  if (wantTexts) out.texts.lane = textOf(module);
  out.times.optimizeLane = watch.lap();

  if (auto done = toWarpOrLane(module, kernel, options, out.image); !done) return done.error();
  if (wantTexts) out.texts.vector = textOf(module);
  out.times.vectorize = watch.lap();

  if (auto done = expandMachineCalls(module); !done) return done.error();
  if (auto done = expandMath(module, cpu); !done) return done.error();
  if (auto done = verified(module, "expansion"); !done) return done.error();
  setFunctionAttributes(module, cpu);
  out.times.expand = watch.lap();

  optimizeMachine(module, **target);
  if (auto done = expandMath(module, cpu); !done) return done.error();  // InstCombine narrows to half where it can
  storeNarrowFloatsAsIntegers(module, cpu);
  if (cpu.avx512)
    for (llvm::Function &f : module) {
      partHalves(f);
      splitLanes(f, /*lanes=*/16, /*registers=*/32);
    }
  expandMaskedAccesses(module, **target);
  out.times.optimizeMachine = watch.lap();

  if (wantTexts) {
    Assembly assembly = emitAssembly(module, **target);
    out.texts.assembly = std::move(assembly.text);
    out.texts.why = out.image.report + assembly.spills;
  }
  auto code = emitObject(module, **target);
  if (!code) return code.error();
  out.image.object = std::move(code->object);
  out.image.stackBytes = code->stackBytes;
  out.times.emit = watch.lap();
  return out;
}

}  // namespace strata::simt
