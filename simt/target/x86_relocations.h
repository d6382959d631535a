// SPDX-License-Identifier: Apache-2.0
// simt/target/relocations.h of x86-64.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "simt/target/relocations.h"

namespace strata::simt::machine {

inline constexpr std::uint16_t kElfMachine = EM_X86_64;
inline constexpr int kTrap = 0xCC;  // int3
inline constexpr std::uint64_t kStubBytes = 16;

inline bool isUnwindSection(std::uint32_t type) { return type == SHT_X86_64_UNWIND; }

inline std::optional<Relocation> relocationOf(std::uint32_t type) {
  switch (type) {
    case R_X86_64_64: return Relocation{.width = 8};
    case R_X86_64_32: return Relocation{.isSigned = false};
    case R_X86_64_32S: return Relocation{};
    case R_X86_64_PC64: return Relocation{.relative = true, .width = 8};
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return Relocation{.relative = true};
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return Relocation{.relative = true, .slot = true};
    default: return std::nullopt;
  }
}

// jmp *distance(%rip), which counts from the instruction's end
inline void writeStub(std::uint8_t *at, std::int64_t distance) {
  const auto fromEnd = static_cast<std::int32_t>(distance - 6);
  at[0] = 0xFF, at[1] = 0x25;
  std::memcpy(at + 2, &fromEnd, sizeof fromEnd);
}

}  // namespace strata::simt::machine
