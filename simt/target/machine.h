// SPDX-License-Identifier: Apache-2.0
// What the executor asks of the processor by instruction or register. A family of processors has a header that defines
// all of it:
//   void pause()                            a hot loop waits
//   uint64_t timeCounter()                  cheap, at a constant rate of a few GHz or less
//   void storesBefore()                     non-temporal stores come before what follows
//   void useDefaultRounding()               nearest-even, nothing traps, subnormals stay: what kernels start with
//   void storePastCaches(void *to, const void *from, size_t lines)   whole lines; `to` is aligned to them
//   uintptr_t programCounter(const ucontext_t &)
//   void redirect(ucontext_t &, void *stackTop, void (*function)())  goes on there, as if called on an empty stack
#pragma once

#include <cstddef>

namespace strata::simt::machine {

inline constexpr std::size_t kLineBytes = 64;  // of the caches

}  // namespace strata::simt::machine

#if defined(__x86_64__)
#include "simt/target/x86_machine.h"  // IWYU pragma: export
#else
#error "Strata has no simt/target/*_machine.h for this processor"
#endif
