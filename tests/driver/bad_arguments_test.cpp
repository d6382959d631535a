// SPDX-License-Identifier: Apache-2.0
// Each row of api.def with handles that are none: addresses of something else, numbers, live handles of another
// type, handles of objects that were destroyed; next to absurd sizes, numbers and empty structs. The process lives,
// an entry that is given such a handle fails, and with an error of CUDA's that is not our own internal one.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <typeindex>
#include <vector>

#include <gtest/gtest.h>

#include "driver/cuda_types.h"
#include "tests/driver/ptx.h"

#define CU(symbol, parameters, arguments, gate, base, since, page) extern "C" CUresult symbol parameters;
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page) extern "C" CUresult symbol parameters;
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page) extern "C" CUresult symbol parameters;
#define CU_ABSENT(symbol, parameters, base, since, page)
#include "driver/api.def"
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT

namespace {

enum class Bad { address, number, otherType, destroyed };
constexpr Bad kBad[] = {Bad::address, Bad::number, Bad::otherType, Bad::destroyed};

// Opaque handles are pointers to structs without a definition.
template <class T, class = void>
struct HasSize : std::false_type {};
template <class T>
struct HasSize<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};
template <class T>
constexpr bool isHandle() {
  if constexpr (std::is_pointer_v<T>) {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_class_v<Pointee>) return !HasSize<Pointee>::value;
  }
  return false;
}

// What all calls share: a context, an event and a stream that live, one destroyed object of each type.
class Objects {
public:
  Objects() {
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    destroySome();
  }
  ~Objects() { EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS); }

  template <class Handle>
  Handle bad(Bad kind) {
    void *handle = scratch.data() + 64;
    if (kind == Bad::number) handle = reinterpret_cast<void *>(0x1238);
    if (kind == Bad::otherType) handle = std::is_same_v<Handle, CUevent> ? static_cast<void *>(stream) : event;
    if (auto found = destroyed_.find(typeid(Handle)); kind == Bad::destroyed && found != destroyed_.end()) handle = found->second;
    return static_cast<Handle>(handle);
  }

  void useContext() {
    CUcontext now = nullptr;
    if (cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context) return;
    if (now) cuCtxDestroy_v2(now);  // made by the call
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }

  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  alignas(64) std::array<unsigned char, 1 << 16> scratch{};

private:
  template <class Handle>
  void keep(Handle handle) {
    destroyed_[typeid(Handle)] = handle;
  }
  void destroySome() {
    CUstream oldStream = nullptr;
    CUevent oldEvent = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuStreamCreate(&oldStream, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuEventCreate(&oldEvent, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleLoadData(&module, strata::test::kPtx), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "add"), CUDA_SUCCESS);
    keep(oldStream), keep(oldEvent), keep(module), keep(function);
    EXPECT_EQ(cuStreamDestroy_v2(oldStream), CUDA_SUCCESS);
    EXPECT_EQ(cuEventDestroy_v2(oldEvent), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    EXPECT_EQ(cuLibraryLoadData(&library, strata::test::kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "add"), CUDA_SUCCESS);
    keep(library), keep(kernel);
    EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    keep(graph), keep(node), keep(exec);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    CUcontext other = nullptr;
    EXPECT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
    keep(other);
    EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
    CUmemoryPool pool = nullptr;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
    keep(pool);
    EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
    CUlinkState link = nullptr;
    EXPECT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), CUDA_SUCCESS);
    keep(link);
    EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }

  std::map<std::type_index, void *> destroyed_;
};

class Caller {
public:
  Caller(Objects &objects, std::mt19937_64 &random, Bad bad) : objects_(objects), random_(random), bad_(bad) {}

  template <class T>
  T argument() {
    if constexpr (isHandle<T>()) {
      ++handles;
      return objects_.bad<T>(bad_);
    } else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
      return nullptr;
    } else if constexpr (std::is_pointer_v<T>) {
      if (random_() % 4 == 0) return nullptr;
      return reinterpret_cast<T>(const_cast<unsigned char *>(objects_.scratch.data() + 4096));
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      constexpr std::uint64_t kNumbers[] = {0, 1, 8, 1ull << 50, ~0ull, 1ull << 31};
      return static_cast<T>(kNumbers[random_() % std::size(kNumbers)]);
    } else {
      return T{};
    }
  }

  template <class... Args>
  CUresult operator()(CUresult (*entry)(Args...)) {
    objects_.scratch.fill(0);
    std::tuple<Args...> arguments{argument<Args>()...};
    return std::apply(entry, arguments);
  }

  int handles = 0;

private:
  Objects &objects_;
  std::mt19937_64 &random_;
  const Bad bad_;
};

struct Row {
  const char *symbol;
  CUresult (*call)(Caller &caller);
};

const std::vector<Row> &rows() {
#define ROW(symbol) {#symbol, [](Caller &caller) { return caller(&symbol); }},
#define CU(symbol, parameters, arguments, gate, base, since, page) ROW(symbol)
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page) ROW(symbol)
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page) ROW(symbol)
#define CU_ABSENT(symbol, parameters, base, since, page)
  static const std::vector<Row> all = {
#include "driver/api.def"
  };
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT
  return all;
}

// Names the entry in which the process ends or hangs.
const char *volatile inEntry = "";
void reportEntry(int signal) {
  const char *parts[] = {"signal ", signal == SIGALRM ? "ALRM" : "SEGV or such", " in ", inEntry, "\n"};
  for (const char *part : parts) [[maybe_unused]] auto written = write(2, part, std::strlen(part));
  ::signal(signal, SIG_DFL);
  raise(signal);
}

class BadArguments : public ::testing::TestWithParam<Bad> {
protected:
  void SetUp() override {
    struct sigaction action {};
    action.sa_handler = reportEntry;
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  void TearDown() override {
    alarm(0);
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGALRM};
  struct sigaction before_[std::size(kSignals)];
};

TEST_P(BadArguments, GiveErrors) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Objects objects;
  int withHandles = 0;
  for (int round = 0; round < 8; ++round)
    for (const Row &row : rows()) {
      inEntry = row.symbol;
      alarm(20);
      Caller caller(objects, random, GetParam());
      const CUresult result = row.call(caller);
      const char *name = "(no such result)";
      EXPECT_EQ(cuGetErrorName(result, &name), CUDA_SUCCESS) << row.symbol << " returned " << result;
      EXPECT_NE(result, CUDA_ERROR_UNKNOWN) << row.symbol;
      if (caller.handles) EXPECT_NE(result, CUDA_SUCCESS) << row.symbol << " takes a bad handle";
      withHandles += caller.handles != 0;
      objects.useContext();
    }
  EXPECT_GT(withHandles, 8 * 150);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

std::string kindName(const ::testing::TestParamInfo<Bad> &info) {
  constexpr const char *kNames[] = {"address", "number", "otherType", "destroyed"};
  return kNames[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Kinds, BadArguments, ::testing::ValuesIn(kBad), kindName);

}  // namespace
