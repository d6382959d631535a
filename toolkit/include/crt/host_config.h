/* SPDX-License-Identifier: Apache-2.0 */
/* An older name: everything is in host_config.h. */
#include "../host_config.h"
