// SPDX-License-Identifier: Apache-2.0
// The driver below: NVIDIA's libcuda or Strata's CPU driver, chosen and opened at the first use. The runtime and the
// libraries beside it call it only through this table, under the names of cuda.h.
#pragma once

#include <atomic>
#include <string>

#include "toolkit/include/cuda.h"
#include "toolkit/include/cudaProfiler.h"

namespace strata::cuda {

struct Driver {
#define DRIVER(name) decltype(&::name) name;
#include "cuda/driver_functions.def"
#undef DRIVER
};

// The table, after cuInit. Null if no driver could be opened or cuInit failed; `driverError()` then says why.
// The first call decides; it is safe from any thread and from static initialisers.
const Driver *openDriver();
CUresult driverError();

// The same, known to be open. For code that runs behind a bound context.
extern std::atomic<const Driver *> gDriver;
inline const Driver &driver() { return *gDriver.load(std::memory_order_acquire); }

// Path of the libcuda in use, and whether it is Strata's CPU driver.
const std::string &driverPath();
bool isCpuDriver();

// False once the process is running its exit handlers, and in a child that was forked after the driver was opened:
// nothing may be freed through it, and locks may be held by threads that are not there.
bool processAlive();

}  // namespace strata::cuda
