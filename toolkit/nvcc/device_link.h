// SPDX-License-Identifier: Apache-2.0
// Separate compilation. An object with relocatable device code holds a fat binary in its section __nv_relfatbin
// and calls, when it is loaded, __cudaRegisterLinkedBinary_<id>(register, wrapper, id, callback), which it leaves
// undefined. The device link gathers these fat binaries into one, whose entries are marked relocatable and named
// after the object they come from, and writes a source file that embeds it and defines the open functions. The
// driver links the entries (the best architecture of each name) when the program registers the whole.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "toolkit/nvcc/native_code.h"

namespace strata::nvcc {

struct DeviceLinkInput {
  std::vector<std::string> files;         // objects, archives, shared libraries (ignored), in order
  std::vector<std::string> libraries;     // -l names
  std::vector<std::string> libraryPaths;  // -L folders
};

// True if some object among the inputs has device code that is not linked yet.
Result<bool> needsDeviceLink(const DeviceLinkInput &input);

// Writes the fat binary, with machine code for the CPUs that are wanted, and the registration source (C) that embeds
// it. Errors (user): unreadable or damaged object or archive, damaged fat binary, device code that does not link.
Result<void> deviceLink(const DeviceLinkInput &input, const std::string &fatbinFile, const std::string &sourceFile,
                        bool compress, const NativeCode &nativeCode);

}  // namespace strata::nvcc
