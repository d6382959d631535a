// SPDX-License-Identifier: Apache-2.0
#include "tools/device_code.h"

#include <fstream>
#include <iterator>

#include "base/choose_ptx.h"
#include "base/fatbin.h"

namespace strata::tools {

namespace {

void addModule(const std::vector<fatbin::Entry> &entries, bool whole, std::vector<simt::ModuleSource> &modules) {
  const fatbin::ChosenPtx chosen = fatbin::choosePtx(entries, fatbin::kCpuCapability);
  std::vector<std::string> texts = chosen.texts();
  if (whole && !texts.empty()) return modules.push_back({std::move(texts), chosen.relocatable, {}, chosen.names()});
  for (std::string &text : texts) modules.push_back({{std::move(text)}, false, {}});
}

}  // namespace

// Fat binaries follow one another, padded with zeros.
Result<void> addModules(const nvcc::Object &object, const std::string &section,
                        std::vector<simt::ModuleSource> &modules) {
  Result<std::vector<std::uint8_t>> bytes = nvcc::section(object, section);
  if (!bytes) return bytes.error();
  std::span<const std::uint8_t> rest = *bytes;
  while (rest.size() >= 16) {
    Result<std::uint64_t> size = fatbin::claimedSize(rest.data());
    if (!size) {
      rest = rest.subspan(8);
      continue;
    }
    if (*size > rest.size()) return userError("'" + object.name + "' has damaged device code");
    Result<std::vector<fatbin::Entry>> entries = fatbin::read(rest.first(*size));
    if (!entries) return userError("'" + object.name + "': " + entries.error().message);
    addModule(*entries, section == kFatbins, modules);
    rest = rest.subspan((*size + 7) / 8 * 8 <= rest.size() ? (*size + 7) / 8 * 8 : rest.size());
  }
  return {};
}

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace strata::tools
