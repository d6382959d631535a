// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "ptx/isa/families.h"

namespace strata::ptx {

std::span<const Form *const> allForms() {
  static const std::vector<const Form *> forms = [] {
    std::vector<const Form *> all;
#define X(family) \
  for (const Form &form : family##Forms()) all.push_back(&form);
    PTX_FAMILIES(X)
#undef X
    return all;
  }();
  return forms;
}

}  // namespace strata::ptx
