// SPDX-License-Identifier: Apache-2.0
// What the passes over one kernel did, row by row of the pipeline's table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace strata::simt {

// What the IR is when a pass runs: scalar code of one lane (lane_ir.md); code of a warp; what the machine has.
enum class Level { lane, warp, machine };
const char *nameOf(Level level);

struct PassTrace {
  struct Row {
    const char *name;
    Level level;
    double milliseconds;                // of this thread's processor time: other kernels may be compiled beside it
    std::size_t before = 0, after = 0;  // instructions
    bool leftOut = false;
  };
  bool counts = false;  // asked for: instructions
  std::string after;    // asked for: the IR after each row of this name
  std::vector<Row> rows;
  std::string text;  // that IR
};

}  // namespace strata::simt
