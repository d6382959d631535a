/* SPDX-License-Identifier: Apache-2.0 */
/* The host compiler is clang 19: nothing to configure. */
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__
#pragma GCC system_header

#define CUDARTAPI
#define CUDARTAPI_CDECL

#endif
