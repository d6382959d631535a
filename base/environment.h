// SPDX-License-Identifier: Apache-2.0
// The only way in which Strata reads the environment. In a program that runs with more rights than its caller has
// (set-uid, set-gid, file capabilities) the caller's variables mean nothing: there all names are unset.
#pragma once

#include <cstdlib>

namespace strata {

inline const char *environment(const char *name) { return secure_getenv(name); }

}  // namespace strata
