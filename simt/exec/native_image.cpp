// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/native_image.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/log.h"
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

std::string shapeText(const CompileOptions &options) {
  if (options.blockMultipleOf32) return "blocks with full rows of 32";
  if (!options.blockDim[0]) return "blocks of any shape";
  const auto extent = [&](int i) { return std::to_string(options.blockDim[i]); };
  return "blocks of " + extent(0) + "," + extent(1) + "," + extent(2);
}

}  // namespace

Result<std::unique_ptr<NativeImage>> NativeImage::read(std::vector<std::uint8_t> bytes) {
  Head head;
  if (bytes.size() < sizeof head) return userError("native image: truncated");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0)
    return userError("native image: not one, or of another version");
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
  const auto lacks = [&](const std::string &what) {
    if (log::enabled(log::Level::debug))
      log::write(log::Level::debug, "the native image has no code of kernel '" + std::string(name) + "' for " + what +
                                        ": the PTX's is taken");
    return std::nullopt;
  };
  if (options.mode != Mode::vector) return lacks("lane mode");
  if (!options.passes.empty()) return lacks("these STRATA_PASSES");
  if (options.simd != table_.simd) return lacks("this SIMD target");
  for (const NativeKernel &kernel : table_.kernels) {
    if (kernel.name != name || !fits(kernel, options)) continue;
    auto image = code(kernel);
    if (!image)
      log::once(log::Level::info, "native." + kernel.name,
                "native image: the code of kernel '" + kernel.name + "' is damaged");
    return image;
  }
  return lacks(shapeText(options));
}

std::optional<KernelImage> NativeImage::code(const NativeKernel &kernel) const {
  const std::uint64_t room = bytes_.size() - code_;
  if (kernel.offset > room || kernel.packedSize > room - kernel.offset) return std::nullopt;
  std::span packed(bytes_.data() + code_ + kernel.offset, kernel.packedSize);
  if (checksumOf(packed) != kernel.checksum) return std::nullopt;
  auto bytes = unpack(packed, kernel.size);
  return bytes ? deserializeKernel(*bytes) : std::nullopt;
}

std::unique_ptr<NativeImage> chooseNative(std::vector<std::vector<std::uint8_t>> images, const CacheKey &source,
                                          Simd simd) {
  std::unique_ptr<NativeImage> chosen;
  std::vector<std::string> unfit;  // worth saying only if none fits
  const auto leaveAside = [](const std::string &why) {
    log::write(log::Level::debug, "a native image is left aside: " + why);
  };
  for (std::vector<std::uint8_t> &bytes : images) {
    auto image = NativeImage::read(std::move(bytes));
    if (!image) {
      leaveAside(image.error().message);
      continue;
    }
    if (std::string why = (*image)->refusal(source, simd); !why.empty()) {
      unfit.push_back(std::move(why));
      continue;
    }
    // What was made for this very CPU may be quicker.
    if (!chosen || !(*image)->table().cpu.empty()) chosen = std::move(*image);
  }
  if (chosen)
    log::write(log::Level::debug,
               std::string("a native image ") + (chosen->table().cpu.empty() ? "" : "for this very CPU ") + "is used");
  else std::for_each(unfit.begin(), unfit.end(), leaveAside);
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
