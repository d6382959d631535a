// SPDX-License-Identifier: Apache-2.0
// Recognises loads of a launch's constants through %warp (simt/abi.h) in lane IR.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class LoadInst;
}

namespace strata::simt {

// If `load` reads LaunchState through its function's %warp argument: the byte offset in LaunchState.
std::optional<std::uint64_t> launchField(const llvm::LoadInst &load);

}  // namespace strata::simt
