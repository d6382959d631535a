// SPDX-License-Identifier: Apache-2.0
#include "driver/staging.h"

#include <atomic>
#include <memory>

#include "driver/copy.h"
#include "driver/scheduler.h"

namespace strata::driver {
namespace {

constexpr std::uint64_t kStaged = std::uint64_t{2} << 20;      // bytes of the largest copy that is staged
constexpr std::uint64_t kAllStaged = std::uint64_t{64} << 20;  // bytes of all that are: beyond, copies wait
constexpr std::uint64_t kSharedFrom = std::uint64_t{4} << 20;  // bytes from which workers help a waiting thread

std::atomic<std::uint64_t> staged{0};

// Has taken the bytes of its source when it is made.
class StagedCopy final : public Operation {
public:
  explicit StagedCopy(const Copy &copy) : bytes_(new std::uint8_t[copy.bytes()]), copy_(copy) {
    copy_.source = reinterpret_cast<std::uint64_t>(bytes_.get());
    copy_.sourcePitch = copy.width;
    copy_.sourceSlice = copy.width * copy.height;
    Copy gather = copy;
    gather.destination = copy_.source;
    gather.destinationPitch = copy_.sourcePitch;
    gather.destinationSlice = copy_.sourceSlice;
    runCopy(gather);
    staged += copy.bytes();
  }
  ~StagedCopy() override { staged -= copy_.bytes(); }

  bool start(Turn &) override {
    runCopy(copy_);
    return true;
  }

private:
  const std::unique_ptr<std::uint8_t[]> bytes_;
  Copy copy_;
};

bool onHost(Residence residence) { return residence == Residence::pinned || residence == Residence::pageable; }

// At the copy's turn, which is waited for.
CUresult finish(Stream &stream, const Copy &copy) {
  if (copy.bytes() < kSharedFrom) runInTurn(stream, [&] { runCopy(copy); });
  else waitFor(submit(stream, makeCopy(copy)));
  return stream.context.error();
}

}  // namespace

Within within(const Copy &copy, CopyCall call) {
  const bool betweenHosts = onHost(copy.from) && onHost(copy.to);
  const bool pageableToDevice = copy.from == Residence::pageable && !onHost(copy.to);
  switch (call) {
    case CopyCall::synchronous:
      return copy.from == Residence::device && copy.to == Residence::device ? Within::nothing : Within::finish;
    case CopyCall::asynchronous:
      if (betweenHosts || copy.to == Residence::pageable) return Within::finish;
      return pageableToDevice ? Within::take : Within::nothing;
    case CopyCall::batch: return pageableToDevice ? Within::take : Within::nothing;
    case CopyCall::batchDuringCall: break;
  }
  return pageableToDevice ? Within::take : Within::finish;
}

bool isIdle(const Stream &stream) {
  std::lock_guard lock(schedulerLock);
  return startsAtOnce(stream);
}

OperationPtr stage(const Copy &copy) {
  if (copy.bytes() > kStaged || staged.load() + copy.bytes() > kAllStaged) return nullptr;
  return std::make_unique<StagedCopy>(copy);
}

CUresult issueCopy(Stream &stream, const Copy &copy, CopyCall call) {
  switch (within(copy, call)) {
    case Within::nothing:
      if (call == CopyCall::synchronous && copy.bytes() <= kInline && isIdle(stream)) break;
      submit(stream, makeCopy(copy));
      return CUDA_SUCCESS;
    case Within::take:
      if (OperationPtr operation = isIdle(stream) ? nullptr : stage(copy)) {
        submit(stream, std::move(operation));
        return CUDA_SUCCESS;
      }
      break;
    case Within::finish: break;
  }
  return finish(stream, copy);
}

}  // namespace strata::driver
