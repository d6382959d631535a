// SPDX-License-Identifier: Apache-2.0

#include "driver/cpu.h"
#include "driver/device.h"

namespace strata::driver {

static_assert(CU_DEVICE_ATTRIBUTE_MAX == CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED + 1,
              "attributes.def has a row for each attribute of cuda.h");

bool deviceAttribute(const Device &device, int attribute, int &value) {
  switch (attribute) {
#define ATTRIBUTE(name, expression) \
  case CU_DEVICE_ATTRIBUTE_##name: value = static_cast<int>(expression); return true;
#include "driver/attributes.def"
#undef ATTRIBUTE
  }
  return false;
}

}  // namespace strata::driver
