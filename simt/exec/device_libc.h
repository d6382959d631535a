// SPDX-License-Identifier: Apache-2.0
// What device code calls of libc: printf, assert, malloc and free.
#pragma once

#include "simt/exec/launch_run.h"

namespace strata::simt {

std::int32_t deviceVprintf(Warp *warp, std::uint32_t lane, const char *format, const void *arguments);
void deviceAssertFail(Warp *warp, std::uint32_t lane, const char *message, const char *file, std::uint32_t line,
                      const char *function, std::uint64_t charSize);
void *deviceMalloc(Warp *warp, std::uint64_t bytes);
void deviceFree(Warp *warp, void *pointer);
void setDeviceHeapLimit(std::uint64_t bytes);
void setDeviceStackLimit(std::uint64_t bytesPerThread);
std::uint64_t deviceStackLimit();

}  // namespace strata::simt
