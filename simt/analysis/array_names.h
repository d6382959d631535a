// SPDX-License-Identifier: Apache-2.0
// What the source calls the memory that lane IR accesses. simt/lower writes down in the module which parameter or
// variable lies where; later an address is followed back to the place that it was made from.
#pragma once

#include <cstdint>
#include <string>

namespace llvm {
class Module;
class Value;
}  // namespace llvm

namespace strata::simt {

// Where offsets count from: the parameter buffer, the block's shared memory, the module's globals.
enum class ArraySpace { parameters, shared, globals };

// `size` 0: to the end, as dynamic shared memory.
void nameArray(llvm::Module &module, ArraySpace space, std::uint64_t offset, std::uint64_t size,
               const std::string &name);

// The name that was given to the memory that `address` leads to: of a pointer parameter, that parameter's. Empty if it
// is not known, or not the same on all ways.
std::string arrayName(const llvm::Value &address);

}  // namespace strata::simt
