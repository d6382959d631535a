// SPDX-License-Identifier: Apache-2.0
#include "driver/capture.h"
#include "driver/copy.h"
#include "driver/entries.h"
#include "driver/scheduler.h"
#include "driver/staging.h"
#include "driver/work.h"

namespace strata::driver {
namespace {

CUresult fill(Fill fill, CUstream handle, Sync sync) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(handle, stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkFill(fill); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (!fill.width || !fill.height) return CUDA_SUCCESS;
  if (sync == Sync::async) return issue(*stream, fill);
  if (stream->capturing()) return refuseInCapture(*stream);
  // As a GPU's driver does, this does not wait for device memory.
  const bool small = fill.width * fill.height * fill.elementSize <= kInline;
  if (fill.residence == Residence::device && !(small && isIdle(*stream))) return issue(*stream, fill);
  runInTurn(*stream, [&] { runFill(fill); });
  return stream->context.error();
}

CUresult fill1D(CUdeviceptr destination, std::uint32_t value, std::uint32_t elementSize, size_t count, CUstream stream,
                Sync sync) {
  return fill({destination, 0, count, 1, value, elementSize}, stream, sync);
}
CUresult fill2D(CUdeviceptr destination, size_t pitch, std::uint32_t value, std::uint32_t elementSize, size_t width,
                size_t height, CUstream stream, Sync sync) {
  return fill({destination, pitch, width, height, value, elementSize}, stream, sync);
}

}  // namespace

CUresult entry::cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
  return fill1D(dstDevice, uc, 1, N, nullptr, Sync::sync);
}
CUresult entry::cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
  return fill1D(dstDevice, us, 2, N, nullptr, Sync::sync);
}
CUresult entry::cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
  return fill1D(dstDevice, ui, 4, N, nullptr, Sync::sync);
}
CUresult entry::cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
  return fill1D(dstDevice, uc, 1, N, hStream, Sync::async);
}
CUresult entry::cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
  return fill1D(dstDevice, us, 2, N, hStream, Sync::async);
}
CUresult entry::cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
  return fill1D(dstDevice, ui, 4, N, hStream, Sync::async);
}
CUresult entry::cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height) {
  return fill2D(dstDevice, dstPitch, uc, 1, Width, Height, nullptr, Sync::sync);
}
CUresult entry::cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                 size_t Height) {
  return fill2D(dstDevice, dstPitch, us, 2, Width, Height, nullptr, Sync::sync);
}
CUresult entry::cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height) {
  return fill2D(dstDevice, dstPitch, ui, 4, Width, Height, nullptr, Sync::sync);
}
CUresult entry::cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                                  CUstream hStream) {
  return fill2D(dstDevice, dstPitch, uc, 1, Width, Height, hStream, Sync::async);
}
CUresult entry::cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                   size_t Height, CUstream hStream) {
  return fill2D(dstDevice, dstPitch, us, 2, Width, Height, hStream, Sync::async);
}
CUresult entry::cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                                   CUstream hStream) {
  return fill2D(dstDevice, dstPitch, ui, 4, Width, Height, hStream, Sync::async);
}

}  // namespace strata::driver
