/* SPDX-License-Identifier: Apache-2.0 */
/* An older name: everything is in host_defines.h. */
#include "../host_defines.h"
