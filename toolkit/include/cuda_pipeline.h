/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#pragma GCC system_header
#include "cuda_pipeline_primitives.h"
