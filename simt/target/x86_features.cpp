// SPDX-License-Identifier: Apache-2.0
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include "simt/target/cpu_features.h"

namespace strata::simt {

CpuFeatures cpuFeatures(Simd simd, bool hostExtensions) {
  CpuFeatures cpu;
  cpu.cpu = levelOf(simd).cpu;
  if (simd == Simd::portable) return cpu;
  cpu.roundsToIntegral = cpu.fusesMultiplyAdd = cpu.convertsHalf = true;
  cpu.features = "+prfchw";  // where a CPU of these levels lacks prefetchw, it does nothing
  if (simd == Simd::avx2) return cpu;
  cpu.avx512 = true;
  cpu.vectorBits = "512";
  if (!hostExtensions) return cpu;
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  // avx512bf16 is left out on purpose: its conversions flush subnormals.
  for (const char *name : {"avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "avx512ifma", "avx512vnni",
                           "avx512fp16", "gfni"})
    if (host.lookup(name)) cpu.features += ",+" + std::string(name);
  cpu.computesHalf = host.lookup("avx512fp16");
  return cpu;
}

}  // namespace strata::simt
