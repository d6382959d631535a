// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/fatbin.h"
#include "toolkit/include/cuda.h"
#include "toolkit/include/driver_types.h"

namespace strata::runtime {

// Loads the image of a registered fat binary that suits the device into the current context. Which image:
// relocatable PTX is linked, one entry of each name; else, if all entries are PTX, the best one; a container
// that also has native images is the driver's to choose from. Errors: cudaErrorInvalidKernelImage (damaged),
// cudaErrorNoKernelImageForDevice, and the driver's.
cudaError_t loadImage(const fatbin::Wrapper *wrapper, CUdevice device, CUmodule &module);

}  // namespace strata::runtime
