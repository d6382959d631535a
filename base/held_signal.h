// SPDX-License-Identifier: Apache-2.0
// A signal that a write of the calling thread may cause, and that would end the process, is swallowed instead: the
// write fails, and errno says why.
#pragma once

#include <signal.h>

#include <cerrno>
#include <ctime>

namespace strata {

class HeldSignal {
public:
  explicit HeldSignal(int signal) : number_(signal) {
    sigset_t pending;
    sigemptyset(&signal_);
    sigaddset(&signal_, signal);
    // What somebody else has sent is not swallowed.
    wasPending_ = sigpending(&pending) == 0 && sigismember(&pending, signal);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~HeldSignal() {
    const int why = errno;  // of the write
    constexpr timespec kNow{0, 0};
    if (!wasPending_)
      while (sigtimedwait(&signal_, nullptr, &kNow) < 0 && errno == EINTR) {}
    if (!sigismember(&before_, number_)) pthread_sigmask(SIG_UNBLOCK, &signal_, nullptr);
    errno = why;
  }
  HeldSignal(const HeldSignal &) = delete;

private:
  int number_;
  bool wasPending_ = false;
  sigset_t signal_, before_;
};

}  // namespace strata
