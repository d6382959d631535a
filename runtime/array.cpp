// SPDX-License-Identifier: Apache-2.0
#include "runtime/array.h"

#include "runtime/body.h"

namespace strata::runtime {
namespace {

// Formats whose channels are plain numbers.
struct Plain {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr Plain kPlain[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

}  // namespace

std::size_t formatSize(CUarray_format format) {
  for (const Plain &plain : kPlain)
    if (plain.format == format) return plain.bits / 8;
  return 0;
}

cudaError_t toFormat(const cudaChannelFormatDesc &desc, CUarray_format &format, unsigned &channels) {
  int bits[] = {desc.x, desc.y, desc.z, desc.w};
  channels = 0;
  while (channels < 4 && bits[channels]) ++channels;
  for (unsigned i = 0; i < 4; ++i)
    if (bits[i] != (i < channels ? desc.x : 0)) return cudaErrorInvalidChannelDescriptor;
  if (channels == 0 || channels == 3) return cudaErrorInvalidChannelDescriptor;
  for (const Plain &plain : kPlain) {
    if (plain.bits != desc.x || plain.kind != desc.f) continue;
    format = plain.format;
    return cudaSuccess;
  }
  return desc.f > cudaChannelFormatKindNone ? notSupported("normalized and compressed channel formats")
                                            : cudaErrorInvalidChannelDescriptor;
}

cudaError_t fromFormat(CUarray_format format, unsigned channels, cudaChannelFormatDesc &desc) {
  for (const Plain &plain : kPlain) {
    if (plain.format != format) continue;
    auto bits = [&](unsigned channel) { return channel < channels ? plain.bits : 0; };
    desc = {bits(0), bits(1), bits(2), bits(3), plain.kind};
    return cudaSuccess;
  }
  return notSupported("normalized and compressed channel formats");
}

cudaError_t body::cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, std::size_t width,
                                  std::size_t height, unsigned int flags) {
  return body::cudaMalloc3DArray(array, desc, {width, height, 0}, flags);
}

cudaError_t body::cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, cudaExtent extent,
                                    unsigned int flags) {
  if (!array || !desc) return cudaErrorInvalidValue;
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  if (cudaError_t error = toFormat(*desc, descriptor.Format, descriptor.NumChannels)) return error;
  descriptor.Width = extent.width;
  descriptor.Height = extent.height;
  descriptor.Depth = extent.depth;
  descriptor.Flags = flags;  // the same bits
  return inContext([&](const Driver &driver) {
    CUarray created = nullptr;
    CUresult result = driver.cuArray3DCreate(&created, &descriptor);
    if (result == CUDA_SUCCESS) *array = runtimeArray(created);
    return result;
  });
}

cudaError_t body::cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const cudaChannelFormatDesc *desc,
                                           cudaExtent extent, unsigned int numLevels, unsigned int flags) {
  if (!mipmappedArray || !desc) return cudaErrorInvalidValue;
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  if (cudaError_t error = toFormat(*desc, descriptor.Format, descriptor.NumChannels)) return error;
  descriptor.Width = extent.width;
  descriptor.Height = extent.height;
  descriptor.Depth = extent.depth;
  descriptor.Flags = flags;
  return inContext([&](const Driver &driver) {
    return driver.cuMipmappedArrayCreate(as<CUmipmappedArray>(mipmappedArray), &descriptor, numLevels);
  });
}

cudaError_t body::cudaDeviceGetTexture1DLinearMaxWidth(std::size_t *maxWidthInElements,
                                                       const cudaChannelFormatDesc *fmtDesc, int device) {
  if (!maxWidthInElements || !fmtDesc) return cudaErrorInvalidValue;
  CUarray_format format;
  unsigned channels;
  if (cudaError_t error = toFormat(*fmtDesc, format, channels)) return error;
  if (cudaError_t error = checkDevice(device)) return error;
  return toError(driver().cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format, channels, device));
}

cudaError_t body::cudaArrayGetInfo(cudaChannelFormatDesc *desc, cudaExtent *extent, unsigned int *flags,
                                   cudaArray_t array) {
  if (cudaError_t error = bindContext()) return error;
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  if (CUresult result = driver().cuArray3DGetDescriptor(&descriptor, driverArray(array))) return toError(result);
  if (desc)
    if (cudaError_t error = fromFormat(descriptor.Format, descriptor.NumChannels, *desc)) return error;
  if (extent) *extent = {descriptor.Width, descriptor.Height, descriptor.Depth};
  if (flags) *flags = descriptor.Flags;
  return cudaSuccess;
}

cudaError_t body::cudaGetChannelDesc(cudaChannelFormatDesc *desc, cudaArray_const_t array) {
  if (!desc) return cudaErrorInvalidValue;
  return body::cudaArrayGetInfo(desc, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaChannelFormatDesc body::cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

}  // namespace strata::runtime
