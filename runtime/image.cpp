// SPDX-License-Identifier: Apache-2.0
#include "runtime/image.h"

#include <algorithm>

#include "base/choose_ptx.h"
#include "base/log.h"
#include "runtime/context.h"
#include "runtime/error.h"

namespace strata::runtime {
namespace {

using fatbin::Entry;
using fatbin::Kind;
using fatbin::targetSuffix;

constexpr std::size_t kLogSize = 8192;

std::string text(const Entry &entry) { return {entry.payload.begin(), entry.payload.end()}; }

// A program that goes on launching finds the same error each time; the log has it once.
cudaError_t fail(const std::string &what, CUresult result, const char *messages) {
  const char *name = nullptr;
  driver().cuGetErrorName(result, &name);
  std::string line = what + " failed with " + (name ? name : std::to_string(result).c_str());
  if (*messages) line += ":\n" + std::string(messages);
  log::once(log::Level::error, line, line);
  return toError(result);
}

// PTX text, or a fat binary.
cudaError_t load(const void *image, const std::string &what, CUmodule &module) {
  char messages[kLogSize] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {messages, reinterpret_cast<void *>(kLogSize)};
  CUresult result = driver().cuModuleLoadDataEx(&module, image, 2, options, values);
  return result == CUDA_SUCCESS ? cudaSuccess : fail("loading of " + what, result, messages);
}

cudaError_t loadPtx(const Entry &entry, CUmodule &module) {
  return load(text(entry).c_str(), entry.name.empty() ? "PTX" : entry.name, module);
}

cudaError_t linkPtx(const std::vector<const Entry *> &entries, CUmodule &module) {
  char messages[kLogSize] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {messages, reinterpret_cast<void *>(kLogSize)};
  CUlinkState link;
  if (CUresult result = driver().cuLinkCreate(2, options, values, &link)) return toError(result);
  CUresult result = CUDA_SUCCESS;
  std::string step = "device link";
  for (const Entry *entry : entries) {
    std::string ptx = text(*entry);
    result = driver().cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx.data(), ptx.size() + 1, entry->name.c_str(), 0, nullptr,
                                    nullptr);
    if (result == CUDA_SUCCESS) continue;
    step += " of " + entry->name;
    break;
  }
  void *image = nullptr;
  std::size_t size = 0;
  if (result == CUDA_SUCCESS) result = driver().cuLinkComplete(link, &image, &size);
  if (result == CUDA_SUCCESS) result = driver().cuModuleLoadData(&module, image);
  driver().cuLinkDestroy(link);
  return result == CUDA_SUCCESS ? cudaSuccess : fail(step, result, messages);
}

cudaError_t noImage(const std::vector<Entry> &entries, unsigned capability) {
  std::string have;
  for (const Entry &entry : entries) {
    if (entry.kind != Kind::ptx) continue;
    have += " sm_" + std::to_string(entry.arch);
    if (char suffix = targetSuffix(entry)) have += suffix;
  }
  std::string line = "no kernel image for sm_" + std::to_string(capability) + "; the program has PTX for" +
                     (have.empty() ? " no architecture" : have);
  log::once(log::Level::error, line, line);
  return cudaErrorNoKernelImageForDevice;
}

cudaError_t capabilityOf(CUdevice device, unsigned &capability) {
  int major = 0, minor = 0;
  if (CUresult result = driver().cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    return toError(result);
  if (CUresult result = driver().cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    return toError(result);
  capability = major * 10 + minor;
  return cudaSuccess;
}

}  // namespace

cudaError_t loadImage(const fatbin::Wrapper *wrapper, CUdevice device, CUmodule &module) {
  if (!wrapper || wrapper->magic != fatbin::kWrapperMagic || !wrapper->data) {
    log::error("a registered fat binary has a bad wrapper");
    return cudaErrorInvalidKernelImage;
  }
  // The CPU device's driver chooses from the fat binary, and links, by itself, with its machine code at hand.
  if (cuda::isCpuDriver()) return load(wrapper->data, "the program's device code", module);
  unsigned capability = 0;
  if (cudaError_t error = capabilityOf(device, capability)) return error;
  auto size = fatbin::claimedSize(wrapper->data);
  auto entries = size ? fatbin::read({static_cast<const std::uint8_t *>(wrapper->data), *size})
                      : Result<std::vector<Entry>>(size.error());
  if (!entries) {
    log::error(entries.error().message);
    return entries.error().blame == Blame::unsupported ? cudaErrorNotSupported : cudaErrorInvalidKernelImage;
  }

  const fatbin::ChosenPtx chosen = fatbin::choosePtx(*entries, capability);
  if (!chosen.entries.empty() && chosen.relocatable) return linkPtx(chosen.entries, module);
  const bool cubins =
      std::any_of(entries->begin(), entries->end(), [](const Entry &entry) { return entry.kind == Kind::cubin; });
  if (cubins && !chosen.relocatable) return toError(driver().cuModuleLoadData(&module, wrapper->data));
  return chosen.entries.empty() ? noImage(*entries, capability) : loadPtx(*chosen.entries[0], module);
}

}  // namespace strata::runtime
