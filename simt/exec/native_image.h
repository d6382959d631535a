// SPDX-License-Identifier: Apache-2.0
// Machine code of a module's kernels for one target, made ahead of time and carried in the fat binary beside the PTX: a
// program starts without the code generator. An image says for which PTX, CPU and build of the engine it is, and
// whoever is not that compiles the PTX. Layout: magic, size and checksum of the table, the table (serialize.h), then
// each kernel's code, compressed, with a checksum of its own, so that only what is launched is unpacked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simt/exec/cache_key.h"
#include "simt/simt.h"

namespace strata::simt {

struct NativeKernel {
  std::string name;
  std::uint32_t blockDim[3] = {0, 0, 0};  // as in CompileOptions
  bool blockMultipleOf32 = false;
  std::uint64_t offset = 0, packedSize = 0, size = 0;  // bytes; the offset counts from the table's end
  CacheKey checksum;                                   // of the packed code
};

struct NativeTable {
  std::string engine;  // engineIdentity()
  CacheKey source;
  Simd simd = kLeastSimd;
  std::string cpu;  // cpuFeatureWords() of the only kind of CPU that runs it; empty: each CPU of the target does
  ModuleInfo info;
  std::vector<NativeKernel> kernels;
};

class NativeImage {
public:
  // Errors (user): not such an image, or a damaged one.
  static Result<std::unique_ptr<NativeImage>> read(std::vector<std::uint8_t> bytes);

  const NativeTable &table() const { return table_; }
  // Why this process cannot use it for that source and target; empty: it can.
  std::string refusal(const CacheKey &source, Simd simd) const;
  // Code for these options; nullopt: there is none, or it is damaged.
  std::optional<KernelImage> kernel(std::string_view name, const CompileOptions &options) const;

private:
  std::optional<KernelImage> code(const NativeKernel &kernel) const;

  NativeTable table_;
  std::vector<std::uint8_t> bytes_;
  std::size_t code_ = 0;  // where the table ends
};

// The one to use among several; null: none.
std::unique_ptr<NativeImage> chooseNative(std::vector<std::vector<std::uint8_t>> images, const CacheKey &source,
                                          Simd simd);

// Bytes of an image; offsets, sizes and checksums in the table are filled in.
std::vector<std::uint8_t> writeNative(NativeTable table, const std::vector<KernelImage> &code);

}  // namespace strata::simt
