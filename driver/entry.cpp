// SPDX-License-Identifier: Apache-2.0
// The exports. Each is made from its row of api.def: trace, gate, body; and no exception leaves it.
#include "driver/entry.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>

#include "base/log.h"
#include "driver/context.h"
#include "driver/entries.h"

#define STRATA_EXPORT extern "C" __attribute__((visibility("default")))

namespace strata::driver {
namespace {

template <class T>
std::uint64_t asWord(const T &value) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<std::uint64_t>(value);
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return static_cast<std::uint64_t>(value);
  else return 0;  // a struct by value, a float: not shown
}

void traceWords(const char *symbol, std::string_view names, std::span<const std::uint64_t> words) {
  std::string line = fmt::format("{}(", symbol);
  names = names.substr(1, names.size() - 2);
  for (std::uint64_t word : words) {
    auto comma = names.find(',');
    line += fmt::format("{}={:#x}", names.substr(0, comma), word);
    names = comma == names.npos ? std::string_view{} : names.substr(comma + 1);
    if (!names.empty()) line += ",";
  }
  log::write(log::Level::debug, line + ")");
}

// Called as Trace{symbol, names}(arguments…).
struct Trace {
  const char *symbol;
  const char *names;
  template <class... Args>
  void operator()(const Args &...args) const {
    static const bool enabled = log::enabled(log::Level::debug);
    if (!enabled) return;
    const std::uint64_t words[sizeof...(Args) + 1] = {asWord(args)..., 0};
    traceWords(symbol, names, std::span(words, sizeof...(Args)));
  }
};

template <class Body>
CUresult enter(const char *symbol, Gate gate, Body body) {
  if (CUresult result = checkGate(gate); result != CUDA_SUCCESS) return result;
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::system_error &e) {  // no threads, no descriptors
    log::error(fmt::format("{}: {}", symbol, e.what()));
    return CUDA_ERROR_OPERATING_SYSTEM;
  } catch (const std::length_error &) {  // a count that no memory could hold
    return CUDA_ERROR_INVALID_VALUE;
  } catch (const std::exception &e) {
    log::error(fmt::format("{}: internal error: {}", symbol, e.what()));
    return CUDA_ERROR_UNKNOWN;
  }
}

CUresult absent(const char *symbol) {
  log::once(log::Level::warn, symbol, fmt::format("{} is not supported by Strata's CPU driver", symbol));
  return CUDA_ERROR_NOT_SUPPORTED;
}

class PerThreadScope {
public:
  PerThreadScope() { streamZeroIsPerThread = true; }
  ~PerThreadScope() { streamZeroIsPerThread = before_; }

private:
  bool before_ = streamZeroIsPerThread;
};

enum class Symbol {
#define CU(symbol, parameters, arguments, gate, base, since, page) symbol,
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page)
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page)
#define CU_ABSENT(symbol, parameters, base, since, page)
#include "driver/api.def"
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT
};

constexpr Gate kGates[] = {
#define CU(symbol, parameters, arguments, gate, base, since, page) Gate::gate,
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page)
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page)
#define CU_ABSENT(symbol, parameters, base, since, page)
#include "driver/api.def"
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT
};
constexpr Gate gateOf(Symbol symbol) { return kGates[static_cast<std::size_t>(symbol)]; }

}  // namespace

CUresult checkGate(Gate gate) {
  if (gate == Gate::always) return CUDA_SUCCESS;
  if (processState.load(std::memory_order_acquire) != ProcessState::ready) return CUDA_ERROR_NOT_INITIALIZED;
  if (gate == Gate::init) return CUDA_SUCCESS;
  Context *context = currentContext();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (!context->alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return gate == Gate::live ? context->error() : CUDA_SUCCESS;
}

}  // namespace strata::driver

using namespace strata::driver;

#define CU(symbol, parameters, arguments, gate, base, since, page)                \
  STRATA_EXPORT CUresult symbol parameters {                                      \
    Trace{#symbol, #arguments} arguments;                                         \
    return enter(#symbol, Gate::gate, [&] { return entry::symbol arguments; });   \
  }
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page)                          \
  STRATA_EXPORT CUresult symbol parameters {                                                        \
    Trace{#symbol, #arguments} arguments;                                                           \
    return enter(#symbol, gateOf(Symbol::target), [&] { return entry::target arguments; });         \
  }
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page)                     \
  STRATA_EXPORT CUresult symbol parameters {                                                        \
    Trace{#symbol, #arguments} arguments;                                                           \
    PerThreadScope perThread;                                                                       \
    return enter(#symbol, gateOf(Symbol::target), [&] { return entry::target arguments; });         \
  }
#define CU_ABSENT(symbol, parameters, base, since, page) \
  STRATA_EXPORT CUresult symbol parameters { return absent(#symbol); }
#include "driver/api.def"
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT

std::span<const EntryRow> strata::driver::entryRows() {
#define CU(symbol, parameters, arguments, gate, base, since, page) \
  {#symbol, reinterpret_cast<void *>(&::symbol), #base, since, false},
#define CU_PER_THREAD(symbol, parameters, arguments, target, base, since, page) \
  {#symbol, reinterpret_cast<void *>(&::symbol), #base, since, false},
#define CU_ALIAS(symbol, parameters, arguments, target, base, since, page) \
  {#symbol, reinterpret_cast<void *>(&::symbol), #base, since, false},
#define CU_ABSENT(symbol, parameters, base, since, page) \
  {#symbol, reinterpret_cast<void *>(&::symbol), #base, since, true},
  static const EntryRow rows[] = {
#include "driver/api.def"
  };
#undef CU
#undef CU_PER_THREAD
#undef CU_ALIAS
#undef CU_ABSENT
  return rows;
}
