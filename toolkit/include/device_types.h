/* SPDX-License-Identifier: Apache-2.0 */
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__
#pragma GCC system_header

#include "host_defines.h"

/* IEEE 754 rounding directions, for conversion functions that take one. */
enum cudaRoundMode {
  cudaRoundNearest,
  cudaRoundZero,
  cudaRoundPosInf,
  cudaRoundMinInf,
};

#endif
