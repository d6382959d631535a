// SPDX-License-Identifier: Apache-2.0
#include "driver/entries.h"

namespace strata::driver {
namespace {

struct Row {
  const char *name, *text;
};

const Row *findError(CUresult error) {
  switch (error) {
#define ERROR(name, text) \
  case name: {            \
    static constexpr Row row{#name, text}; \
    return &row;          \
  }
#include "driver/errors.def"
#undef ERROR
  }
  return nullptr;
}

}  // namespace

CUresult entry::cuGetErrorString(CUresult error, const char **pStr) {
  if (!pStr) return CUDA_ERROR_INVALID_VALUE;
  const Row *row = findError(error);
  *pStr = row ? row->text : nullptr;
  return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuGetErrorName(CUresult error, const char **pStr) {
  if (!pStr) return CUDA_ERROR_INVALID_VALUE;
  const Row *row = findError(error);
  *pStr = row ? row->name : nullptr;
  return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace strata::driver
