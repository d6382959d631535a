// SPDX-License-Identifier: Apache-2.0
// The device code in object files, libraries and programs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "simt/simt.h"
#include "toolkit/nvcc/objects.h"

namespace strata::tools {

inline constexpr const char *kFatbins = ".nv_fatbin", *kRelocatableFatbins = "__nv_relfatbin";  // sections

// Adds the PTX of each fat binary in a section that the CPU device would run: of kFatbins as a program loads it, to be
// linked if need be; of kRelocatableFatbins, which wait for their link, part by part.
Result<void> addModules(const nvcc::Object &object, const std::string &section,
                        std::vector<simt::ModuleSource> &modules);

std::string readText(const std::string &path);

}  // namespace strata::tools
