// SPDX-License-Identifier: Apache-2.0
// What the image loader knows of the processor's ELF. A family has a header that defines:
//   kElfMachine, isUnwindSection(type), kTrap (fills gaps in code)
//   relocationOf(type)                         what it asks for; none: not supported
//   kStubBytes, writeStub(at, distance)        a jump to the address in the slot that lies `distance` bytes from `at`
#pragma once

#include <cstdint>
#include <optional>

namespace strata::simt::machine {

struct Relocation {
  bool relative = false;  // to the place itself
  bool slot = false;      // the address is of the slot that holds the symbol's
  unsigned width = 4;     // bytes
  bool isSigned = true;   // a narrow value is extended by its sign
};

}  // namespace strata::simt::machine

#if defined(__x86_64__)
#include "simt/target/x86_relocations.h"  // IWYU pragma: export
#else
#error "Strata has no simt/target/*_relocations.h for this processor"
#endif
