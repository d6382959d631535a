// SPDX-License-Identifier: Apache-2.0
// libFuzzer: what the machine-code cache gives back is read as a module, as a kernel and as a native image, and a
// kernel's object is loaded (not run). The checksums around them are left out: they find damage, not malice.
#include <cstdlib>

#include "simt/exec/image.h"
#include "simt/exec/native_image.h"
#include "simt/exec/serialize.h"

using namespace strata;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (auto info = simt::deserializeModule({data, size}); info && simt::serialize(*info).empty()) std::abort();
  if (auto kernel = simt::deserializeKernel({data, size})) {
    auto image = simt::CodeImage::load(kernel->object);
    if (!image && image.error().message.empty()) std::abort();
  }
  auto object = simt::CodeImage::load({data, data + size});
  if (!object && object.error().message.empty()) std::abort();
  auto native = simt::NativeImage::read({data, data + size});
  if (!native && native.error().message.empty()) std::abort();
  return 0;
}
