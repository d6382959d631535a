// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "texture_indirect_functions.h"
