// SPDX-License-Identifier: Apache-2.0
// Stands in for libstrata_codegen.so: "PTX" is the names of its kernels, which are objects in a folder:
// "FOLDER name name…". A text that starts with '!' is rejected. Counts what it is asked for. The next compilation can
// be made to run out of memory.
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <thread>

#include "simt/engine_id.h"  // made by the build
#include "simt/simt.h"

namespace strata::simt {
namespace {

std::atomic<int> opens{0}, compiles{0};
std::atomic<bool> exhausted{false}, slow{false};
std::mutex optionsMutex;  // kernels are compiled on several threads
CompileOptions lastOptions;

class FakeModule final : public CodegenModule {
public:
  explicit FakeModule(const std::string &text) {
    std::istringstream words(text);
    words >> folder_;
    for (std::string name; words >> name;) info_.kernels.emplace_back().name = name;
    info_.globalsSize = 16;
    info_.globalsImage.assign(16, 7);
  }
  const ModuleInfo &info() const override { return info_; }
  Result<KernelImage> compile(std::string_view kernel, const CompileOptions &options) override {
    ++compiles;
    {
      std::lock_guard lock(optionsMutex);
      lastOptions = options;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough for others to come
    if (slow.exchange(false)) std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    if (exhausted.exchange(false)) throw std::bad_alloc();
    std::ifstream file(folder_ + "/" + std::string(kernel) + ".o", std::ios::binary);
    if (!file) return unsupported("kernel '" + std::string(kernel) + "' cannot be compiled");
    KernelImage image;
    image.entryKind = EntryKind::block;
    image.object.assign(std::istreambuf_iterator<char>(file), {});
    return image;
  }
  Result<std::string> inspect(std::string_view, const CompileOptions &, std::string_view) override {
    return std::string();
  }

private:
  std::string folder_;
  ModuleInfo info_;
};

}  // namespace

extern "C" {
#pragma GCC visibility push(default)
extern const char *const strata_codegen_engine;
const char *const strata_codegen_engine = FAKE_ENGINE;

CodegenModule *strata_codegen_open(const char *ptx, std::size_t size, Error *error) {
  ++opens;
  std::string text(ptx, size);
  if (text.starts_with("!")) {
    *error = userError("line 1, column 1: no PTX");
    return nullptr;
  }
  return new FakeModule(text);
}
bool strata_codegen_source_line(const std::uint8_t *, std::size_t, std::uint32_t, std::uint64_t offset, char *line,
                                std::size_t capacity) {
  std::snprintf(line, capacity, "fake.cu:%llu", static_cast<unsigned long long>(offset));
  return true;
}
int fake_opens() { return opens; }
int fake_compiles() { return compiles; }
void fake_exhaust() { exhausted = true; }
void fake_slow() { slow = true; }
const CompileOptions *fake_last_options() { return &lastOptions; }
#pragma GCC visibility pop
}

#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
extern "C" __attribute__((visibility("default"))) Result<std::string> strata_codegen_link(
    const std::vector<std::string> &ptx, const std::vector<std::string> &) {
  std::string all;
  for (const std::string &text : ptx) all += text;
  return all;
}

}  // namespace strata::simt
