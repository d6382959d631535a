// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/plan.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/fatbin.h"
#include "toolkit/nvcc/arch.h"
#include "toolkit/nvcc/compile.h"
#include "toolkit/nvcc/device_link.h"
#include "toolkit/nvcc/dialect.h"
#include "toolkit/nvcc/native_code.h"
#include "toolkit/nvcc/ptx_text.h"
#include "toolkit/nvcc/shell.h"
#include "toolkit/nvcc/toolkit.h"

namespace strata::nvcc {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

void append(Words &words, const Words &more) { words.insert(words.end(), more.begin(), more.end()); }

enum class Phase { compile, link, deviceLink, lib, preprocess, dependencies, ptx, fatbin, syntaxOnly };

Result<Phase> choosePhase(const CommandLine &line) {
  struct Choice {
    Option option;
    Phase phase;
  };
  const Choice choices[] = {{Option::compile, Phase::compile},
                            {Option::deviceC, Phase::compile},
                            {Option::deviceW, Phase::compile},
                            {Option::link, Phase::link},
                            {Option::deviceLink, Phase::deviceLink},
                            {Option::lib, Phase::lib},
                            {Option::preprocess, Phase::preprocess},
                            {Option::dependencies, Phase::dependencies},
                            {Option::userDependencies, Phase::dependencies},
                            {Option::ptx, Phase::ptx},
                            {Option::fatbin, Phase::fatbin},
                            {Option::syntaxOnly, Phase::syntaxOnly}};
  const Choice *chosen = nullptr;
  for (const Choice &choice : choices) {
    if (!line.has(choice.option)) continue;
    if (chosen && chosen->phase != choice.phase) {
      for (const OptionRow &a : optionTable())
        for (const OptionRow &b : optionTable())
          if (a.id == chosen->option && b.id == choice.option)
            return userError("Options '--" + std::string(a.longName) + "' and '--" + b.longName +
                             "' exclude each other");
    }
    chosen = &choice;
  }
  return chosen ? chosen->phase : Phase::link;
}

enum class InputKind { cuda, cxx, c, ptx, linkable, other };

InputKind kindOf(const std::string &file, const CommandLine &line) {
  std::string extension = fs::path(file).extension();
  auto is = [&](std::initializer_list<const char *> list) {
    for (const char *one : list)
      if (extension == one) return true;
    return false;
  };
  // Objects and libraries stay what they are, also under -x.
  if (is({".o", ".obj", ".a", ".so", ".lo"}) || file.find(".so.") != file.npos) return InputKind::linkable;
  std::string language = line.value(Option::language);
  if (!language.empty()) return language == "cu" ? InputKind::cuda : language == "c" ? InputKind::c : InputKind::cxx;
  if (is({".cu", ".cuh"})) return InputKind::cuda;
  if (is({".cpp", ".cc", ".cxx", ".c++", ".C", ".CPP"})) return InputKind::cxx;
  if (is({".c"})) return InputKind::c;
  if (is({".ptx"})) return InputKind::ptx;
  return InputKind::other;
}

Result<std::vector<std::uint8_t>> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return userError("cannot read '" + path + "'");
  return std::vector<std::uint8_t>((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

struct PtxImage {
  Arch arch;
  std::string file;
};

struct FatbinOptions {
  bool relocatable = false, compress = true;
  NativeCode nativeCode;
};

// Whole programs may not need device code of other files: an NVIDIA driver would say so at the launch only.
Result<void> checkResolved(const std::vector<std::uint8_t> &ptx) {
  const std::string symbol = unresolvedSymbol({ptx.begin(), ptx.end()});
  if (symbol.empty()) return {};
  return userError("Unresolved extern symbol '" + symbol + "': device code of other files is linked with -rdc=true");
}

Result<void> writeFatbin(const std::vector<PtxImage> &images, const std::string &output, const FatbinOptions &options) {
  std::vector<strata::fatbin::Entry> entries;
  for (const PtxImage &image : images) {
    Result<std::vector<std::uint8_t>> text = readFile(image.file);
    if (!text) return text.error();
    if (!options.relocatable)
      if (Result<void> checked = checkResolved(*text); !checked) return checked;
    strata::fatbin::Entry entry;
    entry.arch = static_cast<std::uint32_t>(image.arch.number);
    entry.relocatable = options.relocatable;
    entry.payload = std::move(*text);
    entries.push_back(std::move(entry));
  }
  if (!options.relocatable)  // else its time comes with the device link
    if (Result<void> added = addNativeCode(entries, options.nativeCode); !added) return added;
  std::vector<std::uint8_t> bytes = strata::fatbin::write(entries, options.compress);
  std::ofstream file(output, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) return resourceError("cannot write '" + output + "'");
  return {};
}

class Planner {
public:
  explicit Planner(const CommandLine &line) : line_(line), kit_(Toolkit::locate()), compile_{line_, kit_, archs_} {}

  Result<Plan> make() {
    Result<Phase> phase = choosePhase(line_);
    if (!phase) return phase.error();
    phase_ = *phase;
    Result<Targets> targets = requestedTargets(line_);
    if (!targets) return targets.error();
    archs_ = targets->archs;
    compile_.relocatable =
        line_.has(Option::deviceC) || (line_.isTrue(Option::relocatable, false) && !line_.has(Option::deviceW));
    compress_ = !line_.has(Option::noCompress) && line_.value(Option::compressMode) != "none";
    if (Result<void> set = settings(); !set) return set.error();
    if (Result<void> chosen = chooseFolder(); !chosen) return chosen.error();
    Result<std::vector<simt::BlockShape>> shapes = readBlockShapes(line_.list(Option::cpuBlock));
    if (!shapes) return shapes.error();
    nativeCode_ = {targets->nativeCode, *shapes, plan_.threads, !line_.has(Option::noWarnings)};
    if (nativeCode_.warn && nativeCode_.targets.empty() && !nativeCode_.blockShapes.empty())
      std::fprintf(
          stderr,
          "nvcc warning : option '--cpu-block' has no effect: no CPU is among the architectures (-arch=…,cpu)\n");
    variables();
    for (const std::string &input : line_.inputs)
      if (Result<void> added = addInput(input); !added) return added.error();
    if (phase_ == Phase::link)
      if (Result<void> added = addLink(); !added) return added.error();
    if (phase_ == Phase::deviceLink) addDeviceLink(plan_.last, line_.value(Option::output, "a_dlink.o"));
    if (phase_ == Phase::lib) addArchive();
    if (line_.has(Option::run)) addRun();
    if (Result<void> checked = checkResults(); !checked) return checked.error();
    return std::move(plan_);
  }

private:
  Result<void> settings() {
    if (line_.inputs.empty()) return userError("No input files specified; use option --help for more information");
    bool perFile = phase_ != Phase::link && phase_ != Phase::lib && phase_ != Phase::deviceLink;
    if (perFile && line_.inputs.size() > 1 && line_.has(Option::output))
      return userError("A single input file is required for a non-link phase when an outputfile is specified");
    if (phase_ == Phase::ptx && archs_.size() > 1)
      return userError("Option '--ptx (-ptx)' is not allowed when compiling for multiple GPU architectures");
    plan_.keep = line_.has(Option::keep) || line_.has(Option::saveTemps) || line_.has(Option::keepDirectory);
    for (auto [option, name] : {std::pair{Option::threads, "threads"}, {Option::maxRegisters, "maxrregcount"}}) {
      std::string number = line_.value(option, "0");
      if (number.empty() || number.size() > 4 || number.find_first_not_of("0123456789") != number.npos)
        return userError("Value '" + number + "' is not defined for option '" + name + "'");
    }
    plan_.threads = static_cast<unsigned>(std::stoi(line_.value(Option::threads, "0")));
    return {};
  }

  Result<void> chooseFolder() {
    if (plan_.keep) {
      plan_.temporaryFolder = line_.value(Option::keepDirectory, ".");
    } else if (line_.has(Option::dryRun)) {
      plan_.temporaryFolder = TemporaryFolder::wouldBe("strata-nvcc");
    } else {
      Result<TemporaryFolder> made = TemporaryFolder::make("strata-nvcc");
      if (!made) return made.error();
      plan_.own.emplace(*std::move(made));
      plan_.temporaryFolder = plan_.own->path();
    }
    for (const std::string &input : line_.inputs)
      if (input == "-") plan_.standardInput = (fs::path(plan_.temporaryFolder) / "stdin").string();
    return {};
  }

  // What CMake's compiler detection reads.
  void variables() {
    std::string archs;
    for (const Arch &arch : archs_) archs += " -arch compute_" + std::to_string(arch.number);
    plan_.variables = {"_SPACE_= ",
                       "_CUDART_=cudart",
                       "_HERE_=" + kit_.bin,
                       "TOP=" + kit_.bin + "/..",
                       "NVVMIR_LIBRARY_DIR=" + kit_.prefix + "/nvvm/libdevice",
                       "PATH=" + kit_.bin + ":" + fs::path(kit_.clang).parent_path().string(),
                       "INCLUDES=" + shellQuote("-I" + kit_.include),
                       "LIBRARIES=" + shellLine(libraryFolders()),
                       "ARCHITECTURES=" + archs};
  }

  Words libraryFolders() const { return {"-L" + kit_.lib + "/stubs", "-L" + kit_.lib}; }

  std::string temporary(const std::string &input, const std::string &extension) {
    std::string stem = input == "-" ? "stdin" : fs::path(input).stem();
    // Two inputs of one command may have the same name.
    if (!plan_.keep && plan_.chains.size() > 1) stem = std::to_string(plan_.chains.size()) + "_" + stem;
    return (fs::path(plan_.temporaryFolder) / (stem + extension)).lexically_normal();
  }

  std::string outputFor(const std::string &input, const std::string &extension) {
    fs::path name = input == "-" ? "stdin" : fs::path(input).stem();
    name += extension;
    results_.push_back(line_.value(Option::output, fs::path(line_.value(Option::outputDirectory)) / name));
    return results_.back();
  }

  // No result may take the place of what it is made from.
  Result<void> checkResults() {
    results_.push_back(line_.value(Option::output));
    results_.push_back(line_.value(Option::dependencyOutput));
    std::error_code ignored;
    for (const std::string &result : results_)
      for (const std::string &input : line_.inputs)
        if (result != "-" && !result.empty() && (result == input || fs::equivalent(result, input, ignored)))
          return userError("'" + input + "' is an input, and the output '" + result + "' would overwrite it");
    return {};
  }

  Result<void> addInput(const std::string &input) {
    InputKind kind = kindOf(input, line_);
    bool links = phase_ == Phase::link || phase_ == Phase::lib || phase_ == Phase::deviceLink;
    if (links && (kind == InputKind::linkable || (kind == InputKind::other && phase_ == Phase::link))) {
      linkFiles_.push_back(input);
      return {};
    }
    if (kind == InputKind::linkable) return {};  // as nvcc: `nvcc -c x.o` has nothing to do
    if (kind == InputKind::other) return userError("Don't know what to do with '" + input + "'");
    plan_.chains.emplace_back();
    if (kind == InputKind::ptx) return addPtx(input);
    Language language = kind == InputKind::cuda ? Language::cuda : kind == InputKind::c ? Language::c : Language::cxx;
    if (phase_ == Phase::preprocess) return addPreprocess(language, input, line_.value(Option::output));
    if (phase_ == Phase::dependencies)
      return addPreprocess(language, input, line_.value(Option::dependencyOutput, line_.value(Option::output)));
    if (language == Language::cuda)
      return mayNeedRewriting(input, line_.list(Option::include)) ? addRewrittenCuda(input) : addCuda(input);
    if (phase_ == Phase::ptx || phase_ == Phase::fatbin)
      return userError("'" + input + "' has no device code; use -x cu");
    if (phase_ == Phase::syntaxOnly) return {};
    stage({{compile_.plain(language, input, objectFor(input)), {}}});
    return {};
  }

  void stage(Stage steps) { plan_.chains.back().push_back(std::move(steps)); }

  Result<void> addPreprocess(Language language, const std::string &input, const std::string &output) {
    stage({{compile_.preprocess(language, input, output), {}}});
    return {};
  }

  Result<void> addPtx(const std::string &input) {
    if (phase_ != Phase::fatbin)
      return unsupported("'" + input + "': PTX can only be made into a fat binary (--fatbin)");
    stage({fatbinStep({{archs_.back(), input}}, outputFor(input, ".fatbin"))});
    return {};
  }

  Step fatbinStep(const std::vector<PtxImage> &images, const std::string &output) {
    Words words = {"fatbinary"};
    for (const PtxImage &image : images)
      words.push_back("--image3=kind=ptx,sm=" + std::to_string(image.arch.number) + ",file=" + image.file);
    FatbinOptions options = {compile_.relocatable, compress_, nativeCode_};
    if (!options.relocatable) append(words, nativeWords());
    words.push_back("--create=" + output);
    return {words, [=] { return writeFatbin(images, output, options); }};
  }

  Words nativeWords() const {
    Words words;
    for (const std::string &target : nativeCode_.targets) words.push_back("--image3=kind=native,target=" + target);
    return words;
  }

  // Some code needs changes to what clang writes.
  bool editsPtx() const { return compile_.relocatable || line_.has(Option::maxRegisters); }

  Step editStep(const std::string &from, const std::string &to) const {
    bool relocatable = compile_.relocatable;
    std::string registers = line_.value(Option::maxRegisters);
    return {{"edit", from, "-o", to}, [=]() -> Result<void> {
              Result<std::vector<std::uint8_t>> bytes = readFile(from);
              if (!bytes) return bytes.error();
              std::string text(bytes->begin(), bytes->end());
              if (relocatable) text = repairRelocatable(text);
              if (!registers.empty()) text = limitRegisters(text, registers);
              std::ofstream file(to == "-" ? "/dev/stdout" : to);
              file << text;
              if (!file.flush()) return resourceError("cannot write '" + to + "'");
              return {};
            }};
  }

  Step rewriteStep(const std::string &from, const std::string &to) const {
    return {{"rewrite", from, "-o", to}, [=]() -> Result<void> {
              Result<std::vector<std::uint8_t>> bytes = readFile(from);
              if (!bytes) return bytes.error();
              std::ofstream file(to);
              file << rewriteDialect({reinterpret_cast<const char *>(bytes->data()), bytes->size()});
              if (!file.flush()) return resourceError("cannot write '" + to + "'");
              return {};
            }};
  }

  // The passes over `input`: each is preprocessed, and its text rewritten, first.
  Result<void> addRewrittenCuda(const std::string &input) {
    Stage texts, rewrites;
    std::vector<std::string> files;
    auto add = [&](const std::string &extension, auto pass) {
      std::string text = temporary(input, extension + ".ii");
      files.push_back(temporary(input, extension + ".rewritten.ii"));
      texts.push_back({Compile::toText(pass(), text), {}});
      rewrites.push_back(rewriteStep(text, files.back()));
    };
    for (const Arch &arch : archs_) add("." + arch.name(), [&] { return compile_.device(input, arch, "-"); });
    const bool host = phase_ != Phase::ptx && phase_ != Phase::fatbin && phase_ != Phase::syntaxOnly;
    if (host) add(".host", [&] { return compile_.host(input, "/dev/null", hostObject(input)); });
    stage(std::move(texts));
    stage(std::move(rewrites));
    return addCuda(input, files);
  }

  // `texts`: what to compile instead of `input`, for each target and the host; none: itself.
  Result<void> addCuda(const std::string &input, const std::vector<std::string> &texts = {}) {
    std::vector<PtxImage> images;
    Stage passes, edits;
    Compile compile = compile_;
    if (!texts.empty()) compile.source = &input;
    std::size_t pass = 0;
    auto textOf = [&] { return texts.empty() ? input : texts[pass++]; };
    for (const Arch &arch : archs_) {
      std::string file = phase_ == Phase::syntaxOnly ? "/dev/null"
                         : phase_ == Phase::ptx      ? outputFor(input, ".ptx")
                                                     : temporary(input, "." + arch.name() + ".ptx");
      images.push_back({arch, file});
      if (editsPtx()) {
        std::string clangs = temporary(input, "." + arch.name() + ".clang.ptx");
        edits.push_back(editStep(clangs, file));
        file = clangs;
      }
      passes.push_back({compile.device(textOf(), arch, file), {}});
    }
    stage(std::move(passes));
    if (!edits.empty()) stage(std::move(edits));
    if (phase_ == Phase::ptx || phase_ == Phase::syntaxOnly) return {};
    std::string fatbin = phase_ == Phase::fatbin ? outputFor(input, ".fatbin") : temporary(input, ".fatbin");
    stage({fatbinStep(images, fatbin)});
    if (phase_ == Phase::fatbin) return {};
    stage({{compile.host(textOf(), fatbin, objectFor(input)), {}}});
    return {};
  }

  std::string hostObject(const std::string &input) {
    return phase_ == Phase::compile ? outputFor(input, ".o") : temporary(input, ".o");
  }

  // The object that `input` becomes: the result, or on the way to it.
  std::string objectFor(const std::string &input) {
    std::string object = hostObject(input);
    if (phase_ != Phase::compile) linkFiles_.push_back(object);
    return object;
  }

  DeviceLinkInput deviceLinkInput() const {
    return {linkFiles_, line_.list(Option::library), line_.list(Option::libraryPath)};
  }

  void addDeviceLink(Chain &chain, const std::string &object) {
    std::string stem = fs::path(object).stem();
    std::string fatbin = (fs::path(plan_.temporaryFolder) / (stem + ".fatbin")).lexically_normal();
    std::string source = (fs::path(plan_.temporaryFolder) / (stem + ".reg.c")).lexically_normal();
    Words words = {"nvlink", "--register-link-binaries=" + source};
    append(words, linkFiles_);
    append(words, nativeWords());
    append(words, {"-o", fatbin});
    chain.push_back({{words, [=, input = deviceLinkInput(), compress = compress_, nativeCode = nativeCode_] {
                        return deviceLink(input, fs::absolute(fatbin), source, compress, nativeCode);
                      }}});
    chain.push_back({{{kit_.clang, "-x", "c", "-c", "-O1", "-fPIC", source, "-o", object}, {}}});
  }

  Result<void> addLink() {
    Words words = {kit_.clang};
    if (line_.has(Option::shared)) words.push_back("-shared");
    if (line_.has(Option::relocatableLink)) words.push_back("-r");
    if (line_.has(Option::profile)) words.push_back("-pg");
    if (line_.has(Option::debug)) words.push_back("-g");
    append(words, hostCompilerOptions(line_));
    words.push_back("-Wl,--start-group");
    Result<bool> deviceToo = linksDeviceCode();
    if (!deviceToo) return deviceToo.error();
    if (*deviceToo) {
      std::string object = (fs::path(plan_.temporaryFolder) / "a_dlink.o").lexically_normal();
      addDeviceLink(plan_.last, object);
      words.push_back(object);
    }
    append(words, linkFiles_);
    for (const std::string &folder : line_.list(Option::libraryPath)) words.push_back("-L" + folder);
    for (const std::string &option : line_.list(Option::linkerOptions)) append(words, {"-Xlinker", option});
    for (const std::string &library : line_.list(Option::library)) words.push_back("-l" + library);
    append(words, line_.forwardLinker);
    append(words, libraryFolders());
    std::string cudart = line_.value(Option::cudart, "static");
    if (cudart == "static") append(words, {"-lcudart_static", "-lrt", "-lpthread", "-ldl"});
    if (cudart == "shared") words.push_back("-lcudart");
    // For libcudart, and for the runtime to find the CPU driver.
    if (!line_.has(Option::relocatableLink)) words.push_back("-Wl,-rpath," + kit_.lib);
    append(words, {"-Wl,--end-group", "-Qunused-arguments", "-o", line_.value(Option::output, "a.out")});
    plan_.last.push_back({{words, {}}});
    return {};
  }

  // Objects that are still to be compiled have relocatable code if the options say so; the others are looked at.
  // Files that are missing are the host linker's to report.
  Result<bool> linksDeviceCode() const {
    if (line_.has(Option::noDeviceLink) || line_.has(Option::relocatableLink)) return false;
    DeviceLinkInput input = deviceLinkInput();
    std::erase_if(input.files, [](const std::string &file) { return !fs::exists(file); });
    Result<bool> needed = needsDeviceLink(input);
    if (!needed) return needed;
    return *needed || (compile_.relocatable && !plan_.chains.empty());
  }

  void addArchive() {
    std::string output = line_.value(Option::output, "a.a");
    Words words = {line_.value(Option::archiver, kit_.archiver), "rcs"};
    append(words, line_.list(Option::archiveOptions));
    words.push_back(output);
    append(words, linkFiles_);
    plan_.last.push_back({{words, {}}});
  }

  void addRun() {
    Words words = {fs::absolute(line_.value(Option::output, "a.out")).string()};
    append(words, line_.list(Option::runArgs));
    plan_.last.push_back({{words, {}}});
  }

  const CommandLine &line_;
  Toolkit kit_;
  std::vector<Arch> archs_;
  Compile compile_;
  Phase phase_ = Phase::link;
  bool compress_ = true;
  NativeCode nativeCode_;
  Words linkFiles_;
  Words results_;
  Plan plan_;
};

}  // namespace

Result<Plan> makePlan(const CommandLine &line) { return Planner(line).make(); }

}  // namespace strata::nvcc
