// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: descriptions in the driver's form and back.
#include "runtime/array.h"
#include "runtime/body.h"

namespace strata::runtime {
namespace {

constexpr unsigned kReadAsInteger = 0x01, kNormalizedCoordinates = 0x02, kSrgb = 0x10, kDisableTrilinear = 0x20,
                   kSeamlessCubemap = 0x40;

cudaError_t toDriver(const cudaResourceDesc &from, CUDA_RESOURCE_DESC &to) {
  to = {};
  to.flags = from.flags;
  switch (from.resType) {
    case cudaResourceTypeArray:
      to.resType = CU_RESOURCE_TYPE_ARRAY;
      to.res.array.hArray = driverArray(from.res.array.array);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      to.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
      to.res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(from.res.mipmap.mipmap);
      return cudaSuccess;
    case cudaResourceTypeLinear:
      to.resType = CU_RESOURCE_TYPE_LINEAR;
      to.res.linear.devPtr = address(from.res.linear.devPtr);
      to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      return toFormat(from.res.linear.desc, to.res.linear.format, to.res.linear.numChannels);
    case cudaResourceTypePitch2D:
      to.resType = CU_RESOURCE_TYPE_PITCH2D;
      to.res.pitch2D.devPtr = address(from.res.pitch2D.devPtr);
      to.res.pitch2D.width = from.res.pitch2D.width;
      to.res.pitch2D.height = from.res.pitch2D.height;
      to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      return toFormat(from.res.pitch2D.desc, to.res.pitch2D.format, to.res.pitch2D.numChannels);
  }
  return cudaErrorInvalidValue;
}

cudaError_t fromDriver(const CUDA_RESOURCE_DESC &from, cudaResourceDesc &to) {
  to = {};
  to.flags = from.flags;
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to.resType = cudaResourceTypeArray;
      to.res.array.array = runtimeArray(from.res.array.hArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to.resType = cudaResourceTypeMipmappedArray;
      to.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR:
      to.resType = cudaResourceTypeLinear;
      to.res.linear.devPtr = reinterpret_cast<void *>(from.res.linear.devPtr);
      to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      return fromFormat(from.res.linear.format, from.res.linear.numChannels, to.res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
      to.resType = cudaResourceTypePitch2D;
      to.res.pitch2D.devPtr = reinterpret_cast<void *>(from.res.pitch2D.devPtr);
      to.res.pitch2D.width = from.res.pitch2D.width;
      to.res.pitch2D.height = from.res.pitch2D.height;
      to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      return fromFormat(from.res.pitch2D.format, from.res.pitch2D.numChannels, to.res.pitch2D.desc);
    default: return cudaErrorInvalidValue;
  }
}

CUDA_TEXTURE_DESC toDriver(const cudaTextureDesc &from) {
  CUDA_TEXTURE_DESC to{};
  for (int i = 0; i < 3; ++i) to.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
  to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  if (from.readMode == cudaReadModeElementType) to.flags |= kReadAsInteger;
  if (from.normalizedCoords) to.flags |= kNormalizedCoordinates;
  if (from.sRGB) to.flags |= kSrgb;
  if (from.disableTrilinearOptimization) to.flags |= kDisableTrilinear;
  if (from.seamlessCubemap) to.flags |= kSeamlessCubemap;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  for (int i = 0; i < 4; ++i) to.borderColor[i] = from.borderColor[i];
  return to;
}

cudaTextureDesc fromDriver(const CUDA_TEXTURE_DESC &from) {
  cudaTextureDesc to{};
  for (int i = 0; i < 3; ++i) to.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]);
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.readMode = from.flags & kReadAsInteger ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  to.normalizedCoords = (from.flags & kNormalizedCoordinates) != 0;
  to.sRGB = (from.flags & kSrgb) != 0;
  to.disableTrilinearOptimization = (from.flags & kDisableTrilinear) != 0;
  to.seamlessCubemap = (from.flags & kSeamlessCubemap) != 0;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  for (int i = 0; i < 4; ++i) to.borderColor[i] = from.borderColor[i];
  return to;
}

}  // namespace

cudaError_t body::cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const cudaResourceDesc *pResDesc,
                                          const cudaTextureDesc *pTexDesc, const cudaResourceViewDesc *pResViewDesc) {
  if (!pTexObject || !pResDesc || !pTexDesc) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC resource;
  if (cudaError_t error = toDriver(*pResDesc, resource)) return error;
  CUDA_TEXTURE_DESC texture = toDriver(*pTexDesc);
  return inContext([&](const Driver &driver) {
    return driver.cuTexObjectCreate(pTexObject, &resource, &texture, as<CUDA_RESOURCE_VIEW_DESC>(pResViewDesc));
  });
}

cudaError_t body::cudaGetTextureObjectResourceDesc(cudaResourceDesc *pResDesc, cudaTextureObject_t texObject) {
  if (!pResDesc) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC resource;
  cudaError_t error =
      inContext([&](const Driver &driver) { return driver.cuTexObjectGetResourceDesc(&resource, texObject); });
  return error == cudaSuccess ? fromDriver(resource, *pResDesc) : error;
}

cudaError_t body::cudaGetTextureObjectTextureDesc(cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject) {
  if (!pTexDesc) return cudaErrorInvalidValue;
  CUDA_TEXTURE_DESC texture;
  cudaError_t error =
      inContext([&](const Driver &driver) { return driver.cuTexObjectGetTextureDesc(&texture, texObject); });
  if (error == cudaSuccess) *pTexDesc = fromDriver(texture);
  return error;
}

cudaError_t body::cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc *pResViewDesc,
                                                       cudaTextureObject_t texObject) {
  return inContext([&](const Driver &driver) {
    return driver.cuTexObjectGetResourceViewDesc(as<CUDA_RESOURCE_VIEW_DESC>(pResViewDesc), texObject);
  });
}

cudaError_t body::cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject, const cudaResourceDesc *pResDesc) {
  if (!pSurfObject || !pResDesc) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC resource;
  if (cudaError_t error = toDriver(*pResDesc, resource)) return error;
  return inContext([&](const Driver &driver) { return driver.cuSurfObjectCreate(pSurfObject, &resource); });
}

cudaError_t body::cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *pResDesc, cudaSurfaceObject_t surfObject) {
  if (!pResDesc) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC resource;
  cudaError_t error =
      inContext([&](const Driver &driver) { return driver.cuSurfObjectGetResourceDesc(&resource, surfObject); });
  return error == cudaSuccess ? fromDriver(resource, *pResDesc) : error;
}

}  // namespace strata::runtime
