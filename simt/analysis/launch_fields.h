// SPDX-License-Identifier: Apache-2.0
// Recognises loads of a launch's constants through %warp (simt/abi.h) in lane IR.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace llvm {
class LoadInst;
class Value;
}  // namespace llvm

namespace strata::simt {

// What `load` reads: the pointer from which its address is a fixed way off, and how far that is in bytes.
std::pair<const llvm::Value *, std::uint64_t> splitAddress(const llvm::LoadInst &load);

// If `load` reads LaunchState through its function's %warp argument: the byte offset in LaunchState.
std::optional<std::uint64_t> launchField(const llvm::LoadInst &load);

// Whether `address` surely lies in the block's own shared memory: it was made from the block's base of it.
bool isSharedAddress(const llvm::Value &address);

}  // namespace strata::simt
