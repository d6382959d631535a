// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel fit a multiprocessor of compute capability 9.0: what programs size their grids by.
#pragma once

#include <cstdint>

#include "driver/device.h"
#include "driver/module.h"

namespace strata::driver {

struct Launch;

// Blocks of blockThreads threads and that much dynamic shared memory (bytes) on one multiprocessor; 0: none fits.
std::uint32_t residentBlocks(const Function &function, std::uint32_t blockThreads, std::uint64_t dynamicShared);
// A cooperative launch's blocks are all resident on this device at once.
bool fitsResident(const Function &function, const Launch &launch, const Device &device);

}  // namespace strata::driver
