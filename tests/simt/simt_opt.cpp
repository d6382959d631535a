// SPDX-License-Identifier: Apache-2.0
// For lit tests: vectorises @kernel of a lane-IR file and prints the module, the report, or why not.
//   simt-opt [--simd=avx512|avx2|portable] [--block=X,Y,Z] [--rows] [--report] FILE
//   simt-opt [--raise] [--split=LANES [--registers=N]] FILE   of a module that is vectorised: after these passes only
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "simt/passes/machine/split_lanes.h"
#include "simt/passes/warp/raise_operations.h"
#include "simt/run_passes.h"

namespace {

using namespace strata;
using namespace strata::simt;

llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::init("-"));
llvm::cl::opt<Simd> simd("simd", llvm::cl::init(Simd::avx512),
                         llvm::cl::values(clEnumValN(Simd::avx512, "avx512", ""), clEnumValN(Simd::avx2, "avx2", ""),
                                          clEnumValN(Simd::portable, "portable", "")));
llvm::cl::list<unsigned> block("block", llvm::cl::CommaSeparated, llvm::cl::desc("the exact block shape"));
llvm::cl::opt<bool> rows("rows", llvm::cl::desc("blockDim.x is a multiple of 32"));
llvm::cl::opt<unsigned> split("split", llvm::cl::desc("only splitLanes, into parts of so many lanes"));
llvm::cl::opt<bool> raise("raise", llvm::cl::desc("only raiseOperations"));
llvm::cl::opt<unsigned> registers("registers", llvm::cl::init(32), llvm::cl::desc("of the machine, for splitLanes"));
llvm::cl::opt<bool> wantReport("report", llvm::cl::desc("print the report in place of the module"));

}  // namespace

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv);
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIRFile(file, diagnostic, context);
  if (!module) {
    diagnostic.print(argv[0], llvm::errs());
    return 1;
  }
  if (split || raise) {
    for (llvm::Function &function : *module) {
      if (function.isDeclaration()) continue;
      if (raise) raiseOperations(function);
      if (split) splitLanes(function, split, registers);
    }
    if (llvm::verifyModule(*module, &llvm::errs())) return 1;
    llvm::outs() << *module;
    return 0;
  }
  CompileOptions options;
  options.simd = simd;
  options.blockMultipleOf32 = rows;
  for (unsigned d = 0; d < block.size() && d < 3; ++d) options.blockDim[d] = block[d];
  Unit unit(*module, *module->getFunction("kernel"), options, nullptr);
  PassTrace trace;
  auto setting = PassSetting::parse("verify");
  auto done = PassRunner(unit, *setting, trace).run(passes("choose-mode", "skip-costly-values"));
  if (done && !unit.laneMode) done = PassRunner(unit, *setting, trace).run(passes("vectorize", "count-in-blocks"));
  if (!done) {
    llvm::errs() << "error: " << done.error().message << "\n";
    return 1;
  }
  if (unit.laneMode) llvm::outs() << "lane mode: " << unit.laneModeReason << "\n";
  else if (wantReport) llvm::outs() << unit.why();
  else llvm::outs() << *module;
  return 0;
}
