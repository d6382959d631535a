// SPDX-License-Identifier: Apache-2.0
#include "base/knobs.h"

#include <cstdio>

#include "base/environment.h"
#include "base/printable.h"
#include "tools/tools.h"

namespace strata::tools {

int knobs() {
  int count = 0;
  const strata::knobs::Row *rows = strata::knobs::rows(count);
  for (int i = 0; i < count; ++i) {
    const char *set = environment(rows[i].name);
    std::printf("%s  (%s, default %s)%s%s\n    %s\n", rows[i].name, rows[i].type,
                rows[i].fallback.empty() ? "empty" : rows[i].fallback.c_str(), set ? ", now " : "",
                printable(set ? set : "").c_str(), rows[i].sentence);
  }
  return 0;
}

}  // namespace strata::tools
