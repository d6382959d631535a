// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/arch.h"

#include <dlfcn.h>

#include <algorithm>
#include <set>

#include "toolkit/nvcc/native_code.h"
#include "toolkit/nvcc/shell.h"

namespace strata::nvcc {

namespace {

constexpr int kKnown[] = {35, 37, 50, 52, 53, 60,  61,  62,  70,  72,  75, 80,
                          86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

// The compute capability of the first device that the installed driver sees, else of the CPU device.
Arch nativeArch() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return kNewestArch;
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto attribute = reinterpret_cast<int (*)(int *, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{MAJOR,MINOR}
  int major = 0, minor = 0;
  if (!init || !attribute || init(0) || attribute(&major, kMajor, 0) || attribute(&minor, kMinor, 0))
    return kNewestArch;
  return std::min(Arch{major * 10 + minor, ""}, kNewestArch);
}

// "sm_90a", "compute_80", "lto_90" or "90" -> what clang compiles it as.
Result<Arch> parseArch(const std::string &text) {
  Error error = userError("Unsupported gpu architecture '" + text + "'");
  std::string digits = text;
  for (const char *prefix : {"sm_", "compute_", "lto_"})
    if (text.starts_with(prefix)) digits = text.substr(std::string_view(prefix).size());
  std::string suffix;
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
    suffix = digits.back();
    digits.pop_back();
  }
  if (digits.empty() || digits.size() > 3 || digits.find_first_not_of("0123456789") != digits.npos) return error;
  int number = std::stoi(digits);
  if (std::find(std::begin(kKnown), std::end(kKnown), number) == std::end(kKnown)) return error;
  if (!suffix.empty() && number < 90) return error;
  if (number > kNewestArch.number) return kNewestArch;
  if (number == 88) return Arch{87, ""};  // clang 19 does not know sm_88; its PTX differs in nothing
  return Arch{number, suffix == "a" ? "a" : ""};
}

// What one command line gathers.
struct Requested {
  std::set<Arch> archs;
  std::set<std::string> nativeCode;

  // True if the name is one of CPUs, which is noted.
  bool takeNative(const std::string &name) {
    const std::vector<std::string> targets = nativeTargets(name);
    nativeCode.insert(targets.begin(), targets.end());
    return !targets.empty();
  }
  // Names of images. Each GPU's is PTX of the architecture they belong to, so that they are looked at only.
  Result<void> addCodes(const std::vector<std::string> &codes) {
    for (const std::string &code : codes) {
      if (takeNative(code)) continue;
      if (Result<Arch> image = parseArch(code); !image) return image.error();
    }
    return {};
  }
};

Result<void> addGencode(const std::string &spec, Requested &requested) {
  std::string arch;
  std::vector<std::string> codes;
  for (const std::string &part : splitList(spec)) {
    std::size_t equals = part.find('=');
    if (equals == part.npos) return userError("'" + part + "' is not in 'keyword=value' format");
    std::string key = part.substr(0, equals), value = part.substr(equals + 1);
    if (value.size() > 1 && (value.front() == '[' || value.front() == '"')) value = value.substr(1, value.size() - 2);
    if (key == "arch") arch = value;
    else if (key == "code") codes = splitList(value);
    else return userError("'" + key + "' is no keyword of option '--generate-code'");
  }
  if (arch.empty()) return userError("Option '--generate-code " + spec + "', missing arch");
  if (codes.empty()) return userError("Option '--generate-code " + spec + "', missing code");
  // The code is what __CUDA_ARCH__ of `arch` says; images for later GPUs are made from that PTX by the driver.
  Result<Arch> parsed = parseArch(arch);
  if (!parsed) return parsed.error();
  requested.archs.insert(*parsed);
  return requested.addCodes(codes);
}

// A value of -arch, of which there may be several only if the others are CPUs.
Result<void> addArch(const std::string &name, Requested &requested) {
  if (requested.takeNative(name)) return {};
  if (name == "native") {
    requested.archs.insert(nativeArch());
  } else if (name == "all" || name == "all-major") {
    requested.archs.insert({kDefaultArch, {80, ""}, kNewestArch});
  } else {
    Result<Arch> parsed = parseArch(name);
    if (!parsed) return parsed.error();
    requested.archs.insert(*parsed);
  }
  return {};
}

}  // namespace

Result<Targets> requestedTargets(const CommandLine &line) {
  Requested requested;
  for (const std::string &spec : line.list(Option::generateCode))
    if (Result<void> added = addGencode(spec, requested); !added) return added.error();
  const std::vector<std::string> archs = splitList(line.value(Option::arch));
  if (archs[0].empty() && line.has(Option::code)) return userError("-arch option not specified");
  if (line.has(Option::arch) && std::find(archs.begin(), archs.end(), "") != archs.end())
    return userError("Option '--gpu-architecture " + line.value(Option::arch) + "' has an empty name");
  for (const std::string &name : archs)
    if (!name.empty())
      if (Result<void> added = addArch(name, requested); !added) return added.error();
  if (std::count_if(archs.begin(), archs.end(), [](const std::string &name) { return nativeTargets(name).empty(); }) >
      1)
    return userError("Option '--gpu-architecture " + line.value(Option::arch) +
                     "' names more than one GPU: use --generate-code");
  if (Result<void> added = requested.addCodes(line.list(Option::code)); !added) return added.error();
  if (requested.archs.empty()) requested.archs.insert(kDefaultArch);
  return Targets{{requested.archs.begin(), requested.archs.end()},
                 {requested.nativeCode.begin(), requested.nativeCode.end()}};
}

std::string listArchs(const std::string &prefix) {
  std::string text;
  for (int number : kKnown) text += prefix + "_" + std::to_string(number) + "\n";
  return text;
}

}  // namespace strata::nvcc
