// SPDX-License-Identifier: Apache-2.0
// A mutex for sections of a few instructions that several threads enter a million times a second: who finds it taken
// looks again for a moment before going to sleep, as falling asleep and being woken takes far longer than the section.
#pragma once

#include <pthread.h>

namespace strata {

class ShortLock {
public:
  ShortLock() = default;
  ShortLock(const ShortLock &) = delete;
  ShortLock &operator=(const ShortLock &) = delete;
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

private:
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
};

}  // namespace strata
