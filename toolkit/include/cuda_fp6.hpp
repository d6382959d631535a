/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is in cuda_fp6.h. */
#pragma once
#pragma GCC system_header
#include "cuda_fp6.h"
