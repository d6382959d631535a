// SPDX-License-Identifier: Apache-2.0
// Bytes of ModuleInfo and KernelImage in the cache and in native images. Reading is strict: what writing did not make
// is refused (nullopt), whatever the bytes, and never touches memory outside them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simt/simt.h"

namespace strata::simt {

struct NativeTable;

std::vector<std::uint8_t> serialize(const ModuleInfo &info);
std::vector<std::uint8_t> serialize(const KernelImage &image);
std::vector<std::uint8_t> serialize(const NativeTable &table);
std::optional<ModuleInfo> deserializeModule(std::span<const std::uint8_t> bytes);
std::optional<KernelImage> deserializeKernel(std::span<const std::uint8_t> bytes);
std::optional<NativeTable> deserializeNative(std::span<const std::uint8_t> bytes);

}  // namespace strata::simt
