/* SPDX-License-Identifier: Apache-2.0 */
/* Every type that is visible without asking for a particular part of the API. */
#ifndef __BUILTIN_TYPES_H__
#define __BUILTIN_TYPES_H__
#pragma GCC system_header

#include "device_types.h"
#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif
