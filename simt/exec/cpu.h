// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace strata::simt {

// The raw CPUID words that decide which instructions run, for cache keys.
const std::string &cpuFeatureWords();

}  // namespace strata::simt
