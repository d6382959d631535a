// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "case.h"

namespace bench {
namespace {
bool onlySmall = false;
}

std::vector<std::function<Case()>> &cases() {
  static std::vector<std::function<Case()>> list;
  return list;
}

int addCase(std::function<Case()> make) {
  cases().push_back(std::move(make));
  return 0;
}

int size(int full, int small) { return onlySmall ? small : full; }

void setUp(bool small, unsigned seed) {
  onlySmall = small;
  randomEngine().seed(seed);
}

std::mt19937 &randomEngine() {
  static std::mt19937 engine;
  return engine;
}

std::vector<float> randomFloats(std::size_t count, float low, float high) {
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(count);
  for (float &v : values) v = uniform(randomEngine());
  return values;
}

std::vector<std::uint16_t> randomHalves(std::size_t count, float low, float high) {
  std::vector<std::uint16_t> halves;
  for (float value : randomFloats(count, low, high)) halves.push_back(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
  return halves;
}

}  // namespace bench
