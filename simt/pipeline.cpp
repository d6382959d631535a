// SPDX-License-Identifier: Apache-2.0
#include "simt/pipeline.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <utility>

#include "simt/analysis/lane_intrinsics.h"
#include "simt/emit/kernel_entry.h"
#include "simt/jit/lane_forms.h"
#include "simt/jit/machine_code.h"
#include "simt/jit/math/expand.h"
#include "simt/jit/math/narrow_storage.h"
#include "simt/lower/lower.h"
#include "simt/pass.h"
#include "simt/passes/lane/alignment_checks.h"
#include "simt/passes/lane/choose_inlining.h"
#include "simt/passes/lane/count_rounds.h"
#include "simt/passes/lane/forward_progress.h"
#include "simt/passes/lane/gather_collectives.h"
#include "simt/passes/lane/idle_blocks.h"
#include "simt/passes/lane/interleave_locals.h"
#include "simt/passes/lane/leave_barrier_loops.h"
#include "simt/passes/lane/lower_exits.h"
#include "simt/passes/lane/prepare.h"
#include "simt/passes/lane/recover_pointers.h"
#include "simt/passes/lane/register_zeros.h"
#include "simt/passes/lane/simplify_extremes.h"
#include "simt/passes/lane/skip_costly_values.h"
#include "simt/passes/lane/specialize_full_paths.h"
#include "simt/passes/lane/specialize_full_rounds.h"
#include "simt/passes/lane/specialize_full_warps.h"
#include "simt/passes/lane/specialize_strides.h"
#include "simt/passes/machine/branchless_masks.h"
#include "simt/passes/machine/part_halves.h"
#include "simt/passes/machine/split_lanes.h"
#include "simt/passes/warp/count_in_blocks.h"
#include "simt/passes/warp/prefetch_blocks.h"
#include "simt/passes/warp/prefetch_strides.h"
#include "simt/passes/warp/raise_operations.h"
#include "simt/passes/warp/sink_loads.h"
#include "simt/passes/warp/sink_values.h"
#include "simt/passes/warp/sink_warp_state.h"
#include "simt/passes/warp/stream_stores.h"
#include "simt/run_passes.h"

namespace strata::simt {
namespace {

void chooseMode(Unit &);
void testIdleBlocks(Unit &);
Result<void> vectorizeAll(Unit &);
void prefetchAroundBarriers(Unit &);
void split(Unit &);
void writeEntry(Unit &);
void count(Unit &);
Result<void> enterLaneCode(Unit &);
void deinterleave(Unit &);
void splitInHalves(Unit &);
void setAttributes(Unit &);

using enum Level;
using enum When;
using enum Need;

// The compile of a kernel between lowering and LLVM's code generator, in order.
constexpr Pass kPasses[] = {
    {"choose-inlining", lane, always, required, once<chooseInlining>},
    {"drop-unread-zeros", lane, always, optional, each<dropUnreadZeros>},
    {"promote-registers", lane, always, required, each<promoteRegisters>},
    {"inline", lane, always, required, once<inlineFunctions>},
    {"lower-exits", lane, always, required, once<lowerKernelExits>},
    {"combine", lane, always, required, each<combine>},
    {"recover-pointers", lane, always, optional, each<recoverPointers>},
    {"thin-alignment-checks", lane, always, optional, each<simplifyAlignmentChecks>},
    {"simplify", lane, always, required, each<simplify>},
    {"rotate-loops", lane, always, required, each<rotateLoops>},
    {"count-rounds", lane, always, optional, each<countRounds>},
    {"unroll-loops", lane, always, optional, each<unrollLoops>},
    {"recover-pointers", lane, always, optional, each<recoverPointers>},
    {"number-values", lane, always, required, each<numberValues>},
    {"thin-alignment-checks", lane, always, optional, each<simplifyAlignmentChecks>},
    {"simplify-min-max", lane, always, optional, each<simplifyExtremes>},
    {"drop-dead-code", lane, always, required, each<dropDeadCode>},

    {"choose-mode", lane, always, required, once<chooseMode>},
    {"insert-yields", lane, vectorMode, required, each<insertYields>},
    {"test-idle-blocks", lane, vectorMode, optional, once<testIdleBlocks>},  // of the guard as it was written
    {"fold-block-dim", lane, vectorMode, optional, control<foldBlockDim>},
    {"unify-returns", lane, vectorMode, required, control<unifyReturns>},
    {"extend-indices", lane, vectorMode, required, control<extendNarrowIndices>},
    {"interleave-locals", lane, vectorMode, optional, control<interleaveLocals>},
    {"scalarize", lane, vectorMode, required, control<scalarize>},
    {"make-reducible", lane, vectorMode, required, control<makeReducible>},
    {"thread-barrier-exits", lane, vectorMode, optional, control<threadBarrierExits>},
    {"hoist-exit-blocks", lane, vectorMode, optional, control<hoistExitBlocks>},
    {"form-loops", lane, vectorMode, required, control<formLoops>},
    {"leave-barrier-loops", lane, vectorMode, optional, control<leaveBarrierLoops>},
    {"specialize-strides", lane, vectorMode, optional, lockStep<specializeStrides>},
    {"specialize-full-paths", lane, vectorMode, optional, lockStep<specializeFullPaths>},
    {"specialize-full-warps", lane, vectorMode, optional, lockStep<specializeFullWarps>},
    {"gather-collectives", lane, vectorMode, required, lockStep<gatherCollectives>},
    {"unify-loop-exits", lane, vectorMode, required, lockStep<unifyLoopExits>},
    {"specialize-full-rounds", lane, vectorMode, optional, lockStep<specializeFullRounds>},
    {"skip-costly-values", lane, vectorMode, optional, lockStep<skipCostlyValues>},  // it hides guards' branches
    {"expand-lane-forms", lane, laneMode, required, once<enterLaneCode>},

    {"vectorize", warp, vectorMode, required, once<vectorizeAll>},
    {"promote-slots", warp, vectorMode, required, each<promoteSlots>},
    {"prefetch-barrier-loops", warp, vectorMode, optional, once<prefetchAroundBarriers>},
    {"split-at-barriers", warp, vectorMode, required, once<split>},
    {"write-entry", warp, vectorMode, required, once<writeEntry>},
    {"count-in-blocks", warp, vectorMode, required, once<count>},
    {"expand-math", warp, always, required, once<expandMath>},
    {"set-attributes", warp, always, required, once<setAttributes>},
    {"clean-up", warp, always, required, each<cleanUp>},
    {"sink-loads", warp, always, optional, each<sinkLoads>},
    {"sink-warp-state", warp, always, optional, each<sinkWarpState>},
    {"sink-values", warp, always, optional, each<sinkValues>},
    {"prefetch-strides", warp, always, optional, each<prefetchPlainLoops>},
    {"stream-stores", warp, always, optional, each<streamStores>},
    {"prefetch-blocks", warp, always, optional, each<prefetchBlocks>},
    {"hoist-operations", warp, always, optional, each<raiseOperations>},
    {"drop-unused", warp, always, required, once<dropUnused>},

    {"expand-math", machine, always, required, once<expandMath>},  // LLVM narrows to half where it can
    {"store-narrow-floats", machine, always, required, once<storeNarrowFloatsAsIntegers>},
    {"deinterleave-halves", machine, always, optional, once<deinterleave>},
    {"split-lanes", machine, always, optional, once<splitInHalves>},
    {"expand-masked-accesses", machine, always, required, once<expandMaskedAccesses>},
};

bool hasOneThread(const ThreadIndex &threads) {
  return threads.exact() && threads.blockDim(0) * threads.blockDim(1) * threads.blockDim(2) == 1;
}

// Whether any code may wait for other threads by more than looking at memory.
bool waits(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &i : llvm::instructions(function)) {
      const LaneIntrinsic id = calledIntrinsic(i);
      if (isBarrier(id) || isCollective(id) || id == LaneIntrinsic::nanosleep) return true;
    }
  return false;
}

void chooseMode(Unit &unit) {
  if (unit.laneMode) {
    unit.laneModeReason =
        "as asked for: lanes run one by one, and nothing is vectorised; vector mode shows what can be";
    return;
  }
  if (hasOneThread(unit.threads) && !waits(unit.module)) {
    unit.laneMode = true;
    unit.laneModeReason = "a block has one thread: a warp's code would compute 32 times as much";
    unit.entryKind = EntryKind::block;
    return;
  }
  const auto prepare = [&](llvm::Function &copy, Prepared stage) {
    return unit.runner->run(stage == Prepared::control ? Work::On::control : Work::On::lockStep, copy);
  };
  const auto reason = needsLaneMode(*unit.kernel, unit.threads, prepare);
  unit.laneMode = reason.has_value();
  unit.laneModeReason = reason.value_or("");
}

void testIdleBlocks(Unit &unit) { unit.idleTest = writeIdleTest(*unit.kernel); }

Result<void> vectorizeAll(Unit &unit) {
  auto code = vectorize(unit.module, *unit.kernel, unit.threads, unit.options.simd, unit.report);
  if (!code) return code.error();
  unit.warp = *code;
  unit.kernel = nullptr;
  unit.entryKind = unit.warp.waits == Waits::anyhow ? EntryKind::warp : EntryKind::block;
  return {};
}

void prefetchAroundBarriers(Unit &unit) {
  if (unit.warp.waits == Waits::blockBarriers) prefetchBarrierLoops(*unit.warp.body);
}

void split(Unit &unit) {
  if (unit.warp.waits != Waits::blockBarriers) return;
  unit.split = splitAtBarriers(*unit.warp.body);
  unit.takesTurns = unit.split->takesTurns && unit.warp.sideBySide;
}

void writeEntry(Unit &unit) {
  llvm::Function *idle = std::exchange(unit.idleTest, nullptr);
  switch (unit.warp.waits) {
    case Waits::no: return writeBlockEntry(*unit.warp.body, idle);
    case Waits::blockBarriers: return writeBarrierEntry(*unit.split, unit.threads, unit.takesTurns, idle);
    case Waits::anyhow: return writeWarpEntry(*unit.warp.body);
  }
}

void count(Unit &unit) {
  const bool waits =
      unit.warp.waits == Waits::anyhow || (unit.warp.waits == Waits::blockBarriers && !unit.warp.onlyTurns);
  countInBlocks(unit.module, waits ? nullptr : unit.module.getFunction("strata_entry"));
}

// Lane code stays as it is but for its entry.
Result<void> enterLaneCode(Unit &unit) {
  if (unit.entryKind == EntryKind::lane) unit.kernel->setName("strata_entry");
  if (auto done = expandLaneForms(unit.module); !done) return done;
  if (unit.entryKind == EntryKind::block) writeOneThreadEntry(*unit.kernel);
  return {};
}

void setAttributes(Unit &unit) { setFunctionAttributes(unit.module, unit.cpu); }

void deinterleave(Unit &unit) {
  if (!levelOf(unit.options.simd).masked) return;
  for (llvm::Function &function : unit.module) partHalves(function);
}

void splitInHalves(Unit &unit) {
  const SimdLevel &level = levelOf(unit.options.simd);
  if (!level.masked) return;
  for (llvm::Function &function : unit.module) splitLanes(function, level.registerBytes / 4, level.registers);
}

std::string textOf(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

}  // namespace

llvm::ArrayRef<Pass> passes() { return kPasses; }

Result<CompileResult> compileKernel(const ptx::Module &source, std::string_view kernelName,
                                    const CompileOptions &options, const Wanted &wanted) {
  CompileResult out;
  out.trace.counts = wanted.counts;
  out.trace.after = wanted.after;
  Stopwatch watch;
  auto setting = PassSetting::parse(options.passes);
  if (!setting) return setting.error();
  auto target = makeTargetMachine(cpuFeatures(options.simd, options.hostExtensions));
  if (!target) return target.error();

  llvm::LLVMContext context;
  auto lowered = lower(context, (*target)->createDataLayout(), source, kernelName, options);
  if (!lowered) return lowered.error();
  llvm::Module &module = **lowered;
  Unit unit(module, *module.getFunction(llvm::StringRef(kernelName.data(), kernelName.size())), options, target->get());
  setFunctionAttributes(module, unit.cpu);
  out.lowerMilliseconds = watch.lap();

  PassRunner runner(unit, *setting, out.trace);
  if (auto done = runner.run(passes("choose-inlining", "drop-dead-code")); !done) return done.error();
  if (wanted.texts) out.texts.lane = textOf(module);
  if (auto done = runner.run(passes("choose-mode", "count-in-blocks")); !done) return done.error();
  if (wanted.texts) out.texts.vector = textOf(module);
  if (auto done = runner.run(passes("expand-math", "expand-masked-accesses")); !done) return done.error();

  if (wanted.texts) {
    Assembly assembly = emitAssembly(module, **target);
    out.texts.assembly = std::move(assembly.text);
    out.texts.why = unit.why() + assembly.spills;
  }
  watch.lap();
  auto code = emitObject(module, **target);
  if (!code) return code.error();
  out.emitMilliseconds = watch.lap();
  out.image = {unit.entryKind, unit.takesTurns, code->stackBytes, std::move(code->object), unit.why()};
  return out;
}

}  // namespace strata::simt
