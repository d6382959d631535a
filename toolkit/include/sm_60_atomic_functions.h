/* SPDX-License-Identifier: Apache-2.0 */
/* An older name: everything is in cuda_runtime.h. */
#include "cuda_runtime.h"
