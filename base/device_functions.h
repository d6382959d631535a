// SPDX-License-Identifier: Apache-2.0
// Functions that device code may call without defining them: every device provides them. The compiler leaves them open,
// the linker too; simt/lower knows their signatures, simt/exec/device_libc.cpp runs them.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace strata {

inline constexpr std::string_view kDeviceFunctions[] = {"vprintf", "malloc", "free", "__assertfail"};

inline bool isDeviceFunction(std::string_view name) {
  return std::find(std::begin(kDeviceFunctions), std::end(kDeviceFunctions), name) != std::end(kDeviceFunctions);
}

}  // namespace strata
