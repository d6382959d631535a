// SPDX-License-Identifier: Apache-2.0
#include "simt/run_passes.h"

#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace strata::simt {

const char *nameOf(Level level) {
  switch (level) {
    case Level::lane: return "lane";
    case Level::warp: return "warp";
    case Level::machine: return "machine";
  }
  return "";
}

Unit::Unit(llvm::Module &module, llvm::Function &kernel, const CompileOptions &options, llvm::TargetMachine *target)
    : module(module),
      kernel(&kernel),
      options(options),
      cpu(cpuFeatures(options.simd, options.hostExtensions)),
      target(target),
      threads(options),
      analyses(target),
      laneMode(options.mode == Mode::lane) {}

std::string Unit::why() const { return laneMode ? "kernel: lane mode (" + laneModeReason + ")\n" : report.text(); }

static std::string optionalNames() {
  std::set<std::string> names;
  for (const Pass &pass : passes())
    if (pass.need == Need::optional) names.insert(pass.name);
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "-" : ", -") + name;
  return text;
}

llvm::ArrayRef<Pass> passes(std::string_view first, std::string_view last) {
  const llvm::ArrayRef<Pass> all = passes();
  std::size_t from = 0, to = all.size();
  while (from < to && all[from].name != first) ++from;
  while (from < to && all[to - 1].name != last) --to;
  return all.slice(from, to - from);
}

Result<PassSetting> PassSetting::parse(std::string_view text) {
  const llvm::ArrayRef<Pass> table = passes();
  PassSetting setting;
  const auto refuse = [&](const std::string &what) {
    return environmentError("STRATA_PASSES: " + what + "; it may hold verify, " + optionalNames());
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word == "verify") {
      setting.verify_ = true;
      continue;
    }
    const auto row = std::find_if(table.begin(), table.end(), [&](const Pass &pass) {
      return word.starts_with("-") && word.substr(1) == pass.name;
    });
    if (row == table.end()) return refuse("there is no '" + std::string(word) + "'");
    if (row->need == Need::required) return refuse("code needs the pass " + std::string(row->name));
    setting.without_.insert(row->name);
  }
  return setting;
}

double Stopwatch::lap() {
  const double now = time();
  return now - std::exchange(last_, now);
}

double Stopwatch::time() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

bool PassRunner::isDue(const Pass &pass) const {
  return pass.when == When::always || (pass.when == When::laneMode) == unit_.laneMode;
}

std::size_t PassRunner::size() const {
  std::size_t sum = 0;
  for (const llvm::Function &function : unit_.module) sum += function.getInstructionCount();
  return sum;
}

Result<void> PassRunner::verify(const Pass &pass) const {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!llvm::verifyModule(unit_.module, &stream)) return {};
  return internalError("invalid IR after " + std::string(pass.name) + " of " + unit_.module.getName().str() + ": " +
                       problem);
}

Result<void> PassRunner::work(const Pass &pass) {
  if (pass.work.module) return pass.work.module(unit_);
  for (llvm::Function &function : unit_.module) {
    if (function.isDeclaration() || &function == unit_.idleTest) continue;
    if (auto reason = pass.work.function(unit_, function))  // choose-mode has asked the same
      return unsupported(std::string(pass.name) + " of " + function.getName().str() + ": " + *reason);
  }
  return {};
}

Result<void> PassRunner::run(llvm::ArrayRef<Pass> rows) {
  unit_.runner = this;
  for (const Pass &pass : rows) {
    if (!isDue(pass)) continue;
    PassTrace::Row row = {pass.name, pass.level, 0, 0, 0, setting_.leavesOut(pass)};
    if (trace_.counts) row.before = row.after = size();
    if (!row.leftOut) {
      Stopwatch watch;
      if (auto done = work(pass); !done) return done;
      unit_.analyses.clear();
      row.milliseconds = watch.lap();
      if (setting_.verifies())
        if (auto right = verify(pass); !right) return right;
      if (trace_.counts) row.after = size();
      if (trace_.after == pass.name) {
        llvm::raw_string_ostream stream(trace_.text);
        stream << "; after " << pass.name << "\n" << unit_.module;
      }
    }
    trace_.rows.push_back(row);
  }
  return {};
}

std::optional<std::string> PassRunner::run(Work::On on, llvm::Function &function) {
  for (const Pass &pass : passes()) {
    if (pass.work.on != on || setting_.leavesOut(pass)) continue;
    std::optional<std::string> reason = pass.work.function(unit_, function);
    unit_.analyses.clear();
    if (reason) return reason;
  }
  return std::nullopt;
}

}  // namespace strata::simt
