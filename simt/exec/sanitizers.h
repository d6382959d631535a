// SPDX-License-Identifier: Apache-2.0
// Which sanitizer this is built with, and its interface for fibers.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRATA_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_feature(thread_sanitizer)
#define STRATA_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif
