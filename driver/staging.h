// SPDX-License-Identifier: Apache-2.0
// What a copy does before its call returns.
//
// Pageable memory is the program's own: once the call has returned it may hold something else, or be gone. So within
// the call its bytes are taken, or written. A copy from pageable memory into a busy stream is staged if it is not too
// large; else it waits for its turn, as every copy into pageable memory does. The rules are a GPU's driver's, recorded
// call by call in tests/programs/copies_h200.txt.
#pragma once

#include "driver/work.h"

namespace strata::driver {

enum class CopyCall : std::uint8_t {
  synchronous,
  asynchronous,
  batch,           // cuMemcpyBatchAsync: its host memory is read and written at the copy's turn
  batchDuringCall  // the source must be read within the call
};

enum class Within {  // the call
  nothing,
  take,   // the source's bytes
  finish  // the whole copy
};
Within within(const Copy &copy, CopyCall call);

// A copy that has taken the bytes of its source; null if they are too many to be kept.
OperationPtr stage(const Copy &copy);

bool isIdle(const Stream &stream);  // work submitted now would run at once

// Puts the copy at the stream's end, and does now what cannot be done later. Returns the context's error if it waited.
// The stream does not capture.
CUresult issueCopy(Stream &stream, const Copy &copy, CopyCall call);

}  // namespace strata::driver
