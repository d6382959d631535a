// SPDX-License-Identifier: Apache-2.0
// When does a copy read its source, when has it written its destination, and does the call wait for its stream?
//   copies                  writes a line for each call, kinds of memory and number of bytes
//   copies compare FILE     makes the same observations, and compares them with recorded lines
//
// busy: a kernel that spins holds the stream. Where the call returns all the same, the destination is looked at and the
// source is overwritten before the kernel is let go; where it does not return, a watchdog lets the kernel go ("waits").
// idle: as busy without the kernel, and only where what is seen does not depend on how fast the copy is.
// The last words say which contents of the source arrived: those of the call ("taken"), those that overwrote them
// ("later"), for graphs those of the time when the node was made ("at capture") or those that a node before it wrote.
// A recorded line may be followed by one that starts with '=': what is right on the CPU device, where that differs.
#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

#define CHECK_CU(call) CHECK((call) == CUDA_SUCCESS)

constexpr std::size_t kLargest = std::size_t{16} << 20, kSlack = 4096, kSymbol = std::size_t{1} << 20;

__device__ char symbol[kSymbol + kSlack];

__global__ void spin(volatile int *gate, volatile int *started) {
  *started = 1;
  while (*gate == 0) {}
}

// --- the gate -----------------------------------------------------------------------------------------------

// Opens a gate when a call has taken too long.
class Watchdog {
public:
  explicit Watchdog(volatile int *gate) : gate_(gate), thread_([this] { run(); }) { thread_.detach(); }
  void arm(std::chrono::milliseconds time) {
    std::lock_guard lock(mutex_);
    opened_ = false;
    deadline_ = std::chrono::steady_clock::now() + time;
    armed_ = true;
    wake_.notify_all();
  }
  bool opened() {
    std::lock_guard lock(mutex_);
    return opened_;
  }
  void disarm() {
    std::lock_guard lock(mutex_);
    armed_ = false;
  }

private:
  [[noreturn]] void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!armed_) wake_.wait(lock);
      else if (wake_.wait_until(lock, deadline_) == std::cv_status::timeout && armed_) {
        opened_ = true;
        armed_ = false;
        *gate_ = 1;
      }
    }
  }

  volatile int *gate_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::chrono::steady_clock::time_point deadline_;
  bool armed_ = false, opened_ = false;
  std::thread thread_;
};

// --- memory -------------------------------------------------------------------------------------------------

enum Kind { pageable, pinned, registered, managed, device, global, kKinds };
const char *const kNames[kKinds] = {"pageable", "pinned", "registered", "managed", "device", "symbol"};

char *allocate(Kind kind) {
  const std::size_t bytes = kLargest + kSlack;
  void *memory = nullptr;
  CUdeviceptr address = 0;
  switch (kind) {
    case pageable: memory = std::aligned_alloc(4096, bytes); break;
    case registered:
      memory = std::aligned_alloc(4096, bytes);
      CHECK_CU(cuMemHostRegister(memory, bytes, 0));
      break;
    case pinned: CHECK_CU(cuMemHostAlloc(&memory, bytes, 0)); break;
    case managed:
      CHECK_CU(cuMemAllocManaged(&address, bytes, CU_MEM_ATTACH_GLOBAL));
      memory = reinterpret_cast<void *>(address);
      break;
    case device:
      CHECK_CU(cuMemAlloc(&address, bytes));
      memory = reinterpret_cast<void *>(address);
      break;
    default: CHECK_CUDA(cudaGetSymbolAddress(&memory, symbol));
  }
  CHECK(memory);
  return static_cast<char *>(memory);
}

bool hostVisible(Kind kind) { return kind < device; }

// `rows` rows of `width` bytes, `pitch` apart.
struct Shape {
  std::size_t width, rows, pitch;
  std::size_t extent() const { return (rows - 1) * pitch + width; }
};

struct Side {
  Kind kind;
  char *memory;
  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(memory); }

  // At once; for device memory in `stream`, which is waited for.
  void fill(unsigned char value, const Shape &shape, CUstream stream) const {
    if (hostVisible(kind)) {
      std::memset(memory, value, shape.extent());
      return;
    }
    CHECK_CU(cuMemsetD8Async(address(), value, shape.extent(), stream));
    CHECK_CU(cuStreamSynchronize(stream));
  }
};

volatile int *gate;   // two words: opened, started
CUdeviceptr scratch;  // 64 bytes

struct Values {
  unsigned char captured, first, second, byNode, poison;
};
Values values;

// Which of the values all bytes of the rows have.
const char *contents(const char *memory, const Shape &shape) {
  const unsigned char value = memory[0];
  for (std::size_t y = 0; y < shape.rows; ++y)
    for (std::size_t x = 0; x < shape.width; ++x)
      if (static_cast<unsigned char>(memory[y * shape.pitch + x]) != value) return "mixed";
  return value == values.first      ? "taken"
         : value == values.second   ? "later"
         : value == values.captured ? "at capture"
         : value == values.byNode   ? "by the node"
         : value == values.poison   ? "nothing"
                                    : "other";
}

const char *contents(const Side &side, const Shape &shape) {
  if (hostVisible(side.kind)) return contents(side.memory, shape);
  std::vector<char> copy(shape.extent());
  CHECK_CU(cuMemcpyDtoH(copy.data(), side.address(), copy.size()));
  return contents(copy.data(), shape);
}

// --- the calls ----------------------------------------------------------------------------------------------

using Launch = std::function<CUresult(CUstream)>;
// What is to be observed, made ready; or the error of making it ready.
using Prepare = std::function<CUresult(const Side &to, const Side &from, const Shape &shape, Launch &launch)>;
using Direct = std::function<CUresult(const Side &to, const Side &from, const Shape &shape, CUstream stream)>;

Prepare direct(Direct call) {
  return [call](const Side &to, const Side &from, const Shape &shape, Launch &launch) {
    launch = [=](CUstream stream) { return call(to, from, shape, stream); };
    return CUDA_SUCCESS;
  };
}

// What a captured copy stands among in its graph.
enum class Among {
  nothing,
  fills,    // a fill before and after it
  kernel,   // the kernel that spins comes before it
  hostNode  // a host function that overwrites the source comes before it
};

CUresult spinIn(CUstream stream) {
  spin<<<1, 1, 0, reinterpret_cast<cudaStream_t>(stream)>>>(gate, gate + 1);
  return cudaGetLastError() == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

struct Overwrite {
  char *memory;
  unsigned char value;
  std::size_t bytes;
};

CUresult overwriteIn(CUstream stream, Overwrite what) {
  static std::deque<Overwrite> all;  // graphs refer to them
  all.push_back(what);
  auto function = [](void *data) {
    const auto &o = *static_cast<Overwrite *>(data);
    std::memset(o.memory, o.value, o.bytes);
  };
  return cuLaunchHostFunc(stream, function, &all.back());
}

CUresult driverError(cudaError_t error) { return static_cast<CUresult>(error); }

CUresult instantiate(CUgraph graph, Launch &launch) {
  CUgraphExec exec;
  CUresult result = cuGraphInstantiate(&exec, graph, 0);
  cuGraphDestroy(graph);
  if (result != CUDA_SUCCESS) return result;
  std::shared_ptr<CUgraphExec_st> owned(exec, [](CUgraphExec e) { cuGraphExecDestroy(e); });
  launch = [owned](CUstream stream) { return cuGraphLaunch(owned.get(), stream); };
  return CUDA_SUCCESS;
}

Prepare captured(Direct call, Among among = Among::nothing) {
  return [call, among](const Side &to, const Side &from, const Shape &shape, Launch &launch) {
    CUstream stream;
    CUgraph graph = nullptr;
    CHECK_CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    if (among == Among::fills) CHECK_CU(cuMemsetD8Async(scratch, 1, 64, stream));
    if (among == Among::kernel) CHECK_CU(spinIn(stream));
    if (among == Among::hostNode) CHECK_CU(overwriteIn(stream, {from.memory, values.byNode, shape.extent()}));
    CUresult result = call(to, from, shape, stream);
    if (among == Among::fills) CHECK_CU(cuMemsetD8Async(scratch, 2, 64, stream));
    CUresult ended = cuStreamEndCapture(stream, &graph);
    CHECK_CU(cuStreamDestroy(stream));
    if (result == CUDA_SUCCESS) result = ended;
    return result == CUDA_SUCCESS ? instantiate(graph, launch) : result;
  };
}

// typed: each side says whether it is host or device memory; else the driver finds out.
CUDA_MEMCPY3D describe(const Side &to, const Side &from, const Shape &shape, bool typed) {
  CUDA_MEMCPY3D d{};
  auto typeOf = [&](Kind kind) {
    return !typed                                 ? CU_MEMORYTYPE_UNIFIED
           : hostVisible(kind) && kind != managed ? CU_MEMORYTYPE_HOST
                                                  : CU_MEMORYTYPE_DEVICE;
  };
  d.srcMemoryType = typeOf(from.kind);
  d.dstMemoryType = typeOf(to.kind);
  d.srcHost = from.memory;
  d.dstHost = to.memory;
  d.srcDevice = from.address();
  d.dstDevice = to.address();
  d.srcPitch = d.dstPitch = shape.pitch;
  d.WidthInBytes = shape.width;
  d.Depth = shape.rows % 2 ? 1 : 2;
  d.Height = d.srcHeight = d.dstHeight = shape.rows / d.Depth;
  return d;
}

CUDA_MEMCPY2D describe2D(const Side &to, const Side &from, const Shape &shape, bool typed) {
  CUDA_MEMCPY3D d = describe(to, from, shape, typed);
  CUDA_MEMCPY2D p{};
  p.srcMemoryType = d.srcMemoryType;
  p.dstMemoryType = d.dstMemoryType;
  p.srcHost = d.srcHost;
  p.dstHost = d.dstHost;
  p.srcDevice = d.srcDevice;
  p.dstDevice = d.dstDevice;
  p.srcPitch = p.dstPitch = shape.pitch;
  p.WidthInBytes = shape.width;
  p.Height = shape.rows;
  return p;
}

CUcontext context;
CUdevice ordinal;

CUresult peer3D(const Side &to, const Side &from, const Shape &shape, CUstream stream, bool async) {
  CUDA_MEMCPY3D d = describe(to, from, shape, true);
  CUDA_MEMCPY3D_PEER p{};
  static_assert(sizeof d == sizeof p);
  std::memcpy(&p, &d, sizeof p);
  p.srcContext = p.dstContext = context;
  return async ? cuMemcpy3DPeerAsync(&p, stream) : cuMemcpy3DPeer(&p);
}

Direct batch(CUmemcpySrcAccessOrder order) {
  return [order](const Side &to, const Side &from, const Shape &shape, CUstream stream) {
    CUdeviceptr destination = to.address(), source = from.address();
    std::size_t bytes = shape.width, first = 0;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = order;
    return cuMemcpyBatchAsync(&destination, &source, &bytes, 1, &attributes, &first, 1, stream);
  };
}

Direct batch3D(CUmemcpySrcAccessOrder order) {
  return [order](const Side &to, const Side &from, const Shape &shape, CUstream stream) {
    CUDA_MEMCPY3D_BATCH_OP op{};
    for (auto [operand, side] : {std::pair{&op.src, &from}, std::pair{&op.dst, &to}}) {
      operand->type = CU_MEMCPY_OPERAND_TYPE_POINTER;
      operand->op.ptr.ptr = side->address();
      operand->op.ptr.rowLength = shape.pitch;
      operand->op.ptr.layerHeight = shape.rows;
    }
    op.extent = {shape.width, shape.rows, 1};
    op.srcAccessOrder = order;
    return cuMemcpy3DBatchAsync(1, &op, 0, stream);
  };
}

CUresult node(const Side &to, const Side &from, const Shape &shape, Launch &launch) {
  CUgraph graph;
  CUgraphNode added;
  CHECK_CU(cuGraphCreate(&graph, 0));
  CUDA_MEMCPY3D d = describe(to, from, shape, true);
  CUresult result = cuGraphAddMemcpyNode(&added, graph, nullptr, 0, &d, context);
  if (result == CUDA_SUCCESS) return instantiate(graph, launch);
  cuGraphDestroy(graph);
  return result;
}

cudaMemcpyKind direction(const Side &to, const Side &from) {
  if (hostVisible(from.kind) && from.kind != managed)
    return hostVisible(to.kind) && to.kind != managed ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return hostVisible(to.kind) && to.kind != managed ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

// --- what is observed ---------------------------------------------------------------------------------------

using Kinds = std::vector<Kind>;
using Sizes = std::vector<std::size_t>;
// Where the kernel spins. The call is made in the same stream; for the "other" ones in the legacy stream.
enum class In {
  created,
  legacy,
  perThread,
  otherBlocking,
  otherNonBlocking,
  graph,  // in the graph that is launched
};
struct Subject {
  std::string name;
  Prepare prepare;
  bool synchronous, rows;  // rows: four, pitched
  Kinds from, to;          // an empty `from`: a fill
  Sizes sizes;
  In in = In::created;
  bool overwrites = true;
};

const Kinds kAny = {pageable, pinned, registered, managed, device}, kHost = {pageable, pinned, registered, managed},
            kDevice = {device, managed, pinned}, kThree = {pageable, pinned, device};
const Sizes kAll = {16, 4096, 65536, 65537, 1 << 20, 2 << 20, 4 << 20, 8 << 20, kLargest}, kSome = {16, 65536, 1 << 20},
            kFew = {16, 1 << 20};

#define DIRECT(expression) \
  [](const Side &to, const Side &from, const Shape &shape, CUstream stream) -> CUresult { \
    (void)from, (void)stream;                                                             \
    return expression;                                                                    \
  }

std::vector<Subject> copies() {
  const Direct unified = DIRECT(cuMemcpyAsync(to.address(), from.address(), shape.width, stream));
  const Direct toDevice = DIRECT(cuMemcpyHtoDAsync(to.address(), from.memory, shape.width, stream));
  const Direct toHost = DIRECT(cuMemcpyDtoHAsync(to.memory, from.address(), shape.width, stream));
  const Direct onDevice = DIRECT(cuMemcpyDtoDAsync(to.address(), from.address(), shape.width, stream));
  std::vector<Subject> all;
  auto add = [&](std::string name, Prepare prepare, Kinds from, Kinds to, Sizes sizes, bool rows = false,
                 In in = In::created) {
    all.push_back(
        {std::move(name), std::move(prepare), false, rows, std::move(from), std::move(to), std::move(sizes), in});
  };
  add("cuMemcpyAsync", direct(unified), kAny, kAny, kAll);
  add("cuMemcpyAsync@legacy", direct(unified), kThree, kThree, kSome, false, In::legacy);
  add("cuMemcpyAsync@per-thread", direct(unified), kThree, kThree, kSome, false, In::perThread);
  add("cuMemcpyAsync@legacy-behind-blocking", direct(unified), kThree, kThree, kFew, false, In::otherBlocking);
  add("cuMemcpyAsync@legacy-behind-non-blocking", direct(unified), kThree, kThree, kFew, false, In::otherNonBlocking);
  add("cuMemcpyHtoDAsync", direct(toDevice), kHost, kDevice, kAll);
  add("cuMemcpyDtoHAsync", direct(toHost), kDevice, kHost, kAll);
  add("cuMemcpyDtoDAsync", direct(onDevice), kDevice, kDevice, kSome);
  add("cuMemcpyPeerAsync",
      direct(DIRECT(cuMemcpyPeerAsync(to.address(), context, from.address(), context, shape.width, stream))), kDevice,
      kDevice, kFew);
  auto rows2D = [](bool typed) {
    return [typed](const Side &to, const Side &from, const Shape &shape, CUstream stream) {
      CUDA_MEMCPY2D p = describe2D(to, from, shape, typed);
      return cuMemcpy2DAsync(&p, stream);
    };
  };
  auto rows3D = [](bool typed) {
    return [typed](const Side &to, const Side &from, const Shape &shape, CUstream stream) {
      CUDA_MEMCPY3D p = describe(to, from, shape, typed);
      return cuMemcpy3DAsync(&p, stream);
    };
  };
  add("cuMemcpy2DAsync", direct(rows2D(true)), kAny, kAny, kSome, true);
  add("cuMemcpy2DAsync:unified", direct(rows2D(false)), kThree, kThree, kSome, true);
  add("cuMemcpy3DAsync", direct(rows3D(true)), kAny, kAny, kSome, true);
  add("cuMemcpy3DAsync:unified", direct(rows3D(false)), kThree, kThree, kSome, true);
  add("cuMemcpy3DPeerAsync", direct(DIRECT(peer3D(to, from, shape, stream, true))), kThree, kThree, kFew, true);
  const std::pair<const char *, CUmemcpySrcAccessOrder> orders[] = {
      {"stream", CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
      {"during-call", CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL},
      {"any", CU_MEMCPY_SRC_ACCESS_ORDER_ANY}};
  for (auto [name, order] : orders) {
    add(std::string("cuMemcpyBatchAsync:") + name, direct(batch(order)), kThree, kThree, kSome);
    add(std::string("cuMemcpy3DBatchAsync:") + name, direct(batch3D(order)), kThree, kThree, kSome, true);
    add(std::string("capture cuMemcpyBatchAsync:") + name, captured(batch(order)), {pageable}, {device}, {16});
  }
  add("capture cuMemcpyAsync", captured(unified), kAny, kAny, kSome);
  add("capture cuMemcpyHtoDAsync", captured(toDevice), kHost, {device}, kSome);
  add("capture cuMemcpyDtoHAsync", captured(toHost), {device}, kHost, kSome);
  add("capture cuMemcpy2DAsync", captured(rows2D(true)), kThree, kThree, kFew, true);
  add("capture-with-fills cuMemcpyAsync", captured(unified, Among::fills), kThree, kThree, kSome);
  add("capture-behind-kernel cuMemcpyAsync", captured(unified, Among::kernel), kThree, kThree, kSome, false, In::graph);
  add("capture-behind-host-node cuMemcpyAsync", captured(unified, Among::hostNode), {pageable, pinned}, kThree, kSome);
  all.back().overwrites = false;
  add("node", node, kAny, kAny, kSome, true);
  return all;
}

std::vector<Subject> synchronousCopies() {
  std::vector<Subject> all;
  auto add = [&](std::string name, Direct call, Kinds from, Kinds to, Sizes sizes, bool rows = false) {
    for (auto [suffix, in] : {std::pair{"", In::legacy}, std::pair{"@behind-non-blocking", In::otherNonBlocking}}) {
      if (in != In::legacy && rows) continue;
      all.push_back({name + suffix, direct(call), true, rows, from, to, in == In::legacy ? sizes : kFew, in});
    }
  };
  add("cuMemcpy", DIRECT(cuMemcpy(to.address(), from.address(), shape.width)), kAny, kAny, kSome);
  add("cuMemcpyHtoD", DIRECT(cuMemcpyHtoD(to.address(), from.memory, shape.width)), kHost, kDevice, kAll);
  add("cuMemcpyDtoH", DIRECT(cuMemcpyDtoH(to.memory, from.address(), shape.width)), kDevice, kHost, kSome);
  add("cuMemcpyDtoD", DIRECT(cuMemcpyDtoD(to.address(), from.address(), shape.width)), kDevice, kDevice, kSome);
  add("cuMemcpyPeer", DIRECT(cuMemcpyPeer(to.address(), context, from.address(), context, shape.width)), kDevice,
      kDevice, kFew);
  add(
      "cuMemcpy2D",
      [](const Side &to, const Side &from, const Shape &shape, CUstream) {
        CUDA_MEMCPY2D p = describe2D(to, from, shape, true);
        return cuMemcpy2D(&p);
      },
      kThree, kThree, kSome, true);
  add(
      "cuMemcpy3D",
      [](const Side &to, const Side &from, const Shape &shape, CUstream) {
        CUDA_MEMCPY3D p = describe(to, from, shape, true);
        return cuMemcpy3D(&p);
      },
      kThree, kThree, kSome, true);
  add("cuMemcpy3DPeer", DIRECT(peer3D(to, from, shape, stream, false)), kThree, kThree, kFew, true);
  return all;
}

std::vector<Subject> fills(unsigned char value) {
  std::vector<Subject> all;
  auto add = [&](std::string name, Prepare prepare, bool synchronous, In in) {
    all.push_back({std::move(name), std::move(prepare), synchronous, false, {}, kAny, kSome, in});
  };
  Direct async = [value](const Side &to, const Side &, const Shape &shape, CUstream stream) {
    return cuMemsetD8Async(to.address(), value, shape.width, stream);
  };
  add("cuMemsetD8Async", direct(async), false, In::created);
  add("cuMemsetD8Async@legacy", direct(async), false, In::legacy);
  add("cuMemsetD8", direct([value](const Side &to, const Side &, const Shape &shape, CUstream) {
        return cuMemsetD8(to.address(), value, shape.width);
      }),
      true, In::legacy);
  add("cuMemsetD2D8Async", direct([value](const Side &to, const Side &, const Shape &shape, CUstream stream) {
        return cuMemsetD2D8Async(to.address(), shape.width, value, shape.width, 1, stream);
      }),
      false, In::created);
  return all;
}

std::vector<Subject> runtimeCopies() {
  std::vector<Subject> all;
  auto add = [&](std::string name, bool synchronous, Direct call, Kinds from, Kinds to, Sizes sizes,
                 bool rows = false) {
    all.push_back({std::move(name), direct(std::move(call)), synchronous, rows, std::move(from), std::move(to),
                   std::move(sizes), synchronous ? In::legacy : In::created});
  };
  add("cudaMemcpyAsync:default", false,
      DIRECT(driverError(cudaMemcpyAsync(to.memory, from.memory, shape.width, cudaMemcpyDefault, stream))), kThree,
      kThree, kFew);
  add("cudaMemcpyAsync", false,
      DIRECT(driverError(cudaMemcpyAsync(to.memory, from.memory, shape.width, direction(to, from), stream))), kThree,
      kThree, kFew);
  add("cudaMemcpy2DAsync", false,
      DIRECT(driverError(cudaMemcpy2DAsync(to.memory, shape.pitch, from.memory, shape.pitch, shape.width, shape.rows,
                                           direction(to, from), stream))),
      kThree, kThree, kFew, true);
  add("cudaMemcpyToSymbolAsync", false,
      DIRECT(driverError(cudaMemcpyToSymbolAsync(symbol, from.memory, shape.width, 0, direction(to, from), stream))),
      kThree, {global}, kSome);
  add("cudaMemcpyFromSymbolAsync", false,
      DIRECT(driverError(cudaMemcpyFromSymbolAsync(to.memory, symbol, shape.width, 0, direction(to, from), stream))),
      {global}, kThree, kSome);
  add("cudaMemcpy", true, DIRECT(driverError(cudaMemcpy(to.memory, from.memory, shape.width, direction(to, from)))),
      kThree, kThree, kFew);
  add("cudaMemcpyToSymbol", true,
      DIRECT(driverError(cudaMemcpyToSymbol(symbol, from.memory, shape.width, 0, direction(to, from)))), kThree,
      {global}, kFew);
  return all;
}

// --- observing ----------------------------------------------------------------------------------------------

struct Case {
  const Subject *subject;
  bool busy;
  Side from, to;
  std::size_t bytes;
};

class Observer {
public:
  Observer() : watchdog_(new Watchdog(gate)) {
    CHECK_CU(cuStreamCreate(&created_, CU_STREAM_DEFAULT));
    CHECK_CU(cuStreamCreate(&nonBlocking_, CU_STREAM_NON_BLOCKING));
    CHECK_CU(cuStreamCreate(&filling_, CU_STREAM_NON_BLOCKING));
    for (int kind = 0; kind < kKinds; ++kind) {
      from_[kind] = {static_cast<Kind>(kind), allocate(static_cast<Kind>(kind))};
      to_[kind] = {static_cast<Kind>(kind), allocate(static_cast<Kind>(kind))};
    }
    close(created_), open();  // the kernel is loaded
    CHECK_CU(cuCtxSynchronize());
  }

  // Calls `visit(case)` for each of the subject's cases.
  void visitCases(const Subject &subject, const std::function<void(const Case &)> &visit) {
    Kinds sources = subject.from.empty() ? Kinds{device} : subject.from;
    for (bool busy : {true, false})
      for (Kind from : sources)
        for (Kind to : subject.to)
          for (std::size_t bytes : subject.sizes) {
            bool fill = subject.from.empty();
            bool settled = (!fill && (from == pageable || to == pageable)) ||
                           (subject.synchronous && ((!fill && hostVisible(from)) || hostVisible(to)));
            bool free = !busy || (subject.in == In::otherNonBlocking && !subject.synchronous);
            if (!free || settled) visit({&subject, busy, from_[from], to_[to], bytes});
          }
  }

  // `patience` times as long as usual until the call counts as one that waits.
  std::string observe(const Case &c, int patience) {
    const Subject &subject = *c.subject;
    const Shape shape = subject.rows ? Shape{(c.bytes + 3) / 4, 4, (c.bytes + 3) / 4 + 64} : Shape{c.bytes, 1, c.bytes};
    const bool fill = subject.from.empty();
    std::ostringstream line;
    line << (c.busy ? "busy " : "idle ") << subject.name << ' ';
    if (!fill) line << kNames[c.from.kind] << " -> ";
    line << kNames[c.to.kind] << ' ' << c.bytes << ": ";

    if (!fill) c.from.fill(values.captured, shape, filling_);
    c.to.fill(values.poison, shape, filling_);
    Launch launch;
    if (CUresult result = subject.prepare(c.to, c.from, shape, launch); result != CUDA_SUCCESS)
      return line.str() + "preparing: " + nameOf(result);
    if (!fill) c.from.fill(values.first, shape, filling_);

    CUstream stream = subject.in == In::created || subject.in == In::graph ? created_
                      : subject.in == In::perThread                        ? CU_STREAM_PER_THREAD
                                                                           : nullptr;
    CUstream held = subject.in == In::otherBlocking      ? created_
                    : subject.in == In::otherNonBlocking ? nonBlocking_
                                                         : stream;
    if (c.busy && subject.in == In::graph) gate[0] = 0;
    else if (c.busy) close(held);
    watchdog_->arm(std::chrono::milliseconds(patience * (12 + c.bytes / 1000000)));
    CUresult result = launch(stream);
    bool waited = watchdog_->opened();
    if (result != CUDA_SUCCESS) {
      open();
      CHECK_CU(cuCtxSynchronize());
      return line.str() + nameOf(result);
    }
    if (c.busy) line << (waited ? "waits" : "returns");
    const char *separator = c.busy ? ", " : "";
    if (!waited) watchdog_->arm(std::chrono::seconds(1));
    const bool free = !c.busy || subject.in == In::otherNonBlocking;  // nothing holds the call's stream
    if (free ? c.to.kind == pageable || (hostVisible(c.to.kind) && subject.synchronous) : hostVisible(c.to.kind)) {
      const char *seen = contents(c.to, shape);
      line << separator << (std::strcmp(seen, "nothing") == 0 ? "not written" : "written");
      separator = ", ";
    }
    bool overwrites =
        !fill && subject.overwrites && (hostVisible(c.from.kind) || (!free && c.bytes <= 65536 && !waited));
    if (overwrites) c.from.fill(values.second, shape, filling_);
    bool between = !waited && watchdog_->opened();
    open();
    CHECK_CU(cuStreamSynchronize(stream));
    CHECK_CU(cuCtxSynchronize());
    const char *arrived = contents(c.to, shape);
    if (overwrites || std::strcmp(arrived, "taken") != 0) line << separator << arrived;
    if (between) line << " (the watchdog came between)";
    return line.str();
  }

private:
  static std::string nameOf(CUresult result) {
    const char *name = nullptr;
    return cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : "error " + std::to_string(result);
  }
  void close(CUstream stream) {
    gate[0] = gate[1] = 0;
    CHECK_CU(spinIn(stream));
    while (gate[1] == 0) std::this_thread::yield();
  }
  void open() {
    watchdog_->disarm();
    gate[0] = 1;
  }

  Watchdog *watchdog_;
  CUstream created_, nonBlocking_, filling_;
  Side from_[kKinds], to_[kKinds];
};

void printMachine() {
  char name[128];
  int version = 0, pageableAccess = 0, concurrent = 0, uses = 0;
  CHECK_CU(cuDeviceGetName(name, sizeof name, ordinal));
  CHECK_CU(cuDriverGetVersion(&version));
  CHECK_CU(cuDeviceGetAttribute(&pageableAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, ordinal));
  CHECK_CU(cuDeviceGetAttribute(&uses, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, ordinal));
  CHECK_CU(cuDeviceGetAttribute(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, ordinal));
  std::printf(
      "# %s, driver %d.%d, pageable memory access %d, by the host's page tables %d, concurrent managed access %d\n",
      name, version / 1000, version % 1000 / 10, pageableAccess, uses, concurrent);
}

// The line's beginning: what is observed.
std::string subjectOf(const std::string &line) { return line.substr(0, line.find(": ")); }

// Of each subject the line that is right here.
std::map<std::string, std::string> readRecorded(const char *path) {
  std::ifstream file(path);
  CHECK(file);
  std::map<std::string, std::string> lines;
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '=') lines[last] = last + ": " + line.substr(2);
    else lines[last = subjectOf(line)] = line;
  }
  return lines;
}

// Lines that differ from the recorded ones; each is observed again, more patiently, before it counts.
int compare(Observer &observer, const std::vector<Subject> &subjects, const char *path) {
  const std::map<std::string, std::string> recorded = readRecorded(path);
  std::size_t compared = 0, differ = 0;
  for (const Subject &subject : subjects)
    observer.visitCases(subject, [&](const Case &c) {
      std::string seen = observer.observe(c, 1);
      const auto found = recorded.find(subjectOf(seen));
      if (found == recorded.end()) return;  // not the same each time on hardware
      ++compared;
      for (int patience : {5, 40}) {
        if (seen == found->second) return;
        seen = observer.observe(c, patience);
      }
      if (seen == found->second) return;
      if (++differ <= 40) std::printf("recorded: %s\n    here: %s\n", found->second.c_str(), seen.c_str());
    });
  std::printf("%zu lines, %zu recorded, %zu differ\n", compared, recorded.size(), differ);
  return differ || compared != recorded.size();
}

int main(int count, char **arguments) {
  CHECK_CUDA(cudaFree(nullptr));
  CHECK_CU(cuCtxGetCurrent(&context));
  CHECK_CU(cuCtxGetDevice(&ordinal));
  const unsigned seed = std::random_device{}();
  auto value = static_cast<unsigned char>(seed);
  values = {static_cast<unsigned char>(value ^ 0x5A), value, static_cast<unsigned char>(value ^ 0xFF),
            static_cast<unsigned char>(value ^ 0x0F), static_cast<unsigned char>(value ^ 0xA5)};
  int *words;
  CHECK_CUDA(cudaHostAlloc(reinterpret_cast<void **>(&words), 2 * sizeof *words, 0));
  words[0] = 1;
  gate = words;
  CHECK_CU(cuMemAlloc(&scratch, 64));
  Observer observer;
  std::vector<Subject> subjects;
  for (auto &&group : {copies(), synchronousCopies(), fills(values.first), runtimeCopies()})
    subjects.insert(subjects.end(), group.begin(), group.end());
  if (count == 3 && std::string(arguments[1]) == "compare") {
    std::printf("seed %u\n", seed);
    return compare(observer, subjects, arguments[2]);
  }
  printMachine();
  for (const Subject &subject : subjects)
    observer.visitCases(subject, [&](const Case &c) { std::printf("%s\n", observer.observe(c, 1).c_str()); });
  return 0;
}
