// SPDX-License-Identifier: Apache-2.0
// The name before NVTX 3.
#pragma once
#include "nvtx3/nvToolsExt.h"
