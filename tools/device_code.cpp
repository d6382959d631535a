// SPDX-License-Identifier: Apache-2.0
#include "tools/device_code.h"

#include <fstream>
#include <iterator>

#include "base/choose_ptx.h"
#include "base/fatbin.h"
#include "simt/simt.h"

namespace strata::tools {

namespace {

std::string textOf(const fatbin::Entry &entry) { return {entry.payload.begin(), entry.payload.end()}; }

Result<void> addModule(const std::vector<fatbin::Entry> &entries, bool link, std::vector<std::string> &modules) {
  std::vector<const fatbin::Entry *> parts;
  if (!fatbin::chooseRelocatable(entries, fatbin::kCpuCapability, parts)) return {};
  if (parts.empty()) {
    if (const fatbin::Entry *best = fatbin::bestPtx(fatbin::wholePtx(entries), fatbin::kCpuCapability)) modules.push_back(textOf(*best));
    return {};
  }
  std::vector<std::string> texts;
  for (const fatbin::Entry *part : parts) (link ? texts : modules).push_back(textOf(*part));
  if (!link) return {};
  Result<std::string> linked = simt::linkPtx(texts);
  if (!linked) return linked.error();
  modules.push_back(std::move(*linked));
  return {};
}

}  // namespace

// Fat binaries follow one another, padded with zeros.
Result<void> addModules(const nvcc::Object &object, const std::string &section, std::vector<std::string> &modules) {
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
    if (Result<void> added = addModule(*entries, section == kFatbins, modules); !added) return Error{added.error().blame, "'" + object.name + "': " + added.error().message};
    rest = rest.subspan((*size + 7) / 8 * 8 <= rest.size() ? (*size + 7) / 8 * 8 : rest.size());
  }
  return {};
}

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace strata::tools
