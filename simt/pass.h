// SPDX-License-Identifier: Apache-2.0
// What a row of the pipeline's table (simt/pipeline.cpp) is, and the kernel that the rows work on.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/PassManager.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "simt/analysis/thread_index.h"
#include "simt/emit/report.h"
#include "simt/emit/vectorize.h"
#include "simt/pass_trace.h"
#include "simt/passes/llvm_passes.h"
#include "simt/passes/warp/split_at_barriers.h"
#include "simt/simt.h"
#include "simt/target/cpu_features.h"

namespace strata::simt {

class PassRunner;  // run_passes.h

// One kernel on its way through the table.
struct Unit {
  // Without `target`, only rows up to write-entry may run.
  Unit(llvm::Module &module, llvm::Function &kernel, const CompileOptions &options, llvm::TargetMachine *target);
  std::string why() const;  // for `strata inspect --stage why`

  llvm::Module &module;
  llvm::Function *kernel;  // null once it is vectorised
  const CompileOptions &options;
  const CpuFeatures cpu;
  llvm::TargetMachine *const target;
  const ThreadIndex threads;
  Analyses analyses;
  Report report;
  bool laneMode = false;  // lanes run one by one: asked for, or needed
  std::string laneModeReason;
  llvm::Function *idleTest = nullptr;  // idle_blocks.h; no pass's business until it is in the entry
  WarpCode warp;                       // once vectorised
  std::optional<SplitWarp> split;
  EntryKind entryKind = EntryKind::lane;
  bool takesTurns = false;
  PassRunner *runner = nullptr;  // while it runs: for choose-mode
};

enum class When { always, vectorMode, laneMode };
enum class Need { required, optional };  // optional: an optimisation, which STRATA_PASSES may switch off

// What a row does: once for the module, or for one function after the other. `control` and `lockStep` are lane
// functions, too; what is done to these is also done to copies of them, to find out whether a kernel needs lane mode
// (passes/lane/forward_progress.h).
struct Work {
  enum class On { module, functions, control, lockStep } on;
  Result<void> (*module)(Unit &);
  // Returns why the function has to run lane by lane, if it has to.
  std::optional<std::string> (*function)(Unit &, llvm::Function &);
};

struct Pass {
  const char *name;
  Level level;
  When when;
  Need need;
  Work work;
};

// The table.
llvm::ArrayRef<Pass> passes();
// Its rows from the first of the one name to the last of the other.
llvm::ArrayRef<Pass> passes(std::string_view first, std::string_view last);

// ---- From functions as passes declare them to rows ----------------------------------------------

// void or Result<void>, over Unit & or llvm::Module &, this with or without the CPU's features or the analyses.
template <auto pass>
Result<void> runOnModule(Unit &unit) {
  const auto run = [&] {
    if constexpr (std::is_invocable_v<decltype(pass), Unit &>) return pass(unit);
    else if constexpr (std::is_invocable_v<decltype(pass), llvm::Module &>) return pass(unit.module);
    else if constexpr (std::is_invocable_v<decltype(pass), llvm::Module &, const CpuFeatures &>)
      return pass(unit.module, unit.cpu);
    else if constexpr (std::is_invocable_v<decltype(pass), llvm::Module &, llvm::TargetMachine &>)
      return pass(unit.module, *unit.target);
    else return pass(unit.module, unit.analyses);
  };
  if constexpr (std::is_same_v<decltype(run()), Result<void>>) return run();
  else return run(), Result<void>();
}

// Anything over llvm::Function &, with or without the thread index or the analyses; of results only a reason counts.
template <auto pass>
std::optional<std::string> runOnFunction(Unit &unit, llvm::Function &function) {
  const auto run = [&] {
    if constexpr (std::is_invocable_v<decltype(pass), llvm::Function &>) return pass(function);
    else if constexpr (std::is_invocable_v<decltype(pass), llvm::Function &, const ThreadIndex &>)
      return pass(function, unit.threads);
    else return pass(function, unit.analyses);
  };
  if constexpr (std::is_same_v<decltype(run()), std::optional<std::string>>) return run();
  else return run(), std::nullopt;
}

template <auto pass>
inline constexpr Work once = {Work::On::module, &runOnModule<pass>, nullptr};
template <auto pass>
inline constexpr Work each = {Work::On::functions, nullptr, &runOnFunction<pass>};
template <auto pass>
inline constexpr Work control = {Work::On::control, nullptr, &runOnFunction<pass>};
template <auto pass>
inline constexpr Work lockStep = {Work::On::lockStep, nullptr, &runOnFunction<pass>};

}  // namespace strata::simt
