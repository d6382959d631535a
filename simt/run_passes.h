// SPDX-License-Identifier: Apache-2.0
// Runs rows of a table of passes, each of which can be switched off, checked, measured and shown.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <set>
#include <string>
#include <string_view>

#include "simt/pass.h"
#include "simt/pass_trace.h"

namespace strata::simt {

// STRATA_PASSES: "-sink-loads,-unroll-loops" leaves optional passes out, "verify" checks the IR after each pass. A pass
// that stands in several rows is left out of all.
class PassSetting {
public:
  // Errors: environment: an unknown name, or a pass that cannot be left out; it names those that can.
  static Result<PassSetting> parse(std::string_view text);

  bool leavesOut(const Pass &pass) const { return without_.contains(pass.name); }
  bool verifies() const { return verify_; }

private:
  std::set<std::string, std::less<>> without_;
  bool verify_ = false;
};

class PassRunner {
public:
  PassRunner(Unit &unit, const PassSetting &setting, PassTrace &trace)
      : unit_(unit), setting_(setting), trace_(trace) {}

  // Runs the rows of the unit's mode. Errors: the passes'; internal, if the IR is wrong after one.
  Result<void> run(llvm::ArrayRef<Pass> rows);
  // Runs all rows that work on functions in this way, on one. Returns why it has to run lane by lane, if it has to.
  std::optional<std::string> run(Work::On on, llvm::Function &function);

private:
  bool isDue(const Pass &pass) const;
  Result<void> work(const Pass &pass);
  Result<void> verify(const Pass &pass) const;
  std::size_t size() const;

  Unit &unit_;
  const PassSetting &setting_;
  PassTrace &trace_;
};

// Milliseconds of this thread's processor time since the last call.
class Stopwatch {
public:
  double lap();

private:
  static double time();
  double last_ = time();
};

}  // namespace strata::simt
