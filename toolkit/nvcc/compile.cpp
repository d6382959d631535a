// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/compile.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "toolkit/nvcc/shell.h"

namespace strata::nvcc {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

void append(Words &words, const Words &more) { words.insert(words.end(), more.begin(), more.end()); }

// Where clang refuses or warns about what nvcc with gcc lets pass in silence.
const Words kLeniency = {"-Wno-unknown-cuda-version",   "-Wno-c++11-narrowing", "-Wno-register",
                         "-Wno-unknown-warning-option", "-Wno-unknown-pragmas", "-Qunused-arguments"};

// Host compiler options that change what the device pass must see too: macros, search paths, language.
bool concernsDevice(const std::string &word) {
  for (const char *prefix :
       {"-D", "-U", "-I", "-std=", "-fopenmp", "-fms-extensions", "-fpermissive", "-ftemplate", "-fconstexpr"})
    if (word.starts_with(prefix)) return true;
  return false;
}

bool isMacro(const std::string &word) { return word.starts_with("-D") || word.starts_with("-U"); }

}  // namespace

Words hostCompilerOptions(const CommandLine &line) {
  Words words;
  for (const std::string &value : line.list(Option::hostOptions)) append(words, shellWords(value));
  append(words, line.forwardCompiler);
  return words;
}

Words Compile::macros(Language language) const {
  Words words = {"-D__NVCC__"};
  std::string list;
  for (const Arch &arch : archs) list += (list.empty() ? "" : ",") + std::to_string(arch.number * 10);
  words.push_back("-D__CUDA_ARCH_LIST__=" + list);
  for (const char *which : {"CUDACC_VER", "CUDA_API_VER"}) {
    words.push_back("-D__" + std::string(which) + "_MAJOR__=" + std::to_string(kMajor));
    words.push_back("-D__" + std::string(which) + "_MINOR__=" + std::to_string(kMinor));
  }
  words.push_back("-D__CUDACC_VER_BUILD__=" + std::to_string(kBuild));
  if (line.value(Option::defaultStream) == "per-thread") words.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  if (language != Language::cuda) return words;
  append(words, {"-D__CUDACC__", "-DCUDA_DOUBLE_MATH_FUNCTIONS"});
  if (relocatable) words.push_back("-D__CUDACC_RDC__");
  if (line.has(Option::deviceDebug)) words.push_back("-D__CUDACC_DEBUG__");
  if (line.has(Option::extendedLambda) || line.has(Option::exptExtendedLambda))
    words.push_back("-D__CUDACC_EXTENDED_LAMBDA__");
  if (line.has(Option::relaxedConstexpr)) words.push_back("-D__CUDACC_RELAXED_CONSTEXPR__");
  if (line.has(Option::fastMath)) words.push_back("-D__USE_FAST_MATH__");
  return words;
}

// Macros, search paths and language: the same for every pass over a file.
Words Compile::common(Language language) const {
  Words words = source ? Words() : macros(language);
  append(words, kLeniency);
  if (line.has(Option::standard)) words.push_back("-std=" + line.value(Option::standard));
  if (line.has(Option::templateDepth)) words.push_back("-ftemplate-depth=" + line.value(Option::templateDepth));
  if (line.has(Option::templateBacktrace))
    words.push_back("-ftemplate-backtrace-limit=" + line.value(Option::templateBacktrace));
  if (source) return words;
  for (const std::string &macro : line.list(Option::define)) words.push_back("-D" + macro);
  for (const std::string &macro : line.list(Option::undefine)) words.push_back("-U" + macro);
  for (const std::string &folder : line.list(Option::include)) words.push_back("-I" + folder);
  for (const std::string &folder : line.list(Option::systemInclude)) append(words, {"-isystem", folder});
  append(words, {"-isystem", kit.include, "-isystem", kit.missing});  // before the default folders
  if (language == Language::cuda) append(words, {"-include", "cuda_runtime.h"});
  for (const std::string &file : line.list(Option::preInclude)) append(words, {"-include", file});
  return words;
}

// CUDA without NVIDIA's SDK: no headers or libraries of clang's choice, no search for an installed one.
Words Compile::cudaMode() const {
  Words words = {"-x",
                 "cuda",
                 "-nocudainc",
                 "-nocudalib",
                 "--cuda-path=" + kit.prefix,
                 "--cuda-path-ignore-env",
                 "-Xclang",
                 "-target-sdk-version=12.5",
                 "-Xclang",
                 "-fcuda-allow-variadic-functions"};
  std::error_code ignored;
  if (fs::exists(kit.plugin, ignored)) words.push_back("-fpass-plugin=" + kit.plugin);
  if (line.value(Option::defaultStream) == "per-thread") append(words, {"-Xclang", "-fgpu-default-stream=per-thread"});
  return words;
}

// Static device variables and kernels of relocatable code are told apart by this; both passes must agree on it, so that
// the driver of clang is told to make none of its own.
Words Compile::unitId(const std::string &input) const {
  if (!relocatable) return {"-fuse-cuid=none"};
  std::error_code ignored;
  std::string key = fs::absolute(source ? *source : input, ignored).lexically_normal().string();
  for (const std::string &macro : line.list(Option::define)) key += '\n' + macro;
  char text[32];
  std::snprintf(text, sizeof text, "%016zx", std::hash<std::string>{}(key));
  return {"-fuse-cuid=none", "-Xclang", "-cuid=" + std::string(text)};
}

Words Compile::deviceMath() const {
  bool fast = line.has(Option::fastMath);
  Words words = {line.isTrue(Option::fmad, true) ? "-ffp-contract=fast" : "-ffp-contract=off"};
  if (fast) words.push_back("-fgpu-approx-transcendentals");
  if (line.isTrue(Option::ftz, fast)) append(words, {"-fgpu-flush-denormals-to-zero", "-D__CUDA_FTZ=1"});
  // LLVM's scale: 2 IEEE, 1 div.full, 0 div.approx.
  if (!line.isTrue(Option::precDiv, !fast))
    append(words, {"-mllvm", std::string("-nvptx-prec-divf32=") + (fast ? "0" : "1"), "-D__CUDA_PREC_DIV=0"});
  if (!line.isTrue(Option::precSqrt, !fast)) append(words, {"-mllvm", "-nvptx-prec-sqrtf32=0", "-D__CUDA_PREC_SQRT=0"});
  return words;
}

Words Compile::device(const std::string &input, const Arch &arch, const std::string &output) const {
  Words words = {kit.clang};
  append(words, cudaMode());
  // A value that only some lanes have set may be passed on: what a shuffle's other lanes give is not undefined
  // behaviour.
  append(words, {"-Xclang", "-no-enable-noundef-analysis"});
  append(words, {"--cuda-device-only", "-S", "--offload-arch=" + arch.name(), "--cuda-feature=+ptx85"});
  append(words, unitId(input));
  if (relocatable)
    append(words, {"-fgpu-rdc", "-Xclang", "-record-command-line", "-Xclang", unitId(input).back()});  // for the plugin
  bool debug = line.has(Option::deviceDebug) && line.value(Option::deviceOptimize) != "on";
  words.push_back(debug ? "-O1" : "-O3");
  if (line.has(Option::deviceDebug) || line.has(Option::lineInfo)) words.push_back("-gline-tables-only");
  append(words, deviceMath());
  append(words, common(Language::cuda));
  for (const std::string &word : hostCompilerOptions(line))
    if (concernsDevice(word) && !(source && isMacro(word))) words.push_back(word);
  words.push_back("-w");  // the host pass sees the same text and says it once
  std::string libdevice = line.value(Option::libdeviceDirectory);
  libdevice = libdevice.empty() ? kit.libdevice : (fs::path(libdevice) / "libdevice.10.bc").string();
  std::error_code ignored;
  if (fs::exists(libdevice, ignored)) append(words, {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", libdevice});
  append(words, {input, "-o", output});
  return words;
}

// Options that concern host code only.
Words Compile::hostOnly() const {
  Words words;
  if (line.has(Option::optimize)) words.push_back("-O" + line.value(Option::optimize));
  if (line.has(Option::debug)) words.push_back("-g");
  if (line.has(Option::profile)) words.push_back("-pg");
  if (line.has(Option::noExceptions)) words.push_back("-fno-exceptions");
  if (line.has(Option::noWarnings)) words.push_back("-w");
  if (line.has(Option::noDeprecated)) words.push_back("-Wno-deprecated-declarations");
  if (line.has(Option::warnReorder)) words.push_back("-Wreorder");
  for (const std::string &kind : line.list(Option::warningsAsErrors)) {
    if (kind == "all-warnings") words.push_back("-Werror");
    if (kind == "reorder" || kind == "deprecated-declarations") words.push_back("-Werror=" + kind);
  }
  for (const std::string &word : hostCompilerOptions(line))
    if (!(source && isMacro(word))) words.push_back(word);
  return words;
}

Words Compile::toText(Words pass, const std::string &output) {
  std::replace_if(pass.begin(), pass.end(), [](const std::string &word) { return word == "-S" || word == "-c"; }, "-E");
  pass.back() = output;
  return pass;
}

Words Compile::dependencyOptions(const std::string &output) const {
  if (source) return {};
  bool all = line.has(Option::dependenciesToo), user = line.has(Option::userDependenciesToo);
  if (!all && !user) return {};
  std::string file = fs::path(line.value(Option::output, output)).replace_extension(".d");
  Words words = {all ? "-MD" : "-MMD", "-MF", line.value(Option::dependencyOutput, file)};
  Words targets = line.list(Option::dependencyTarget);
  if (targets.empty()) targets = {line.value(Option::output, output)};
  for (const std::string &target : targets) append(words, {"-MT", target});
  if (line.has(Option::dependencyPhony)) words.push_back("-MP");
  return words;
}

Words Compile::host(const std::string &input, const std::string &fatbin, const std::string &output) const {
  Words words = {kit.clang};
  append(words, cudaMode());
  append(words, {"--cuda-host-only", "-c", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", fatbin});
  append(words, unitId(input));
  if (relocatable) words.push_back("-fgpu-rdc");
  append(words, common(Language::cuda));
  append(words, hostOnly());
  append(words, dependencyOptions(output));
  append(words, {input, "-o", output});
  return words;
}

Words Compile::plain(Language language, const std::string &input, const std::string &output) const {
  Words words = {kit.clang, "-x", language == Language::c ? "c" : "c++", "-c"};
  append(words, common(language));
  append(words, hostOnly());
  append(words, dependencyOptions(output));
  append(words, {input, "-o", output});
  return words;
}

Words Compile::preprocess(Language language, const std::string &input, const std::string &output) const {
  Words words = {kit.clang};
  if (language == Language::cuda) {
    append(words, cudaMode());
    words.push_back("--cuda-host-only");
  } else {
    append(words, {"-x", language == Language::c ? "c" : "c++"});
  }
  bool all = line.has(Option::dependencies), user = line.has(Option::userDependencies);
  words.push_back(all ? "-M" : user ? "-MM" : "-E");
  append(words, common(language));
  append(words, hostOnly());
  if (all || user) {
    for (const std::string &target : line.list(Option::dependencyTarget)) append(words, {"-MT", target});
    if (line.has(Option::dependencyPhony)) words.push_back("-MP");
  }
  words.push_back(input);
  if (!output.empty()) append(words, {"-o", output});
  return words;
}

}  // namespace strata::nvcc
