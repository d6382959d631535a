// SPDX-License-Identifier: Apache-2.0
// cuStreamWaitValue, cuStreamWriteValue and their batches: words in memory as signals between streams and host.
#include "driver/memory_operations.h"

#include <atomic>

#include "driver/entries.h"
#include "driver/host_thread.h"
#include "driver/memory.h"

namespace strata::driver {
namespace {

constexpr unsigned kCompare = 0x3;

template <class T>
bool compare(T word, T value, unsigned flags) {
  switch (flags & kCompare) {
    case CU_STREAM_WAIT_VALUE_GEQ: return static_cast<std::make_signed_t<T>>(word - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return word == value;
    case CU_STREAM_WAIT_VALUE_AND: return (word & value) != 0;
    default: return static_cast<T>(~(word | value)) != 0;
  }
}

template <class T>
bool reached(const CUstreamBatchMemOpParams &op) {
  auto *word = reinterpret_cast<T *>(op.waitValue.address);
  T value = static_cast<T>(sizeof(T) == 8 ? op.waitValue.value64 : op.waitValue.value);
  return compare(std::atomic_ref(*word).load(std::memory_order_acquire), value, op.waitValue.flags);
}

template <class T>
void store(const CUstreamBatchMemOpParams &op) {
  auto *word = reinterpret_cast<T *>(op.writeValue.address);
  T value = static_cast<T>(sizeof(T) == 8 ? op.writeValue.value64 : op.writeValue.value);
  std::atomic_ref(*word).store(value, std::memory_order_release);
  nudgeWatcher();
}

bool isWait(const CUstreamBatchMemOpParams &op) {
  return op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

bool waitIsOver(const CUstreamBatchMemOpParams &op) {
  return op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? reached<std::uint32_t>(op) : reached<std::uint64_t>(op);
}

CUresult check(const CUstreamBatchMemOpParams &op) {
  std::size_t bytes = 0;
  unsigned flags = op.waitValue.flags;  // where both kinds have them
  switch (op.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: bytes = 4; break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: bytes = 8; break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: bytes = 4; break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: bytes = 8; break;
    case CU_STREAM_MEM_OP_BARRIER:
      return op.memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  if (isWait(op) && (flags & CU_STREAM_WAIT_VALUE_FLUSH)) return CUDA_ERROR_NOT_SUPPORTED;
  unsigned known = isWait(op) ? kCompare : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
  std::uint64_t address = op.waitValue.address;
  if ((flags & ~known) || !address || address % bytes) return CUDA_ERROR_INVALID_VALUE;
  return Memory::get().covers(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

class MemoryOperations final : public Operation {
public:
  explicit MemoryOperations(std::vector<CUstreamBatchMemOpParams> ops) : ops_(std::move(ops)) { startWatcher(); }

  bool start(Turn &turn) override {
    if (advance(turn.context)) return true;
    watch([this, &turn] { return turn.context.error() != CUDA_SUCCESS || advance(turn.context); },
          [&turn] { turn.complete(); });
    return false;
  }

private:
  // Does what can be done in order; true at the end. The memory may have been freed meanwhile: a fault.
  bool advance(Context &context) {
    for (; next_ < ops_.size(); ++next_) {
      const CUstreamBatchMemOpParams &op = ops_[next_];
      if (check(op) != CUDA_SUCCESS) {
        context.poison(CUDA_ERROR_ILLEGAL_ADDRESS);
        return true;
      }
      if (isWait(op)) {
        if (!waitIsOver(op)) return false;
      } else if (op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) {
        store<std::uint32_t>(op);
      } else if (op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
        store<std::uint64_t>(op);
      } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
      }
    }
    return true;
  }

  std::vector<CUstreamBatchMemOpParams> ops_;
  std::size_t next_ = 0;
};

CUresult issueOps(CUstream handle, std::span<const CUstreamBatchMemOpParams> ops) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(handle, stream); result != CUDA_SUCCESS) return result;
  for (const auto &op : ops)
    if (CUresult result = check(op); result != CUDA_SUCCESS) return result;
  if (ops.empty()) return CUDA_SUCCESS;
  return issue(*stream, MemoryOps{{ops.begin(), ops.end()}});
}

CUresult issueOne(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  static_assert(sizeof(CUstreamBatchMemOpParams) >= sizeof(CUstreamBatchMemOpParams{}.waitValue));
  CUstreamBatchMemOpParams op{};
  op.waitValue.operation = type;  // writeValue has the same fields at the same places
  op.waitValue.address = address;
  op.waitValue.value64 = value;
  op.waitValue.flags = flags;
  return issueOps(stream, {&op, 1});
}

}  // namespace

OperationPtr makeMemoryOps(std::vector<CUstreamBatchMemOpParams> ops) {
  return std::make_unique<MemoryOperations>(std::move(ops));
}

CUresult entry::cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return issueOne(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}
CUresult entry::cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return issueOne(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}
CUresult entry::cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return issueOne(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}
CUresult entry::cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return issueOne(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}

CUresult entry::cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                      unsigned int flags) {
  constexpr unsigned kMostOps = 256;
  if ((count && !paramArray) || count > kMostOps || flags) return CUDA_ERROR_INVALID_VALUE;
  return issueOps(stream, {paramArray, count});
}

}  // namespace strata::driver
