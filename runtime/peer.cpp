// SPDX-License-Identifier: Apache-2.0
#include "runtime/body.h"

namespace strata::runtime {

cudaError_t body::cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attr, int srcDevice, int dstDevice) {
  if (!value) return cudaErrorInvalidValue;
  if (cudaError_t error = checkDevice(srcDevice)) return error;
  if (cudaError_t error = checkDevice(dstDevice)) return error;
  if (srcDevice == dstDevice) return cudaErrorInvalidDevice;
  return toError(
      driver().cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attr), srcDevice, dstDevice));
}

cudaError_t body::cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice) {
  if (!canAccessPeer) return cudaErrorInvalidValue;
  if (cudaError_t error = checkDevice(device)) return error;
  if (cudaError_t error = checkDevice(peerDevice)) return error;
  return toError(driver().cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

cudaError_t body::cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
  if (cudaError_t error = bindContext()) return error;
  if (peerDevice == currentDevice()) return cudaErrorInvalidDevice;
  Context *peer;
  if (cudaError_t error = primaryContext(peerDevice, peer)) return error;
  return toError(driver().cuCtxEnablePeerAccess(peer->handle, flags));
}

cudaError_t body::cudaDeviceDisablePeerAccess(int peerDevice) {
  if (cudaError_t error = bindContext()) return error;
  Context *peer;
  if (cudaError_t error = primaryContext(peerDevice, peer)) return error;
  return toError(driver().cuCtxDisablePeerAccess(peer->handle));
}

}  // namespace strata::runtime
