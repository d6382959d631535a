// SPDX-License-Identifier: Apache-2.0
// What machine code and module information are kept by: all parts of the keys of the disk cache, and of what a native
// image names. Whatever may change the code of a kernel is a part of its key, and stands here and nowhere else:
//   engine    the build of the engine and of the code generator, by their sources and LLVM (cmake/engine_id.cmake)
//   source    the module's PTX texts
//   kernel    its name
//   cpu       the CPU's feature words
//   options   all of CompileOptions
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simt/simt.h"

namespace strata::simt {

struct CacheKey {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const CacheKey &, const CacheKey &) = default;
};

// A hash of a sequence of parts; their boundaries count.
class KeyBuilder {
public:
  KeyBuilder();
  ~KeyBuilder();
  KeyBuilder(const KeyBuilder &) = delete;
  KeyBuilder &operator=(const KeyBuilder &) = delete;
  KeyBuilder &add(std::string_view text);
  KeyBuilder &add(std::uint64_t number);
  KeyBuilder &add(const CacheKey &key) { return add(key.high).add(key.low); }
  CacheKey key() const;

private:
  void *state_;
};

// The one version of the engine: machine code is run, and a code generator loaded, only by the engine whose it is.
std::string_view engineIdentity();

// The raw CPUID words that decide which instructions run.
const std::string &cpuFeatureWords();

// Of PTX texts that make one module.
CacheKey sourceKey(const std::vector<std::string> &ptx, bool relocatable);
// Of a module's information, by its sourceKey.
CacheKey moduleKey(const CacheKey &source);
// Of a kernel's code for this CPU, by its module's key.
CacheKey kernelKey(const CacheKey &module, std::string_view kernel, const CompileOptions &options);

}  // namespace strata::simt
