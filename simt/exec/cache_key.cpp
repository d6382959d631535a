// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/cache_key.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

#include "simt/abi.h"
#include "simt/engine_id.h"  // made by the build: cmake/engine_id.cmake

namespace strata::simt {

KeyBuilder::KeyBuilder() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_128bits_reset(static_cast<XXH3_state_t *>(state_));
}
KeyBuilder::~KeyBuilder() { XXH3_freeState(static_cast<XXH3_state_t *>(state_)); }

KeyBuilder &KeyBuilder::add(std::uint64_t number) {
  XXH3_128bits_update(static_cast<XXH3_state_t *>(state_), &number, sizeof number);
  return *this;
}

KeyBuilder &KeyBuilder::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  XXH3_128bits_update(static_cast<XXH3_state_t *>(state_), text.data(), text.size());
  return *this;
}

CacheKey KeyBuilder::key() const {
  XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t *>(state_));
  return {hash.high64, hash.low64};
}

std::string_view engineIdentity() { return STRATA_ENGINE_ID; }

CacheKey sourceKey(const std::vector<std::string> &ptx, bool relocatable) {
  KeyBuilder builder;
  builder.add(relocatable);
  for (const std::string &text : ptx) builder.add(text);
  return builder.key();
}

CacheKey moduleKey(const CacheKey &source) {
  return KeyBuilder().add("module").add(engineIdentity()).add(kAbiVersion).add(source).key();
}

CacheKey kernelKey(const CacheKey &module, std::string_view kernel, const CompileOptions &o) {
  KeyBuilder builder;
  builder.add("kernel").add(module).add(kernel).add(cpuFeatureWords());
  const auto &[simd, mode, blockDim, blockMultipleOf32, lineInfo, hostExtensions, passes] = o;  // all of them
  builder.add(static_cast<std::uint64_t>(simd)).add(static_cast<std::uint64_t>(mode));
  for (std::uint32_t n : blockDim) builder.add(n);
  return builder.add(blockMultipleOf32).add(lineInfo).add(hostExtensions).add(passes).key();
}

}  // namespace strata::simt
