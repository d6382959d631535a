// SPDX-License-Identifier: Apache-2.0
// The door of libstrata_codegen.so (simt/simt.h): strata_codegen_open and strata_codegen_link.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/knobs.h"
#include "base/log.h"
#include "base/trust.h"
#include "ptx/ptx.h"
#include "simt/engine_id.h"  // made by the build: cmake/engine_id.cmake
#include "simt/jit/module_info.h"
#include "simt/pass.h"
#include "simt/pipeline.h"
#include "simt/simt.h"

namespace strata::simt {
namespace {

// Never through a link that somebody else has put there.
bool writeFile(const Descriptor &folder, const std::string &name, std::string_view text) {
  const Descriptor file(
      openat(folder.number(), name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  while (file && !text.empty()) {
    const ssize_t written = write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return static_cast<bool>(file);
}

std::string summaryOf(std::string_view kernel, const CompileResult &result) {
  double sums[3] = {};
  for (const PassTrace::Row &row : result.trace.rows) sums[static_cast<int>(row.level)] += row.milliseconds;
  return fmt::format("compiled {}: lower {:.1f} ms, lane {:.1f}, warp {:.1f}, machine {:.1f}, emit {:.1f}; {} bytes",
                     kernel, result.lowerMilliseconds, sums[0], sums[1], sums[2], result.emitMilliseconds,
                     result.image.object.size());
}

std::string tableOf(const CompileResult &result) {
  std::string text = fmt::format("{:<24} {:<8} {:>8} {:>8} {:>8}\n", "pass", "level", "ms", "before", "after");
  const auto stage = [&](const char *name, double milliseconds) {
    text += fmt::format("{:<24} {:<8} {:>8.2f}\n", name, "", milliseconds);
  };
  stage("(lower)", result.lowerMilliseconds);
  for (const PassTrace::Row &row : result.trace.rows) {
    text += fmt::format("{:<24} {:<8} ", row.name, nameOf(row.level));
    text += row.leftOut ? fmt::format("{:>8}\n", "left out")
                        : fmt::format("{:>8.2f} {:>8} {:>8}\n", row.milliseconds, row.before, row.after);
  }
  stage("(machine code)", result.emitMilliseconds);
  return text;
}

class OpenModule final : public CodegenModule {
public:
  OpenModule(ptx::Module module, ModuleInfo info) : ptx_(std::move(module)), info_(std::move(info)) {}
  const ModuleInfo &info() const override { return info_; }

  Result<KernelImage> compile(std::string_view kernel, const CompileOptions &options) override {
    const std::string &folder = knobs::get().STRATA_DUMP;
    auto result = compileKernel(ptx_, kernel, options, {.texts = !folder.empty()});
    if (!result) return result.error();
    if (log::enabled(log::Level::debug)) log::write(log::Level::debug, summaryOf(kernel, *result));
    if (!folder.empty()) dump(folder, kernel, result->texts);
    return std::move(result->image);
  }

  Result<std::string> inspect(std::string_view kernel, const CompileOptions &options, std::string_view stage) override {
    if (stage == "ptx") return ptx::print(ptx_);
    const bool isPass = llvm::any_of(passes(), [&](const Pass &pass) { return pass.name == stage; });
    if (!isPass && stage != "lane" && stage != "vector" && stage != "asm" && stage != "why" && stage != "passes")
      return userError("no stage '" + std::string(stage) +
                       "': there are ptx, lane, vector, asm, why, passes, and the passes' names");
    auto result = compileKernel(ptx_, kernel, options, {true, stage == "passes", isPass ? std::string(stage) : ""});
    if (!result) return result.error();
    StageTexts &texts = result->texts;
    if (stage == "passes") return tableOf(*result);
    return std::move(isPass              ? result->trace.text
                     : stage == "lane"   ? texts.lane
                     : stage == "vector" ? texts.vector
                     : stage == "asm"    ? texts.assembly
                                         : texts.why);
  }

private:
  void dump(const std::string &path, std::string_view kernel, const StageTexts &texts) const {
    const Result<Descriptor> folder = Trust::openOwnFolder(path);
    if (!folder) return log::once(log::Level::warn, "dump", "STRATA_DUMP: " + folder.error().message);
    const std::string name(kernel.substr(0, 200));
    const std::pair<const char *, std::string> files[] = {
        {".ptx", ptx::print(ptx_)}, {".lane.ll", texts.lane}, {".vector.ll", texts.vector}, {".s", texts.assembly}};
    for (const auto &[extension, text] : files)
      if (!writeFile(*folder, name + extension, text))
        log::once(log::Level::warn, name + extension,
                  "STRATA_DUMP: cannot write " + path + "/" + name + extension + ": " + std::strerror(errno));
  }

  const ptx::Module ptx_;
  const ModuleInfo info_;
};

}  // namespace
}  // namespace strata::simt

extern "C" {

// LLVM's statics, and ours, live to the end of the process: threads may still compile while exit runs its handlers. So
// those that this library would register (it is never unloaded) are not. Hidden: nobody else's.
[[gnu::visibility("hidden")]] int __cxa_atexit(void (*)(void *), void *, void *) noexcept { return 0; }

// Of the engine that may use it.
[[gnu::visibility("default")]] extern const char *const strata_codegen_engine;
const char *const strata_codegen_engine = STRATA_ENGINE_ID;

[[gnu::visibility("default")]] strata::simt::CodegenModule *strata_codegen_open(const char *ptx, std::size_t size,
                                                                                strata::Error *error) {
  auto module = strata::ptx::parse({ptx, size});
  if (!module) {
    *error = module.error();
    return nullptr;
  }
  auto info = strata::simt::describeModule(*module);
  if (!info) {
    *error = info.error();
    return nullptr;
  }
  return new strata::simt::OpenModule(std::move(*module), std::move(*info));
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
[[gnu::visibility("default")]] strata::Result<std::string> strata_codegen_link(const std::vector<std::string> &texts,
                                                                               const std::vector<std::string> &names) {
  std::vector<strata::ptx::Module> modules;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto module = strata::ptx::parse(texts[i]);
    if (!module) {
      const std::string where = i < names.size() && !names[i].empty() ? "'" + names[i] + "': " : "";
      return strata::Error{module.error().blame, where + module.error().message};
    }
    modules.push_back(std::move(*module));
  }
  auto linked = strata::ptx::link(std::move(modules), names);
  if (!linked) return linked.error();
  return strata::ptx::print(*linked);
}
#pragma clang diagnostic pop

}  // extern "C"
