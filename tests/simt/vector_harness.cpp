// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/vector_harness.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ThreadSafeModule.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <csetjmp>

#include "simt/run_passes.h"

namespace strata::simt::test {

const char *const kPrologue = R"(
  %block = load ptr, ptr %warp, !invariant.load !0
  %launch = load ptr, ptr %block, !invariant.load !0
  %params.at = getelementptr i8, ptr %launch, i64 8
  %params = load ptr, ptr %params.at, !invariant.load !0
  %in = load ptr, ptr %params, !invariant.load !0
  %out.at = getelementptr i8, ptr %params, i64 8
  %out = load ptr, ptr %out.at, !invariant.load !0
  %n.at = getelementptr i8, ptr %params, i64 16
  %n = load i32, ptr %n.at, !invariant.load !0
)";

const char *const kDeclarations = R"(
declare i32 @strata.lane() memory(none) nounwind willreturn
declare i32 @strata.tid.x() memory(none) nounwind willreturn
declare i32 @strata.tid.y() memory(none) nounwind willreturn
declare i32 @strata.tid.z() memory(none) nounwind willreturn
declare void @strata.check.aligned(i64, i32) nounwind
declare void @strata.trap() noreturn nounwind
declare void @strata.exit() noreturn nounwind
declare {i32, i1} @strata.shfl.idx(i32, i32, i32, i32) convergent nounwind
declare {i32, i1} @strata.shfl.up(i32, i32, i32, i32) convergent nounwind
declare {i32, i1} @strata.shfl.down(i32, i32, i32, i32) convergent nounwind
declare {i32, i1} @strata.shfl.bfly(i32, i32, i32, i32) convergent nounwind
declare i1 @strata.vote.all(i32, i1) convergent nounwind
declare i1 @strata.vote.any(i32, i1) convergent nounwind
declare i1 @strata.vote.uni(i32, i1) convergent nounwind
declare i32 @strata.vote.ballot(i32, i1) convergent nounwind
declare i32 @strata.match.any.i32(i32, i32) convergent nounwind
declare {i32, i1} @strata.match.all.i32(i32, i32) convergent nounwind
declare i32 @strata.redux.add(i32, i32) convergent nounwind
declare i32 @strata.redux.umin(i32, i32) convergent nounwind
declare i32 @strata.redux.smax(i32, i32) convergent nounwind
declare void @strata.warpsync(i32) convergent nounwind
declare {i32, i1} @strata.elect(i32) convergent nounwind
declare i32 @strata.activemask() convergent nounwind
declare i32 @llvm.ctpop.i32(i32)
declare {i32, i1} @llvm.uadd.with.overflow.i32(i32, i32)
declare float @llvm.fma.f32(float, float, float)
!0 = !{}
)";

namespace {

// Lane by lane, the place of the lane is in globals that the harness sets.
const char *const kLaneDefinitions = R"(
@test.lane = external global i32
@test.tid = external global [3 x i32]
define i32 @strata.lane() { %v = load i32, ptr @test.lane  ret i32 %v }
define i32 @strata.tid.x() { %v = load i32, ptr @test.tid  ret i32 %v }
define i32 @strata.tid.y() { %v = load i32, ptr getelementptr (i8, ptr @test.tid, i64 4)  ret i32 %v }
define i32 @strata.tid.z() { %v = load i32, ptr getelementptr (i8, ptr @test.tid, i64 8)  ret i32 %v }
define void @strata.check.aligned(i64 %a, i32 %b) { ret void }
)";

std::uint32_t currentLane, currentTid[3];
std::jmp_buf faulted;
std::string faultText;

void fault(Warp *, std::uint32_t kind, std::uint32_t lanes, std::uint64_t) {
  faultText += std::to_string(kind) + ":" + std::to_string(lanes) + " ";
  std::longjmp(faulted, 1);
}

std::string message(llvm::Error error) {
  std::string text;
  llvm::raw_string_ostream(text) << error;
  llvm::consumeError(std::move(error));
  return text;
}

void optimize(llvm::Module &module, bool fully) {
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  const char *pipeline =
      fully ? "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),"
              "gvn<no-pre;no-load-pre>,instcombine<no-verify-fixpoint>,simplifycfg,adce)"
            : "function(sroa<preserve-cfg>)";
  llvm::cantFail(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

struct Jit {
  std::unique_ptr<llvm::orc::LLJIT> engine;
  std::string error;

  explicit Jit(Simd simd) {
    static const bool once = (llvm::InitializeNativeTarget(), llvm::InitializeNativeTargetAsmPrinter(), true);
    (void)once;
    auto target = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
    if (simd != Simd::avx512) {
      target.getFeatures() = llvm::SubtargetFeatures();
      target.setCPU(simd == Simd::avx2 ? "x86-64-v3" : "x86-64-v2");
    }
    target.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
    auto made = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create();
    if (!made) {
      error = message(made.takeError());
      return;
    }
    engine = std::move(*made);
    auto address = [](void *p) {
      return llvm::orc::ExecutorSymbolDef(llvm::orc::ExecutorAddr::fromPtr(p), llvm::JITSymbolFlags::Exported);
    };
    llvm::cantFail(engine->getMainJITDylib().define(
        llvm::orc::absoluteSymbols({{engine->mangleAndIntern("test.lane"), address(&currentLane)},
                                    {engine->mangleAndIntern("test.tid"), address(currentTid)}})));
    auto process =
        llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(engine->getDataLayout().getGlobalPrefix());
    engine->getMainJITDylib().addGenerator(llvm::cantFail(std::move(process)));
  }

  void *add(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context, const char *entry) {
    if (auto failed = engine->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context)))) {
      error = message(std::move(failed));
      return nullptr;
    }
    auto symbol = engine->lookup(entry);
    if (!symbol) error = message(symbol.takeError());
    return symbol ? symbol->toPtr<void *>() : nullptr;
  }
};

// Memory and launch records of one run.
struct World {
  std::vector<std::uint32_t> in, out;
  struct Params {
    std::uint32_t *in, *out;
    std::uint32_t n;
  } params{};
  Runtime runtime{};
  LaunchState launch{};
  Block block{};
  Warp warp{};

  explicit World(const Setup &setup) : in(setup.in), out(setup.outWords, 0xdeadbeef) {
    params = {in.data(), out.data(), setup.n};
    runtime.fault = fault;
    runtime.yield = [](Warp *) {};
    runtime.turn = [](Warp *) {};
    launch.runtime = &runtime;
    launch.params = reinterpret_cast<const std::uint8_t *>(&params);
    for (int d = 0; d < 3; ++d) launch.blockDim[d] = setup.blockDim[d];
    launch.gridDim[0] = launch.gridDim[1] = launch.gridDim[2] = 1;
    block.launch = &launch;
    block.threads = setup.blockDim[0] * setup.blockDim[1] * setup.blockDim[2];
    block.warps = (block.threads + 31) / 32;
    warp.block = &block;
  }

  void runLanes(void (*kernel)(Warp *)) {
    for (std::uint32_t t = 0; t < block.threads; ++t) {
      warp.index = t / 32;
      currentLane = t % 32;
      currentTid[0] = t % launch.blockDim[0];
      currentTid[1] = t / launch.blockDim[0] % launch.blockDim[1];
      currentTid[2] = t / (launch.blockDim[0] * launch.blockDim[1]);
      kernel(&warp);
    }
  }

  void runVector(void *entry, EntryKind kind) {
    if (setjmp(faulted)) return;
    if (kind == EntryKind::block) return reinterpret_cast<BlockEntry>(entry)(&block, &warp);
    for (warp.index = 0; warp.index < block.warps; ++warp.index) {
      std::uint32_t left = block.threads - warp.index * 32;
      warp.lanes = left >= 32 ? ~0u : (1u << left) - 1;
      warp.exited = 0;
      reinterpret_cast<WarpEntry>(entry)(&warp);
    }
  }
};

std::unique_ptr<llvm::Module> parse(const std::string &text, llvm::LLVMContext &context, std::string &error) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module) llvm::raw_string_ostream(error) << diagnostic.getMessage() << " at line " << diagnostic.getLineNo();
  return module;
}

}  // namespace

Outcome runBoth(const std::string &ir, const Setup &setup) {
  Outcome result;
  Jit jit(setup.simd);
  result.error = jit.error;
  if (!jit.engine) return result;

  auto vectorContext = std::make_unique<llvm::LLVMContext>();
  auto vectorModule = parse(ir, *vectorContext, result.error);
  if (!vectorModule) return result;
  vectorModule->setDataLayout(jit.engine->getDataLayout());
  vectorModule->setTargetTriple(jit.engine->getTargetTriple().str());
  optimize(*vectorModule, setup.optimizeFirst);
  CompileOptions options;
  options.simd = setup.simd;
  options.blockMultipleOf32 = setup.multipleOf32;
  if (setup.exactShape) std::copy(setup.blockDim, setup.blockDim + 3, options.blockDim);
  Unit unit(*vectorModule, *vectorModule->getFunction("kernel"), options, nullptr);
  PassTrace trace;
  auto setting = PassSetting::parse("verify");
  auto done = PassRunner(unit, *setting, trace).run(passes("choose-mode", "skip-costly-values"));
  if (done && !unit.laneMode) done = PassRunner(unit, *setting, trace).run(passes("vectorize", "count-in-blocks"));
  if (!done) {
    result.error = done.error().message;
    return result;
  }
  result.laneMode = unit.laneMode;
  result.laneModeReason = unit.laneModeReason;
  result.report = unit.report.text();
  llvm::raw_string_ostream(result.vectorIr) << *vectorModule;
  if (result.laneMode) return result;
  if (void *entry = jit.add(std::move(vectorModule), std::move(vectorContext), "strata_entry")) {
    World world(setup);
    faultText.clear();
    world.runVector(entry, unit.entryKind);
    result.vector = world.out;
    result.faults = faultText;
  }
  if (!setup.alsoLanes) {
    result.error += jit.error;
    return result;
  }

  auto laneContext = std::make_unique<llvm::LLVMContext>();
  std::string reference = ir;
  for (const char *name : {"i32 @strata.lane()", "i32 @strata.tid.x()", "i32 @strata.tid.y()", "i32 @strata.tid.z()",
                           "void @strata.check.aligned(i64, i32)"})
    if (auto at = reference.find(std::string("declare ") + name); at != std::string::npos)
      reference.erase(at, reference.find('\n', at) - at);
  auto laneModule = parse(reference + kLaneDefinitions, *laneContext, result.error);
  if (!laneModule) return result;
  laneModule->setDataLayout(jit.engine->getDataLayout());
  if (void *kernel = jit.add(std::move(laneModule), std::move(laneContext), "kernel")) {
    World world(setup);
    world.runLanes(reinterpret_cast<void (*)(Warp *)>(kernel));
    result.lane = world.out;
  }
  result.error += jit.error;
  return result;
}

}  // namespace strata::simt::test
