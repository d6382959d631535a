// SPDX-License-Identifier: Apache-2.0
// Everything that can be put into a stream or be a graph's node: a description, from which an operation is made
// each time it is to run. Streams that capture turn the description into a node instead.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "driver/cuda_types.h"
#include "driver/module.h"
#include "driver/operation.h"
#include "driver/stream.h"

namespace strata::driver {

class Event;
class Graph;
class GraphMemory;

struct NoWork {};

// A kernel launch whose configuration was checked.
struct Launch {
  Ref<Module> module;  // keeps the function and its globals alive
  Function *function = nullptr;
  std::shared_ptr<const simt::Kernel> kernel;
  std::array<std::uint32_t, 3> gridDim{}, blockDim{}, clusterDim{1, 1, 1};
  std::uint32_t dynamicShared = 0;
  bool cooperative = false, explicitCluster = false;
  int priority = 0;
  simt::Params params;
  std::vector<void *> paramPointers;  // into params: for graph nodes, whose parameters can be read back
};

// Whose memory one side of a copy or a fill is, as far as it decides what happens within the call (staging.h).
enum class Residence : std::uint8_t {
  device,
  managed,
  pinned,    // the host's, page-locked by the driver
  pageable,  // the host's, unknown to the driver; managed memory that a call names as the host's
};

// A strided copy: `depth` slices of `height` rows of `width` bytes.
struct Copy {
  std::uint64_t source = 0, destination = 0;
  std::uint64_t sourcePitch = 0, sourceSlice = 0, destinationPitch = 0, destinationSlice = 0;
  std::uint64_t width = 0, height = 1, depth = 1;
  Residence from = Residence::device, to = Residence::device;
  CUDA_MEMCPY3D described{};  // as the program gave it: for graph nodes

  std::uint64_t bytes() const { return width * height * depth; }
};

// `height` rows of `width` elements.
struct Fill {
  std::uint64_t destination = 0, pitch = 0;  // bytes
  std::uint64_t width = 0, height = 1;       // elements; rows
  std::uint32_t value = 0, elementSize = 1;  // 1, 2, 4
  Residence residence = Residence::device;
};

struct HostCall {
  CUhostFn function = nullptr;
  void *data = nullptr;
};

// cuStreamAddCallback: is called after a fault, too, with the error.
struct Callback {
  CUstreamCallback function = nullptr;
  void *data = nullptr;
  CUstream stream = nullptr;
};

struct RecordEvent {
  Ref<Event> event;
};
struct WaitEvent {
  Ref<Event> event;
};

// cuStreamWaitValue*, cuStreamWriteValue*, in a batch.
struct MemoryOps {
  std::vector<CUstreamBatchMemOpParams> ops;
};

// The end of a graph allocation's use: of nodes only, as cuMemFreeAsync outside of graphs frees for good.
struct FreeMemory {
  std::uint64_t base = 0;
};

struct ChildGraph {
  Ref<Graph> graph;
};

// A graph's allocation: its address is fixed when the node is made, the memory is there while the graph needs it.
struct AllocateMemory {
  CUDA_MEM_ALLOC_NODE_PARAMS described{};
  Ref<GraphMemory> memory;
};

using Work = std::variant<NoWork, Launch, Copy, Fill, HostCall, Callback, RecordEvent, WaitEvent, MemoryOps, FreeMemory,
                          ChildGraph, AllocateMemory>;

// An operation that does the work once. The work is copied from, unless it is given up (&&).
OperationPtr makeOperation(const Work &work);
OperationPtr makeOperation(Work &&work);

// Puts the work at the stream's end, or into the graph that the stream captures into.
CUresult issue(Stream &stream, Work &&work, std::span<const Marker> after = {});
CUresult issue(Stream &stream, Launch &&launch);  // without the way through a Work: launches are the most frequent

}  // namespace strata::driver
