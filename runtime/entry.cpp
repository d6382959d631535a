// SPDX-License-Identifier: Apache-2.0
// The exports, made from api.def: each calls its body and records the error for the calling thread.
#include "runtime/array.h"
#include "runtime/body.h"

#define RT_EXPORT extern "C" __attribute__((visibility("default")))

#define RT_TOPIC(title)
#define RT_UNPACK(...) __VA_ARGS__
#define RT(name, parameters, arguments) \
  RT_EXPORT cudaError_t name parameters {                                                     \
    return record(guarded(#name, [&] { return body::name arguments; }));          \
  }
#define RT_STREAM(name, suffix, parameters, arguments)                        \
  RT_EXPORT cudaError_t name parameters {                                     \
    return record(guarded(#name, [&] { return body::name(DefaultStream::legacy, RT_UNPACK arguments); }));    \
  }                                                                           \
  RT_EXPORT cudaError_t name##suffix parameters {                             \
    return record(guarded(#name, [&] { return body::name(DefaultStream::perThread, RT_UNPACK arguments); })); \
  }
#define RT_FORWARD(name, parameters, entry, arguments)                                      \
  RT_EXPORT cudaError_t name parameters {                                                   \
    return record(guarded(#name, [&] { return inContext([&](const Driver &driver) { return driver.entry arguments; }); })); \
  }
#define RT_FORWARD_STREAM(name, suffix, parameters, entry, arguments)                       \
  RT_EXPORT cudaError_t name parameters {                                                   \
    [[maybe_unused]] constexpr DefaultStream none = DefaultStream::legacy;                  \
    return record(guarded(#name, [&] { return inContext([&](const Driver &driver) { return driver.entry arguments; }); })); \
  }                                                                                         \
  RT_EXPORT cudaError_t name##suffix parameters {                                           \
    [[maybe_unused]] constexpr DefaultStream none = DefaultStream::perThread;               \
    return record(guarded(#name, [&] { return inContext([&](const Driver &driver) { return driver.entry arguments; }); })); \
  }
#define RT_PLAIN(result, name, parameters, arguments) \
  RT_EXPORT result name parameters { return body::name arguments; }
#define RT_ABSENT(name, parameters) \
  RT_EXPORT cudaError_t name parameters { return record(notSupported(#name)); }
#define RT_ABSENT_STREAM(name, suffix, parameters)                              \
  RT_EXPORT cudaError_t name parameters { return record(notSupported(#name)); } \
  RT_EXPORT cudaError_t name##suffix parameters { return record(notSupported(#name)); }

using namespace strata::runtime;

#include "runtime/api.def"
#include "runtime/api_undef.h"
