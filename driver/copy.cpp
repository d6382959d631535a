// SPDX-License-Identifier: Apache-2.0
// Copies and fills: host and device share one address space, so both are plain loops over rows. Large ones are
// cut into pieces that several workers do.
#include "driver/copy.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "driver/memory.h"
#include "driver/work.h"
#include "simt/target/machine.h"

namespace strata::driver {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{2} << 20;

void *pointer(std::uint64_t address) { return reinterpret_cast<void *>(address); }

// Source and destination may overlap in one row only (as CUDA, which leaves it undefined, mostly does the right
// thing there too).
void copyRow(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
  std::memmove(pointer(destination), pointer(source), bytes);
}

// A copy of megabytes, past the caches: a third less traffic, as what is overwritten is not read first.
void streamRow(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
  using simt::machine::kLineBytes;
  const std::uint64_t head = std::min(roundUp(destination, kLineBytes) - destination, bytes);
  const std::uint64_t lines = (bytes - head) / kLineBytes, at = head + lines * kLineBytes;
  copyRow(destination, source, head);
  simt::machine::storePastCaches(pointer(destination + head), pointer(source + head), lines);
  simt::machine::storesBefore();
  copyRow(destination + at, source + at, bytes - at);
}

template <class T>
void fillRow(std::uint64_t destination, std::uint32_t value, std::uint64_t elements) {
  T *begin = reinterpret_cast<T *>(destination);
  std::fill(begin, begin + elements, static_cast<T>(value));
}

void fillRow(const Fill &fill, std::uint64_t row) {
  std::uint64_t at = fill.destination + row * fill.pitch;
  switch (fill.elementSize) {
    case 1: std::memset(pointer(at), static_cast<int>(fill.value & 0xff), fill.width); break;
    case 2: fillRow<std::uint16_t>(at, fill.value, fill.width); break;
    default: fillRow<std::uint32_t>(at, fill.value, fill.width);
  }
}

// Work cut into `pieces`: each is posted to the engine, the last one to finish ends the turn.
template <class Piece>
void runPieces(Turn &turn, std::uint64_t pieces, Piece piece) {
  auto *left = new std::atomic<std::uint64_t>(pieces);
  simt::Engine &engine = turn.context.device.engine();
  for (std::uint64_t i = 0; i < pieces; ++i) {
    auto run = [&turn, left, piece, i] {
      piece(i);
      if (left->fetch_sub(1) != 1) return;
      delete left;
      turn.complete();
    };
    try {
      engine.post(run, turn.group);
    } catch (const std::bad_alloc &) {
      run();  // others may have begun: here, then
    }
  }
}

// Calls `range(begin, size)` for parts of `bytes`, one per worker if they are large.
template <class Do>
void runShared(Turn &turn, std::uint64_t bytes, Do range) {
  std::uint64_t pieces = std::clamp<std::uint64_t>(bytes / kPiece, 1, turn.context.device.workers());
  std::uint64_t each = roundUp((bytes + pieces - 1) / pieces, kPage);
  runPieces(turn, pieces, [bytes, each, range](std::uint64_t i) {
    std::uint64_t begin = std::min(bytes, i * each);
    range(begin, std::min(bytes, begin + each) - begin);
  });
}

bool contiguous(const Copy &copy) {
  bool rows = copy.height == 1 || (copy.sourcePitch == copy.width && copy.destinationPitch == copy.width);
  std::uint64_t slice = copy.width * copy.height;
  return rows && (copy.depth == 1 || (copy.sourceSlice == slice && copy.destinationSlice == slice));
}

class CopyOperation final : public Operation {
public:
  explicit CopyOperation(const Copy &copy) : copy_(copy) {}

  bool start(Turn &turn) override {
    std::uint64_t bytes = copy_.bytes();
    if (bytes <= kInline) {
      runCopy(copy_);
      return true;
    }
    bool overlap = copy_.source < copy_.destination + bytes && copy_.destination < copy_.source + bytes;
    if (!contiguous(copy_) || overlap) {
      runPieces(turn, 1, [copy = copy_](std::uint64_t) { runCopy(copy); });
      return false;
    }
    runShared(turn, bytes, [from = copy_.source, to = copy_.destination](std::uint64_t begin, std::uint64_t size) {
      (size < kPiece ? copyRow : streamRow)(to + begin, from + begin, size);
    });
    return false;
  }

private:
  Copy copy_;
};

class FillOperation final : public Operation {
public:
  explicit FillOperation(const Fill &fill) : fill_(fill) {}

  bool start(Turn &turn) override {
    if (fill_.width * fill_.height * fill_.elementSize <= kInline) {
      runFill(fill_);
      return true;
    }
    const std::uint64_t row = fill_.width * fill_.elementSize;
    if (fill_.height > 1 && fill_.pitch != row) {
      runPieces(turn, 1, [fill = fill_](std::uint64_t) { runFill(fill); });
      return false;
    }
    runShared(turn, row * fill_.height, [fill = fill_](std::uint64_t begin, std::uint64_t size) {
      Fill part = fill;
      part.destination += begin;
      part.width = size / fill.elementSize;
      fillRow(part, 0);
    });
    return false;
  }

private:
  Fill fill_;
};

struct Side {
  std::uint64_t begin = 0, pitch = 0, slice = 0;
  Residence residence = Residence::device;
};

Residence residenceOf(std::optional<MemoryKind> kind) {
  if (!kind) return Residence::pageable;
  switch (*kind) {
    case MemoryKind::host:
    case MemoryKind::registered: return Residence::pinned;
    case MemoryKind::managed: return Residence::managed;
    default: return Residence::device;
  }
}

// One side of CUDA_MEMCPY3D. `device`: its range must be known memory.
CUresult planSide(CUmemorytype type, std::uint64_t host, std::uint64_t device, CUarray array, std::size_t x,
                  std::size_t y, std::size_t z, std::size_t pitch, std::size_t rows, const CUDA_MEMCPY3D &d, Sync sync,
                  Side &side) {
  if (type == CU_MEMORYTYPE_ARRAY) return array ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  bool tall = d.Height > 1 || d.Depth > 1;
  if (pitch == 0 && !tall) pitch = x + d.WidthInBytes;
  if (pitch < x + d.WidthInBytes) return CUDA_ERROR_INVALID_VALUE;
  if (rows == 0 && d.Depth == 1) rows = y + d.Height;
  if (rows < y + d.Height) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t base = type == CU_MEMORYTYPE_HOST ? host : device;
  side = {base + (z * rows + y) * pitch + x, pitch, rows * pitch, Residence::device};
  if (!base) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t extent = (d.Depth - 1) * side.slice + (d.Height - 1) * side.pitch + d.WidthInBytes;
  if (type == CU_MEMORYTYPE_HOST && sync == Sync::sync) {
    side.residence = Residence::pageable;
    return CUDA_SUCCESS;
  }
  Memory &memory = Memory::get();
  const std::optional<MemoryKind> kind = memory.kindOf(side.begin, extent);
  side.residence = residenceOf(kind);
  if (type == CU_MEMORYTYPE_HOST && side.residence == Residence::managed) side.residence = Residence::pageable;
  if (kind || type == CU_MEMORYTYPE_HOST) return CUDA_SUCCESS;
  // A unified address that the driver does not know is the program's own memory.
  bool ours = memory.overlaps(side.begin, extent) || side.begin - memory.ranges().window().begin <
                                                         memory.ranges().window().end - memory.ranges().window().begin;
  return type == CU_MEMORYTYPE_UNIFIED && !ours && isMapped(side.begin, extent) ? CUDA_SUCCESS
                                                                                : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

void runCopy(const Copy &copy) {
  if (contiguous(copy)) return copyRow(copy.destination, copy.source, copy.bytes());
  for (std::uint64_t z = 0; z < copy.depth; ++z)
    for (std::uint64_t y = 0; y < copy.height; ++y)
      copyRow(copy.destination + z * copy.destinationSlice + y * copy.destinationPitch,
              copy.source + z * copy.sourceSlice + y * copy.sourcePitch, copy.width);
}

void runFill(const Fill &fill) {
  for (std::uint64_t row = 0; row < fill.height; ++row) fillRow(fill, row);
}

OperationPtr makeCopy(Copy copy) { return std::make_unique<CopyOperation>(copy); }
OperationPtr makeFill(Fill fill) { return std::make_unique<FillOperation>(fill); }

CUresult planCopy(const CUDA_MEMCPY3D &d, Copy &copy, Sync sync) {
  copy.described = d;
  copy.width = d.WidthInBytes;
  copy.height = d.Height;
  copy.depth = d.Depth;
  if (!d.WidthInBytes || !d.Height || !d.Depth) {
    copy.width = 0;
    return CUDA_SUCCESS;
  }
  constexpr std::size_t kMost = std::size_t{1} << 46;  // keeps the products below from wrapping
  for (std::size_t extent : {d.WidthInBytes, d.srcPitch, d.dstPitch, d.srcXInBytes, d.dstXInBytes})
    if (extent > kMost) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t count : {d.Height, d.Depth, d.srcHeight, d.dstHeight, d.srcY, d.dstY, d.srcZ, d.dstZ})
    if (count > kMost / std::max<std::size_t>({d.srcPitch, d.dstPitch, 1})) return CUDA_ERROR_INVALID_VALUE;
  Side source, destination;
  CUresult result = planSide(d.srcMemoryType, reinterpret_cast<std::uint64_t>(d.srcHost), d.srcDevice, d.srcArray,
                             d.srcXInBytes, d.srcY, d.srcZ, d.srcPitch, d.srcHeight, d, sync, source);
  if (result == CUDA_SUCCESS)
    result = planSide(d.dstMemoryType, reinterpret_cast<std::uint64_t>(d.dstHost), d.dstDevice, d.dstArray,
                      d.dstXInBytes, d.dstY, d.dstZ, d.dstPitch, d.dstHeight, d, sync, destination);
  if (result != CUDA_SUCCESS) return result;
  copy.from = source.residence;
  copy.to = destination.residence;
  copy.source = source.begin;
  copy.sourcePitch = source.pitch;
  copy.sourceSlice = source.slice;
  copy.destination = destination.begin;
  copy.destinationPitch = destination.pitch;
  copy.destinationSlice = destination.slice;
  return CUDA_SUCCESS;
}

CUresult checkFill(Fill &fill) {
  if (!fill.width || !fill.height) return CUDA_SUCCESS;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 46;
  if (fill.destination % fill.elementSize || fill.width > kMost) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t row = fill.width * fill.elementSize;
  if (fill.height > 1 &&
      (fill.pitch < row || fill.pitch % fill.elementSize || fill.pitch > kMost || fill.height > kMost / fill.pitch))
    return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t extent = (fill.height - 1) * fill.pitch + row;
  const std::optional<MemoryKind> kind = Memory::get().kindOf(fill.destination, extent);
  fill.residence = residenceOf(kind);
  return kind ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace strata::driver
