// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/native_image.h"

#include <zstd.h>

#include <cstring>

#include "base/log.h"
#include "simt/engine_id.h"  // made by the build: cmake/engine_id.cmake
#include "simt/exec/cpu.h"
#include "simt/exec/serialize.h"

namespace strata::simt {
namespace {

constexpr char kMagic[8] = {'S', 't', 'r', 'a', 't', 'a', 'N', '1'};
constexpr std::uint64_t kMaxKernel = std::uint64_t{1} << 28;  // bytes unpacked; a claim beyond it is damage
constexpr int kPackLevel = 12;

struct Head {
  char magic[8];
  std::uint64_t tableSize;
  CacheKey checksum;
};

CacheKey checksumOf(std::span<const std::uint8_t> bytes) {
  return KeyBuilder().add(std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size())).key();
}

std::optional<std::vector<std::uint8_t>> unpack(std::span<const std::uint8_t> packed, std::uint64_t size) {
  if (size > kMaxKernel) return std::nullopt;
  std::vector<std::uint8_t> bytes(size);
  if (ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()) != size) return std::nullopt;
  return bytes;
}

std::vector<std::uint8_t> pack(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint8_t> packed(ZSTD_compressBound(bytes.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kPackLevel));
  return packed;
}

bool fits(const NativeKernel &kernel, const CompileOptions &options) {
  return std::memcmp(kernel.blockDim, options.blockDim, sizeof kernel.blockDim) == 0 &&
         kernel.blockMultipleOf32 == options.blockMultipleOf32 && options.lineInfo;
}

}  // namespace

std::string_view engineIdentity() { return STRATA_ENGINE_ID; }

CacheKey sourceKey(const std::vector<std::string> &ptx, bool relocatable) {
  KeyBuilder builder;
  builder.add(relocatable);
  for (const std::string &text : ptx) builder.add(text);
  return builder.key();
}

Result<std::unique_ptr<NativeImage>> NativeImage::read(std::vector<std::uint8_t> bytes) {
  Head head;
  if (bytes.size() < sizeof head) return userError("native image: truncated");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0) return userError("native image: not one, or of another version");
  if (head.tableSize > bytes.size() - sizeof head) return userError("native image: truncated");
  std::span table(bytes.data() + sizeof head, head.tableSize);
  if (checksumOf(table) != head.checksum) return userError("native image: damaged");
  auto parsed = deserializeNative(table);
  if (!parsed) return userError("native image: damaged");
  auto image = std::make_unique<NativeImage>();
  image->table_ = std::move(*parsed);
  image->code_ = sizeof head + head.tableSize;
  image->bytes_ = std::move(bytes);
  return image;
}

std::string NativeImage::refusal(const CacheKey &source, Simd simd) const {
  if (table_.engine != engineIdentity()) return "made by another build of the engine";
  if (table_.source != source) return "made from other PTX";
  if (table_.simd != simd) return "for another SIMD target";
  if (!table_.cpu.empty() && table_.cpu != cpuFeatureWords()) return "for another CPU";
  return {};
}

std::optional<KernelImage> NativeImage::kernel(std::string_view name, const CompileOptions &options) const {
  if (options.mode != Mode::vector || options.simd != table_.simd) return std::nullopt;
  for (const NativeKernel &kernel : table_.kernels) {
    if (kernel.name != name || !fits(kernel, options)) continue;
    auto image = code(kernel);
    if (!image) log::once(log::Level::info, "native." + kernel.name, "native image: the code of kernel '" + kernel.name + "' is damaged");
    return image;
  }
  return std::nullopt;
}

std::optional<KernelImage> NativeImage::code(const NativeKernel &kernel) const {
  const std::uint64_t room = bytes_.size() - code_;
  if (kernel.offset > room || kernel.packedSize > room - kernel.offset) return std::nullopt;
  std::span packed(bytes_.data() + code_ + kernel.offset, kernel.packedSize);
  if (checksumOf(packed) != kernel.checksum) return std::nullopt;
  auto bytes = unpack(packed, kernel.size);
  return bytes ? deserializeKernel(*bytes) : std::nullopt;
}

std::unique_ptr<NativeImage> chooseNative(std::vector<std::vector<std::uint8_t>> images, const CacheKey &source, Simd simd) {
  std::unique_ptr<NativeImage> chosen;
  for (std::vector<std::uint8_t> &bytes : images) {
    auto image = NativeImage::read(std::move(bytes));
    const std::string why = image ? (*image)->refusal(source, simd) : image.error().message;
    if (!why.empty()) {
      log::write(log::Level::debug, "a native image is left aside: " + why);
      continue;
    }
    // What was made for this very CPU may be quicker.
    if (!chosen || !(*image)->table().cpu.empty()) chosen = std::move(*image);
  }
  return chosen;
}

std::vector<std::uint8_t> writeNative(NativeTable table, const std::vector<KernelImage> &code) {
  std::vector<std::uint8_t> packed;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::vector<std::uint8_t> bytes = serialize(code[i]), part = pack(bytes);
    NativeKernel &kernel = table.kernels[i];
    kernel.offset = packed.size(), kernel.packedSize = part.size(), kernel.size = bytes.size();
    kernel.checksum = checksumOf(part);
    packed.insert(packed.end(), part.begin(), part.end());
  }
  const std::vector<std::uint8_t> tableBytes = serialize(table);
  Head head;
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.tableSize = tableBytes.size();
  head.checksum = checksumOf(tableBytes);
  std::vector<std::uint8_t> image(sizeof head);
  std::memcpy(image.data(), &head, sizeof head);
  image.insert(image.end(), tableBytes.begin(), tableBytes.end());
  image.insert(image.end(), packed.begin(), packed.end());
  return image;
}

}  // namespace strata::simt
