// SPDX-License-Identifier: Apache-2.0
// A mutex for sections of a few instructions that several threads enter a million times a second: who finds it taken
// looks again for a moment before going to sleep, as falling asleep and being woken takes far longer than the section.
#pragma once

#include <pthread.h>

#include <mutex>

namespace strata {

class ShortLock : public std::mutex {
public:
  ShortLock() { *native_handle() = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP; }
};

}  // namespace strata
