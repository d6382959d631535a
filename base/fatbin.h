// SPDX-License-Identifier: Apache-2.0
// CUDA's fat binary container, read by driver/ and runtime/, written by the compiler driver: a header
// (magic 0xBA55ED50) and entries, each PTX text or a native image. The layout is the one NVIDIA's driver
// reads, so that the same bytes load on both devices.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace strata::fatbin {

inline constexpr std::uint32_t kMagic = 0xBA55ED50;
inline constexpr std::uint32_t kWrapperMagic = 0x466243B1;  // __fatBinC_Wrapper_t, what a host object registers

// What __cudaRegisterFatBinary receives.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void *data;  // the fat binary
  void *filenameOrFatbins;
};

// NVIDIA's kinds are single low bits, of which `native`, Strata's machine code for CPUs, shares none: NVIDIA's driver
// passes it over, as it does kinds that are newer than itself.
enum class Kind : std::uint16_t { ptx = 1, cubin = 2, native = 0x5300 };

struct Entry {
  Kind kind = Kind::ptx;
  std::uint32_t arch = 0;             // 90 for sm_90; suffix letters are in the PTX text itself
  bool relocatable = false;           // from -rdc=true: externs are still open
  std::string name;                   // source file, may be empty
  std::vector<std::uint8_t> payload;  // decompressed; PTX without the final NUL
};

// Reads a fat binary of known or unknown extent. Pass the extent where it is known: nothing beyond it is
// touched. Errors (user): bad magic, truncated, sizes that do not fit, unknown compression, corrupt data, a size
// when unpacked that is out of proportion to the extent.
Result<std::vector<Entry>> read(std::span<const std::uint8_t> bytes);
// Extent in bytes as the header claims, to wrap registered images whose size is not passed along.
Result<std::uint64_t> claimedSize(const void *data);

std::vector<std::uint8_t> write(const std::vector<Entry> &entries, bool compress);

}  // namespace strata::fatbin
