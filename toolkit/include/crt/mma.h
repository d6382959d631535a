/* SPDX-License-Identifier: Apache-2.0 */
/* An older name: everything is in mma.h. */
#include "../mma.h"
