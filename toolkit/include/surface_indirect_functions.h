/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#pragma GCC system_header
#include "texture_indirect_functions.h"
