// SPDX-License-Identifier: Apache-2.0
// Images that a program loads: PTX text, fat binaries, and what is refused (machine code of GPUs).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/choose_ptx.h"
#include "base/fatbin.h"
#include "base/log.h"
#include "driver/entries.h"
#include "driver/module.h"

namespace strata::driver {
namespace {

void fill(const std::string &text, char *buffer, std::size_t bytes, void **size) {
  std::size_t length = 0;
  if (buffer && bytes) {
    length = std::min(text.size(), bytes - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = 0;
  }
  if (size) *size = reinterpret_cast<void *>(length ? length + 1 : 0);
}

CUresult reject(CUresult result, const std::string &why, const JitOptions &options) {
  log::error(why);
  fill(why, options.errorLog, options.errorBytes, options.errorSize);
  return result;
}

// "sm_90a" in the .target directive gives 90; 0 if there is none.
std::uint32_t targetOf(std::string_view ptx) {
  auto at = ptx.find(".target");
  if (at == ptx.npos) return 0;
  at = ptx.find("sm_", at);
  std::uint32_t arch = 0;
  if (at != ptx.npos)
    for (at += 3; at < ptx.size() && ptx[at] >= '0' && ptx[at] <= '9' && arch < 10000; ++at)
      arch = arch * 10 + static_cast<std::uint32_t>(ptx[at] - '0');
  return arch;
}

bool looksLikePtx(std::string_view text) { return text.find(".version") != text.npos; }

CUresult sourceOfFatbin(std::span<const std::uint8_t> bytes, const JitOptions &options, simt::ModuleSource &source) {
  auto entries = fatbin::read(bytes);
  if (!entries) return reject(CUDA_ERROR_INVALID_IMAGE, "fat binary: " + entries.error().message, options);
  const fatbin::ChosenPtx chosen = fatbin::choosePtx(*entries, fatbin::kCpuCapability);
  if (chosen.entries.empty()) {
    std::string held;
    for (const fatbin::Entry &entry : *entries)
      held += fmt::format(" {} for sm_{}", entry.kind == fatbin::Kind::ptx ? "PTX" : "machine code", entry.arch);
    return reject(CUDA_ERROR_NO_BINARY_FOR_GPU,
                  fmt::format("the fat binary has no PTX for sm_{} or older; it holds:{}", fatbin::kCpuCapability,
                              held.empty() ? " nothing" : held),
                  options);
  }
  source.ptx = chosen.texts();
  source.names = chosen.names();
  source.relocatable = chosen.relocatable;
  for (fatbin::Entry &entry : *entries)
    if (entry.kind == fatbin::Kind::native) source.natives.push_back(std::move(entry.payload));
  return CUDA_SUCCESS;
}

std::uint32_t wordAt(const void *image) {
  std::uint32_t word = 0;
  std::memcpy(&word, image, sizeof word);
  return word;
}

}  // namespace

CUresult parseJitOptions(unsigned count, CUjit_option *options, void **values, JitOptions &parsed) {
  if (!validList(options, count) || !validList(values, count)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    auto number = reinterpret_cast<std::size_t>(values[i]);
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: parsed.infoLog = static_cast<char *>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER: parsed.errorLog = static_cast<char *>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        parsed.infoBytes = number & 0xffffffff;
        parsed.infoSize = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        parsed.errorBytes = number & 0xffffffff;
        parsed.errorSize = &values[i];
        break;
      case CU_JIT_WALL_TIME: parsed.wallTime = reinterpret_cast<float *>(&values[i]); break;
      default:
        // The others steer machine code generation for a GPU, and change no result here.
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

CUresult reportCompileError(const Error &error, const JitOptions &options) {
  switch (error.blame) {
    case Blame::user: return reject(CUDA_ERROR_INVALID_PTX, "PTX: " + error.message, options);
    case Blame::environment: return reject(CUDA_ERROR_NOT_SUPPORTED, error.message, options);
    case Blame::unsupported: return reject(CUDA_ERROR_NOT_SUPPORTED, "PTX: " + error.message, options);
    case Blame::resource: return reject(CUDA_ERROR_OUT_OF_MEMORY, error.message, options);
    case Blame::internal: break;
  }
  return reject(CUDA_ERROR_UNKNOWN, "internal error: " + error.message, options);
}

CUresult findSource(const void *image, std::size_t bytes, const JitOptions &options, simt::ModuleSource &source) {
  const char *text = static_cast<const char *>(image);
  std::size_t known = bytes ? bytes : strnlen(text, 4);
  if (known >= 4) {  // no magic number has a zero byte, so strnlen tells whether four bytes are there
    std::uint32_t magic = wordAt(image);
    if (magic == fatbin::kWrapperMagic) {  // it points into the program that registers it: in a file it means nothing
      if (bytes) return reject(CUDA_ERROR_INVALID_IMAGE, "the image is not a fat binary but a pointer to one", options);
      fatbin::Wrapper wrapper;
      std::memcpy(&wrapper, image, sizeof wrapper);
      if (!wrapper.data) return CUDA_ERROR_INVALID_IMAGE;
      return findSource(wrapper.data, 0, options, source);
    }
    if (magic == fatbin::kMagic) {
      auto size = bytes ? Result<std::uint64_t>(bytes) : fatbin::claimedSize(image);
      if (!size) return reject(CUDA_ERROR_INVALID_IMAGE, "fat binary: " + size.error().message, options);
      return sourceOfFatbin({static_cast<const std::uint8_t *>(image), *size}, options, source);
    }
    if (std::memcmp(text, "\177ELF", 4) == 0)
      return reject(CUDA_ERROR_NO_BINARY_FOR_GPU, "the image is machine code for a GPU; this device takes PTX",
                    options);
  }
  source.ptx.emplace_back(text, bytes ? strnlen(text, bytes) : std::strlen(text));
  if (!looksLikePtx(source.ptx[0]))
    return reject(CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX nor a fat binary", options);
  return CUDA_SUCCESS;
}

CUresult loadImage(const void *image, std::size_t bytes, const JitOptions &options, LoadedImage &loaded) {
  auto begin = std::chrono::steady_clock::now();
  simt::ModuleSource source;
  if (CUresult result = findSource(image, bytes, options, source); result != CUDA_SUCCESS) return result;
  for (const std::string &ptx : source.ptx) loaded.ptxVersion = std::max(loaded.ptxVersion, targetOf(ptx));
  if (loaded.ptxVersion > fatbin::kCpuCapability)
    return reject(CUDA_ERROR_INVALID_PTX,
                  fmt::format("PTX for sm_{} does not run on this device, which is sm_{}", loaded.ptxVersion,
                              fatbin::kCpuCapability),
                  options);
  auto code = simt::openModule(std::move(source));
  if (!code) return reportCompileError(code.error(), options);
  loaded.code = *code;
  fill("", options.infoLog, options.infoBytes, options.infoSize);
  fill("", options.errorLog, options.errorBytes, options.errorSize);
  if (options.wallTime)
    *options.wallTime = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return CUDA_SUCCESS;
}

CUresult loadImageFile(const char *path, const JitOptions &options, LoadedImage &loaded) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::size_t size = bytes.size();
  if (size == 0) return CUDA_ERROR_INVALID_IMAGE;
  bytes.push_back(0);
  return loadImage(bytes.data(), size, options, loaded);
}

}  // namespace strata::driver
