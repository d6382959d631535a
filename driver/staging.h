// SPDX-License-Identifier: Apache-2.0
// What a copy does before its call returns.
//
// Pageable memory is the program's own: once the call has returned it may hold something else, or be gone. So within
// the call its bytes are taken, or written. A small copy from pageable memory into a busy stream is staged; a large one
// waits for its turn, as every copy into pageable memory does. What a GPU's driver does, call by call, is recorded in
// tests/programs/copies_h200.txt.
#pragma once

#include "driver/work.h"

namespace strata::driver {

// Puts the copy at the stream's end (in a capture: into the graph), and does now what cannot be done later. Returns the
// context's error if it had to wait.
CUresult issueCopy(Stream &stream, const Copy &copy);
// Does the copy at its turn, and returns when it is done.
CUresult finishCopy(Stream &stream, const Copy &copy);

}  // namespace strata::driver
