// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/native_code.h"

#include <cstdio>

#include "base/choose_ptx.h"
#include "base/printable.h"

namespace strata::nvcc {

namespace {

struct Target {
  const char *name;
  simt::Simd simd;
  bool hostExtensions;
  bool common;  // part of "cpu"
};

// "cpu" is what a program needs that is shipped: x86-64 processors with AVX2 or more. Those without compile the PTX.
constexpr Target kTargets[] = {{"cpu_avx512", simt::Simd::avx512, false, true},
                               {"cpu_avx2", simt::Simd::avx2, false, true},
                               {"cpu_portable", simt::Simd::portable, false, false},
                               {"cpu_native", simt::Simd::portable /* replaced by this CPU's */, true, false}};

Result<std::vector<simt::NativeTarget>> targetsOf(const std::vector<std::string> &names) {
  std::vector<simt::NativeTarget> targets;
  for (const std::string &name : names)
    for (const Target &target : kTargets) {
      if (name != target.name) continue;
      Result<simt::Simd> simd = target.hostExtensions ? simt::hostSimd() : target.simd;
      if (!simd) return simd.error();
      targets.push_back({*simd, target.hostExtensions});
    }
  return targets;
}

}  // namespace

std::vector<std::string> nativeTargets(const std::string &name) {
  std::vector<std::string> names;
  for (const Target &target : kTargets)
    if (name == target.name || (name == "cpu" && target.common)) names.push_back(target.name);
  return names;
}

std::string listNativeTargets() {
  std::string text = "cpu\n";
  for (const Target &target : kTargets) text += std::string(target.name) + "\n";
  return text;
}

Result<std::vector<simt::BlockShape>> readBlockShapes(const std::vector<std::string> &texts) {
  std::vector<simt::BlockShape> shapes;
  for (const std::string &text : texts) {
    Result<simt::BlockShape> shape = simt::readShape("Option '--cpu-block'", text);
    if (!shape) return shape.error();
    shapes.push_back(*shape);
  }
  return shapes;
}

Result<void> addNativeCode(std::vector<strata::fatbin::Entry> &entries, const NativeCode &wanted) {
  if (wanted.targets.empty()) return {};
  const strata::fatbin::ChosenPtx chosen = strata::fatbin::choosePtx(entries, strata::fatbin::kCpuCapability);
  if (chosen.entries.empty()) return {};
  Result<std::vector<simt::NativeTarget>> targets = targetsOf(wanted.targets);
  if (!targets) return targets.error();
  Result<simt::NativeBuild> build = simt::buildNatives({chosen.texts(), chosen.relocatable, {}, chosen.names()},
                                                       *targets, wanted.blockShapes, wanted.threads);
  auto warn = [&](const std::string &why) {
    if (wanted.warn) std::fprintf(stderr, "nvcc warning : no machine code for CPUs: %s\n", printable(why).c_str());
  };
  if (!build) {
    // What does not link runs nowhere; a whole program that is refused may be meant for GPUs.
    if (build.error().blame == Blame::user && chosen.relocatable)
      return userError("device link: " + build.error().message);
    if (build.error().blame != Blame::user && build.error().blame != Blame::unsupported) return build.error();
    warn(build.error().message);
    return {};
  }
  for (const std::string &why : build->leftOut) warn(why);
  for (std::size_t i = 0; i < build->images.size(); ++i)
    entries.push_back({strata::fatbin::Kind::native, strata::fatbin::kCpuCapability, false, wanted.targets[i],
                       std::move(build->images[i])});
  return {};
}

}  // namespace strata::nvcc
