// SPDX-License-Identifier: Apache-2.0
// Machine code of the pipeline, loaded with LLVM's own JIT linker: tests only.
#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <memory>
#include <string>
#include <vector>

namespace strata::simt::test {

class LoadedObject {
public:
  explicit LoadedObject(const std::vector<std::uint8_t> &object)
      : jit_(llvm::cantFail(llvm::orc::LLJITBuilder().create())) {
    const llvm::StringRef bytes(reinterpret_cast<const char *>(object.data()), object.size());
    llvm::cantFail(jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes, "object")));
  }
  template <class Fn>
  Fn *find(const std::string &name) {
    return llvm::cantFail(jit_->lookup(name)).toPtr<Fn *>();
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

}  // namespace strata::simt::test
