// SPDX-License-Identifier: Apache-2.0
// cuMemcpy*: each entry describes its copy as a CUDA_MEMCPY3D, which copy.cpp checks and plans.
#include <cstring>

#include "driver/capture.h"
#include "driver/copy.h"
#include "driver/entries.h"
#include "driver/memory.h"
#include "driver/staging.h"
#include "driver/work.h"

namespace strata::driver {
namespace {

struct Place {
  CUmemorytype type;
  std::uint64_t address;
};
Place onHost(const void *pointer) { return {CU_MEMORYTYPE_HOST, reinterpret_cast<std::uint64_t>(pointer)}; }
Place onDevice(CUdeviceptr address) { return {CU_MEMORYTYPE_DEVICE, address}; }
Place anywhere(CUdeviceptr address) { return {CU_MEMORYTYPE_UNIFIED, address}; }

CUDA_MEMCPY3D describe(Place destination, Place source, std::size_t bytes) {
  CUDA_MEMCPY3D d{};
  d.srcMemoryType = source.type;
  d.srcHost = reinterpret_cast<const void *>(source.address);
  d.srcDevice = source.address;
  d.dstMemoryType = destination.type;
  d.dstHost = reinterpret_cast<void *>(destination.address);
  d.dstDevice = destination.address;
  d.WidthInBytes = bytes;
  d.Height = d.Depth = 1;
  return d;
}

CUDA_MEMCPY3D describe(const CUDA_MEMCPY2D &p) {
  CUDA_MEMCPY3D d{};
  d.srcXInBytes = p.srcXInBytes;
  d.srcY = p.srcY;
  d.srcMemoryType = p.srcMemoryType;
  d.srcHost = p.srcHost;
  d.srcDevice = p.srcDevice;
  d.srcArray = p.srcArray;
  d.srcPitch = p.srcPitch;
  d.dstXInBytes = p.dstXInBytes;
  d.dstY = p.dstY;
  d.dstMemoryType = p.dstMemoryType;
  d.dstHost = p.dstHost;
  d.dstDevice = p.dstDevice;
  d.dstArray = p.dstArray;
  d.dstPitch = p.dstPitch;
  d.WidthInBytes = p.WidthInBytes;
  d.Height = p.Height;
  d.Depth = 1;
  return d;
}

CUDA_MEMCPY3D describe(const CUDA_MEMCPY3D_PEER &p) {
  CUDA_MEMCPY3D d{};
  static_assert(sizeof d == sizeof p, "the two differ in the contexts that stand for reserved fields");
  std::memcpy(&d, &p, sizeof d);
  d.reserved0 = d.reserved1 = nullptr;
  return d;
}

CUresult copy(const CUDA_MEMCPY3D &described, CUstream handle, Sync sync) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(handle, stream); result != CUDA_SUCCESS) return result;
  Copy planned;
  if (CUresult result = planCopy(described, planned, sync); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (!planned.width) return CUDA_SUCCESS;
  if (stream->capturing()) return sync == Sync::async ? issue(*stream, planned) : refuseInCapture(*stream);
  return issueCopy(*stream, planned, sync == Sync::async ? CopyCall::asynchronous : CopyCall::synchronous);
}

CUresult checkPeer(CUcontext destination, CUcontext source) {
  for (CUcontext handle : {destination, source}) {
    Context *context = findContext(handle);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (CUresult error = context->error(); error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

CUresult copyPeer(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t bytes,
                  CUstream stream, Sync sync) {
  if (bytes == 0 && !dstContext && !srcContext) return CUDA_SUCCESS;  // as a GPU's driver
  if (CUresult result = checkPeer(dstContext, srcContext); result != CUDA_SUCCESS) return result;
  return copy(describe(onDevice(dst), onDevice(src), bytes), stream, sync);
}

CUresult copyPeer(const CUDA_MEMCPY3D_PEER *p, CUstream stream, Sync sync) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkPeer(p->dstContext, p->srcContext); result != CUDA_SUCCESS) return result;
  return copy(describe(*p), stream, sync);
}

}  // namespace

CUresult entry::cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
  return copy(describe(anywhere(dst), anywhere(src), ByteCount), nullptr, Sync::sync);
}
CUresult entry::cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy(describe(anywhere(dst), anywhere(src), ByteCount), hStream, Sync::async);
}
CUresult entry::cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount) {
  return copy(describe(onDevice(dstDevice), onHost(srcHost), ByteCount), nullptr, Sync::sync);
}
CUresult entry::cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream) {
  return copy(describe(onDevice(dstDevice), onHost(srcHost), ByteCount), hStream, Sync::async);
}
CUresult entry::cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(describe(onHost(dstHost), onDevice(srcDevice), ByteCount), nullptr, Sync::sync);
}
CUresult entry::cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy(describe(onHost(dstHost), onDevice(srcDevice), ByteCount), hStream, Sync::async);
}
CUresult entry::cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(describe(onDevice(dstDevice), onDevice(srcDevice), ByteCount), nullptr, Sync::sync);
}
CUresult entry::cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy(describe(onDevice(dstDevice), onDevice(srcDevice), ByteCount), hStream, Sync::async);
}
CUresult entry::cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                             size_t ByteCount) {
  return copyPeer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, nullptr, Sync::sync);
}
CUresult entry::cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                                  CUcontext srcContext, size_t ByteCount, CUstream hStream) {
  return copyPeer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, Sync::async);
}
CUresult entry::cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy) {
  return pCopy ? copy(describe(*pCopy), nullptr, Sync::sync) : CUDA_ERROR_INVALID_VALUE;
}
CUresult entry::cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy) { return cuMemcpy2D_v2(pCopy); }
CUresult entry::cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
  return pCopy ? copy(describe(*pCopy), hStream, Sync::async) : CUDA_ERROR_INVALID_VALUE;
}
CUresult entry::cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy) {
  return pCopy ? copy(*pCopy, nullptr, Sync::sync) : CUDA_ERROR_INVALID_VALUE;
}
CUresult entry::cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream) {
  return pCopy ? copy(*pCopy, hStream, Sync::async) : CUDA_ERROR_INVALID_VALUE;
}
CUresult entry::cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy) { return copyPeer(pCopy, nullptr, Sync::sync); }
CUresult entry::cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream) {
  return copyPeer(pCopy, hStream, Sync::async);
}

namespace {

bool validAttributes(const CUmemcpyAttributes &attributes) {
  return attributes.srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
         attributes.srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
         !(attributes.flags & ~CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);
}

CopyCall batchCall(CUmemcpySrcAccessOrder order, CopyCall otherwise) {
  return order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? CopyCall::batchDuringCall : otherwise;
}

// attrsIdxs[i] is the first copy that attrs[i] applies to, in ascending order from 0.
CUresult checkBatchAttributes(const CUmemcpyAttributes *attrs, const size_t *first, size_t numAttrs, size_t count) {
  if (!attrs || !first || numAttrs == 0 || numAttrs > count || first[0] != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < numAttrs; ++i)
    if (!validAttributes(attrs[i]) || first[i] >= count || (i && first[i] <= first[i - 1]))
      return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

}  // namespace

// All copies are checked before the first is issued. A source that may only be read during the call is read no earlier
// than its turn in the stream either, unless it is pageable: the call waits.
CUresult entry::cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                      CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream) {
  if (!dsts || !srcs || !sizes || !count || !hStream) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = checkBatchAttributes(attrs, attrsIdxs, numAttrs, count);
  Ref<Stream> stream;
  if (result == CUDA_SUCCESS) result = resolveStream(hStream, stream);
  std::vector<Copy> planned;  // grows as copies prove good: the count may be absurd
  for (size_t i = 0; i < count && result == CUDA_SUCCESS; ++i)
    result = sizes[i] ? planCopy(describe(anywhere(dsts[i]), anywhere(srcs[i]), sizes[i]), planned.emplace_back())
                      : CUDA_ERROR_INVALID_VALUE;
  if (result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return refuseInCapture(*stream);
  for (size_t i = 0, attribute = 0; i < count && result == CUDA_SUCCESS; ++i) {
    if (attribute + 1 < numAttrs && attrsIdxs[attribute + 1] == i) ++attribute;
    result = issueCopy(*stream, planned[i], batchCall(attrs[attribute].srcAccessOrder, CopyCall::batch));
  }
  return result;
}

namespace {

CUresult describeOperand(const CUmemcpy3DOperand &operand, std::uint64_t &address, std::size_t &pitch,
                         std::size_t &rows, const CUextent3D &extent) {
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_POINTER || !operand.op.ptr.ptr) return CUDA_ERROR_INVALID_VALUE;
  address = operand.op.ptr.ptr;
  pitch = operand.op.ptr.rowLength ? operand.op.ptr.rowLength : extent.width;  // elements are bytes for pointers
  rows = operand.op.ptr.layerHeight ? operand.op.ptr.layerHeight : extent.height;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult entry::cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                        CUstream hStream) {
  if (!numOps || !opList || flags || !hStream) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  CUresult result = resolveStream(hStream, stream);
  std::vector<Copy> planned;
  for (size_t i = 0; i < numOps && result == CUDA_SUCCESS; ++i) {
    const CUDA_MEMCPY3D_BATCH_OP &op = opList[i];
    std::uint64_t destination = 0, source = 0;
    CUDA_MEMCPY3D d = describe(anywhere(0), anywhere(0), op.extent.width);
    result = describeOperand(op.dst, destination, d.dstPitch, d.dstHeight, op.extent);
    if (result == CUDA_SUCCESS) result = describeOperand(op.src, source, d.srcPitch, d.srcHeight, op.extent);
    d.dstDevice = destination;
    d.srcDevice = source;
    d.Height = op.extent.height;
    d.Depth = op.extent.depth;
    if (result == CUDA_SUCCESS) result = planCopy(d, planned.emplace_back());
  }
  if (result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return refuseInCapture(*stream);
  for (size_t i = 0; i < numOps && result == CUDA_SUCCESS; ++i)
    if (planned[i].width)
      result = issueCopy(*stream, planned[i], batchCall(opList[i].srcAccessOrder, CopyCall::asynchronous));
  return result;
}

}  // namespace strata::driver
