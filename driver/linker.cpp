// SPDX-License-Identifier: Apache-2.0
// cuLink*: collects PTX, links it into one PTX text. That text is the "cubin" which cuLinkComplete returns and
// cuModuleLoadData takes; it lives as long as its CUlinkState.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "driver/entries.h"
#include "driver/module.h"

namespace strata::driver {
namespace {

class Linker final : public Shared {
public:
  JitOptions options;
  std::vector<std::string> inputs, names;  // one name per input
  std::string linked;
};

Linker *findLinker(CUlinkState handle) { return handles<Linker, CUlinkState>().find(handle); }

CUresult addImage(Linker &linker, CUjitInputType type, const void *data, std::size_t size, const char *name) {
  switch (type) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY: break;
    case CU_JIT_INPUT_CUBIN: return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  simt::ModuleSource source;
  if (CUresult result = findSource(data, size, linker.options, source); result != CUDA_SUCCESS) return result;
  for (std::string &ptx : source.ptx) {
    linker.inputs.push_back(std::move(ptx));
    linker.names.push_back(name ? name : "");
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult entry::cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                                CUlinkState *stateOut) {
  if (!stateOut) return CUDA_ERROR_INVALID_VALUE;
  auto linker = makeRef<Linker>();
  CUresult result = parseJitOptions(numOptions, options, optionValues, linker->options);
  if (result != CUDA_SUCCESS) return result;
  CUlinkState handle = handles<Linker, CUlinkState>().add(linker);
  if (!handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *stateOut = handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                                 unsigned int numOptions, CUjit_option *options, void **optionValues) {
  Linker *linker = findLinker(state);
  if (!linker) return CUDA_ERROR_INVALID_HANDLE;
  JitOptions ignored;
  CUresult result = parseJitOptions(numOptions, options, optionValues, ignored);
  if (result != CUDA_SUCCESS) return result;
  return data && size ? addImage(*linker, type, data, size, name) : CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                                 CUjit_option *options, void **optionValues) {
  Linker *linker = findLinker(state);
  if (!linker) return CUDA_ERROR_INVALID_HANDLE;
  JitOptions ignored;
  CUresult result = parseJitOptions(numOptions, options, optionValues, ignored);
  if (result != CUDA_SUCCESS) return result;
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::size_t size = bytes.size();
  bytes.push_back(0);
  return size ? addImage(*linker, type, bytes.data(), size, path) : CUDA_ERROR_INVALID_IMAGE;
}

CUresult entry::cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
  Linker *linker = findLinker(state);
  if (!linker) return CUDA_ERROR_INVALID_HANDLE;
  if (!cubinOut || !sizeOut) return CUDA_ERROR_INVALID_VALUE;
  auto linked = simt::linkPtx(linker->inputs, linker->names);
  if (!linked) return reportCompileError(linked.error(), linker->options);
  linker->linked = std::move(*linked);
  *cubinOut = linker->linked.data();
  *sizeOut = linker->linked.size() + 1;  // with the NUL by which cuModuleLoadData finds its end
  return CUDA_SUCCESS;
}

CUresult entry::cuLinkDestroy(CUlinkState state) {
  return handles<Linker, CUlinkState>().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace strata::driver
