// SPDX-License-Identifier: Apache-2.0
// What lies between an exported symbol and its body: process state, gates, trace.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "driver/cuda_types.h"

namespace strata::driver {

enum class ProcessState : std::uint32_t {
  fresh,  // cuInit has not succeeded
  ready,
  forked,  // a child of a process that had called cuInit: its worker threads do not exist here
};
inline std::atomic<ProcessState> processState{ProcessState::fresh};

enum class Gate { always, init, current, live };
CUresult checkGate(Gate gate);

// Stream 0 in the running call: the thread's own default stream, or the legacy one.
inline thread_local constinit bool streamZeroIsPerThread = false;

// One row of api.def, for cuGetProcAddress and the tests.
struct EntryRow {
  const char *symbol;
  void *address;
  const char *base;
  int since;
  bool absent;
};
std::span<const EntryRow> entryRows();

}  // namespace strata::driver
