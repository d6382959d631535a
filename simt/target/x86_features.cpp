// SPDX-License-Identifier: Apache-2.0
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include "simt/target/cpu_features.h"

namespace strata::simt {

CpuFeatures cpuFeatures(Simd simd, bool hostExtensions) {
  CpuFeatures cpu;
  cpu.cpu = simd == Simd::portable ? "x86-64" : simd == Simd::avx2 ? "x86-64-v3" : "x86-64-v4";
  if (simd == Simd::portable) return cpu;
  cpu.sse41 = cpu.fma = cpu.f16c = true;
  cpu.features = "+prfchw";  // where a CPU of these levels lacks prefetchw, it does nothing
  if (simd == Simd::avx2) return cpu;
  cpu.avx512 = true;
  if (!hostExtensions) return cpu;
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  // avx512bf16 is left out on purpose: its conversions flush subnormals.
  for (const char *name : {"avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "avx512ifma", "avx512vnni",
                           "avx512fp16", "gfni"})
    if (host.lookup(name)) cpu.features += ",+" + std::string(name);
  cpu.fp16 = host.lookup("avx512fp16");
  return cpu;
}

}  // namespace strata::simt
