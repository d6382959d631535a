// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress: among the symbols that share a base name, the newest one that the asked CUDA version had.
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "driver/entries.h"
#include "driver/entry.h"

namespace strata::driver {
namespace {

using Variants = std::vector<const EntryRow *>;

bool isPerThread(const EntryRow &row) {
  std::string_view symbol = row.symbol;
  return symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
}

const std::unordered_map<std::string_view, Variants> &variantsByBase() {
  static const auto &map = *[] {
    auto *made = new std::unordered_map<std::string_view, Variants>;
    for (const EntryRow &row : entryRows()) (*made)[row.base].push_back(&row);
    return made;
  }();
  return map;
}

// Per-thread forms are preferred when asked for; a family that has none answers with its plain form.
const EntryRow *select(const Variants &variants, int version, bool perThread) {
  bool hasPerThread = false;
  for (const EntryRow *row : variants) hasPerThread |= isPerThread(*row);
  const EntryRow *best = nullptr;
  for (const EntryRow *row : variants) {
    if (row->since > version || isPerThread(*row) != (perThread && hasPerThread)) continue;
    if (!best || row->since > best->since) best = row;
  }
  return best;
}

}  // namespace

CUresult entry::cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *symbolStatus) {
  constexpr cuuint64_t kFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!symbol || !pfn || cudaVersion > CUDA_VERSION || (flags & ~kFlags) || flags == kFlags)
    return CUDA_ERROR_INVALID_VALUE;
  *pfn = nullptr;
  auto answer = [&](CUdriverProcAddressQueryResult status) {
    if (symbolStatus) *symbolStatus = status;
    // Without a place for the status, an unknown symbol is an error.
    return symbolStatus || status == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  };
  auto found = variantsByBase().find(symbol);
  if (found == variantsByBase().end()) return answer(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  bool perThread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const EntryRow *row = select(found->second, cudaVersion, perThread);
  if (!row) return answer(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  *pfn = row->address;
  return answer(CU_GET_PROC_ADDRESS_SUCCESS);
}

CUresult entry::cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags) {
  return entry::cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

}  // namespace strata::driver
