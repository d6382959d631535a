// SPDX-License-Identifier: Apache-2.0
// What nvcc would run for a command line: architectures, passes, macros, links.
#include "toolkit/nvcc/plan.h"

#include <gtest/gtest.h>

#include "toolkit/nvcc/arch.h"
#include "toolkit/nvcc/shell.h"

namespace strata::nvcc {
namespace {

using Words = std::vector<std::string>;

// All commands of the plan, one a line; or the error.
std::string commands(const Words &words) {
  Result<CommandLine> line = parseCommandLine(words);
  if (!line) return line.error().message;
  Result<Plan> plan = makePlan(*line);
  if (!plan) return plan.error().message;
  std::string text;
  std::vector<Chain> chains = plan->chains;
  chains.push_back(plan->last);
  for (const Chain &chain : chains)
    for (const Stage &stage : chain)
      for (const Step &step : stage) text += shellLine(step.words) + "\n";
  return text;
}

int count(const std::string &text, const std::string &part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

std::string archs(const Words &words) {
  Result<CommandLine> line = parseCommandLine(words);
  Result<Targets> targets = requestedTargets(*line);
  if (!targets) return targets.error().message;
  std::string text;
  for (const Arch &arch : targets->archs) text += (text.empty() ? "" : " ") + arch.name();
  for (const std::string &cpu : targets->nativeCode) text += " " + cpu;
  return text;
}

TEST(Archs, EveryWayToAsk) {
  EXPECT_EQ(archs({}), "sm_75");
  EXPECT_EQ(archs({"-arch=sm_60"}), "sm_60");
  EXPECT_EQ(archs({"-arch", "compute_80", "-code", "sm_80,compute_80"}), "sm_80");
  EXPECT_EQ(archs({"-arch=sm_90a"}), "sm_90a");
  EXPECT_EQ(archs({"-gencode", "arch=compute_80,code=[sm_80,compute_80]"}), "sm_80");
  EXPECT_EQ(archs({"-gencode=arch=compute_80,code=\"sm_80,compute_80\"", "-gencode", "arch=compute_70,code=sm_70"}),
            "sm_70 sm_80");
  EXPECT_EQ(archs({"-arch=all-major"}), "sm_75 sm_80 sm_90");
  EXPECT_EQ(archs({"-arch=75"}), "sm_75");
}

TEST(Archs, MachineCodeForCpus) {
  EXPECT_EQ(archs({"-arch=cpu"}), "sm_75 cpu_avx2 cpu_avx512");
  EXPECT_EQ(archs({"-arch=sm_90,cpu"}), "sm_90 cpu_avx2 cpu_avx512");
  EXPECT_EQ(archs({"-arch=cpu_portable,sm_90,cpu_native"}), "sm_90 cpu_native cpu_portable");
  EXPECT_EQ(archs({"-arch=compute_80", "-code=sm_80,cpu_avx2"}), "sm_80 cpu_avx2");
  EXPECT_EQ(archs({"-gencode", "arch=compute_80,code=[sm_80,cpu_avx512]",
                   "-gencode=arch=compute_90,code=\"cpu_avx512,compute_90\""}),
            "sm_80 sm_90 cpu_avx512");
  EXPECT_EQ(archs({"-arch=cpu_avx2", "-gencode", "arch=compute_70,code=sm_70"}), "sm_70 cpu_avx2");
  EXPECT_EQ(archs({"-arch=cpu_z80"}), "Unsupported gpu architecture 'cpu_z80'");
  EXPECT_EQ(archs({"-arch=sm_80,sm_90"}),
            "Option '--gpu-architecture sm_80,sm_90' names more than one GPU: use --generate-code");
}

TEST(Archs, NewerThanClangKnowsBecomeItsNewest) {
  EXPECT_EQ(archs({"-arch=sm_100"}), "sm_90");
  EXPECT_EQ(archs({"-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_120f,code=sm_120f"}), "sm_90");
}

TEST(Archs, UnknownOnesAreNamed) {
  EXPECT_EQ(archs({"-arch=sm_12"}), "Unsupported gpu architecture 'sm_12'");
  EXPECT_EQ(archs({"-arch=sm_80a"}), "Unsupported gpu architecture 'sm_80a'");
  EXPECT_EQ(archs({"-gencode", "foo"}), "'foo' is not in 'keyword=value' format");
  EXPECT_EQ(archs({"-gencode", "arch=compute_80"}), "Option '--generate-code arch=compute_80', missing code");
  EXPECT_EQ(archs({"-code=sm_80"}), "-arch option not specified");
}

TEST(Plan, MachineCodeIsMadeWhereTheProgramIsWhole) {
  EXPECT_EQ(count(commands({"-c", "a.cu", "-arch=sm_90,cpu"}), "kind=native,target=cpu_avx"), 2);
  std::string text = commands({"-rdc=true", "a.cu", "-arch=sm_90,cpu_avx2"});
  EXPECT_EQ(count(text, "kind=native"), 1);
  EXPECT_LT(text.find("--create="), text.find("kind=native"));
  EXPECT_EQ(count(commands({"-c", "a.cu", "-arch=sm_90"}), "kind=native"), 0);
}

TEST(Plan, CompilesOncePerArchitectureAndOnceForTheHost) {
  std::string text =
      commands({"-c", "a.cu", "-gencode", "arch=compute_70,code=sm_70", "-gencode", "arch=compute_90,code=sm_90"});
  EXPECT_EQ(count(text, "--cuda-device-only"), 2);
  EXPECT_EQ(count(text, "--cuda-host-only"), 1);
  EXPECT_EQ(count(text, "--offload-arch=sm_70"), 1);
  EXPECT_EQ(count(text, "kind=ptx,sm=70"), 1);
  EXPECT_EQ(count(text, "-D__CUDA_ARCH_LIST__=700,900"), 3);
  EXPECT_EQ(count(text, "cudart"), 0);
  EXPECT_TRUE(text.ends_with("a.cu -o a.o\n")) << text;
}

TEST(Plan, MacrosFollowTheOptions) {
  std::string text = commands({"-c", "a.cu", "--extended-lambda", "--expt-relaxed-constexpr", "-rdc=true", "-G",
                               "--default-stream", "per-thread", "-DX=1"});
  for (const char *macro : {"-D__NVCC__", "-D__CUDACC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_EXTENDED_LAMBDA__",
                            "-D__CUDACC_RELAXED_CONSTEXPR__", "-D__CUDACC_RDC__", "-D__CUDACC_DEBUG__",
                            "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1", "-fgpu-default-stream=per-thread", "-DX=1"})
    EXPECT_EQ(count(text, std::string(macro) + " "), 2) << macro;
  std::string plain = commands({"-c", "a.cpp"});
  EXPECT_EQ(count(plain, "-D__NVCC__"), 1);
  EXPECT_EQ(count(plain, "__CUDACC__ "), 0);
  EXPECT_EQ(count(plain, "cuda_runtime.h"), 0);
}

TEST(Plan, DeviceMathOptions) {
  std::string exact = commands({"-ptx", "a.cu"});
  EXPECT_EQ(count(exact, "-ffp-contract=fast"), 1);
  EXPECT_EQ(count(exact, "prec-div") + count(exact, "flush-denormals") + count(exact, "approx"), 0);
  std::string fast = commands({"-ptx", "a.cu", "-use_fast_math"});
  for (const char *option : {"-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals", "-nvptx-prec-divf32=0",
                             "-nvptx-prec-sqrtf32=0"})
    EXPECT_EQ(count(fast, option), 1) << option;
  std::string mixed = commands({"-ptx", "a.cu", "-use_fast_math", "-prec-div=true", "-fmad=false", "-ftz=false"});
  EXPECT_EQ(count(mixed, "-ffp-contract=off"), 1);
  EXPECT_EQ(count(mixed, "prec-divf32") + count(mixed, "flush-denormals"), 0);
}

TEST(Plan, OptimisationIsTheHostsAndTheDevicesIsAlwaysOn) {
  std::string text = commands({"-c", "a.cu", "-O1", "-Xcompiler", "-Wall,-fopenmp"});
  EXPECT_EQ(count(text, " -O3 "), 1);
  EXPECT_EQ(count(text, " -O1 "), 1);
  EXPECT_EQ(count(text, " -Wall "), 1);
  EXPECT_EQ(count(text, " -fopenmp "), 2);  // the device pass needs _OPENMP too
}

TEST(Plan, LinkTakesTheRuntimeThatIsAskedFor) {
  EXPECT_EQ(count(commands({"a.o"}), "-lcudart_static"), 1);
  std::string shared = commands({"a.o", "--cudart=shared", "-shared", "-o", "liba.so"});
  EXPECT_EQ(count(shared, "-lcudart ") + count(shared, " -shared "), 2);
  EXPECT_EQ(count(commands({"a.o", "--cudart", "none"}), "-lcudart"), 0);
  EXPECT_EQ(count(commands({"a.o", "-Xcompiler", "-Wl,-rpath,/x", "-Xlinker", "-rpath,/y"}), "-Wl,-rpath,/x"), 1);
}

TEST(Plan, DeviceLinkOnlyForRelocatableCode) {
  EXPECT_EQ(count(commands({"a.cu"}), "nvlink"), 0);
  EXPECT_EQ(count(commands({"-rdc=true", "a.cu", "b.cu"}), "nvlink"), 1);
  EXPECT_EQ(count(commands({"-rdc=true", "a.cu", "--no-device-link"}), "nvlink"), 0);
  EXPECT_EQ(count(commands({"-dlink", "a.o", "-o", "d.o"}), "nvlink"), 1);
}

TEST(Plan, InputsOfTheSameNameDoNotShareFiles) {
  std::string text = commands({"x/a.cu", "y/a.cu", "-o", "p"});
  EXPECT_EQ(count(text, "/1_a.o") + count(text, "/a.o"), 2) << text;
  EXPECT_EQ(count(text, "/2_a.o"), 2) << text;
}

TEST(Plan, ErrorsAreNvccs) {
  EXPECT_EQ(commands({"-O3"}), "No input files specified; use option --help for more information");
  EXPECT_EQ(commands({"-c", "a.cu", "b.cu", "-o", "x"}),
            "A single input file is required for a non-link phase when an outputfile is specified");
  EXPECT_EQ(commands({"-c", "-ptx", "a.cu"}), "Options '--compile' and '--ptx' exclude each other");
  EXPECT_EQ(commands({"-c", "a.f90"}), "Don't know what to do with 'a.f90'");
  EXPECT_EQ(commands({"-ptx", "-arch=all-major", "a.cu"}),
            "Option '--ptx (-ptx)' is not allowed when compiling for multiple GPU architectures");
  EXPECT_EQ(commands({"a.cu", "-t", "x"}), "Value 'x' is not defined for option 'threads'");
}

TEST(Shell, QuotedWordsComeBack) {
  for (const Words &words : {Words{"plain", "two words", "a\"b", "$HOME`x`", "back\\slash", ""}, Words{"-DX=\"a,b\""}})
    EXPECT_EQ(shellWords(shellLine(words)), words);
}

}  // namespace
}  // namespace strata::nvcc
