// SPDX-License-Identifier: Apache-2.0
#include "driver/visible_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

namespace strata::driver {
namespace {

std::string textOf(const CUuuid &uuid) {
  std::string text = "gpu-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

// The device's number; -1 if the entry names none, or several.
int deviceOf(std::string_view entry, const std::vector<CUuuid> &uuids) {
  const int count = static_cast<int>(uuids.size());
  int number = -1;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  if (error == std::errc{} && end == entry.data() + entry.size()) return number < count ? number : -1;
  std::string start(entry);
  std::transform(start.begin(), start.end(), start.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!start.starts_with("gpu-")) return -1;
  int found = -1;
  for (int i = 0; i < count; ++i) {
    if (!textOf(uuids[i]).starts_with(start)) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

}  // namespace

std::vector<int> visibleDevices(const char *value, const std::vector<CUuuid> &uuids) {
  std::vector<int> visible;
  if (!value) {
    for (std::size_t i = 0; i < uuids.size(); ++i) visible.push_back(static_cast<int>(i));
    return visible;
  }
  for (std::string_view rest = value;;) {
    const std::size_t comma = rest.find(',');
    const int device = deviceOf(trimmed(rest.substr(0, comma)), uuids);
    if (device < 0) return visible;
    if (std::find(visible.begin(), visible.end(), device) != visible.end()) return {};
    visible.push_back(device);
    if (comma == rest.npos) return visible;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace strata::driver
