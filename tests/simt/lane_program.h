// SPDX-License-Identifier: Apache-2.0
// Compiles a kernel of a PTX text in lane mode and runs it, lane after lane, with a Runtime that records
// calls. Collectives and barriers do not meet: laneCollective answers from a function that the test gives.
#pragma once

#include <csetjmp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simt/jit/module_info.h"
#include "simt/pipeline.h"
#include "tests/simt/jit_loader.h"

namespace strata::simt::test {

struct RecordedCall {
  std::string what;
  std::vector<std::uint64_t> args;
  bool operator==(const RecordedCall &) const = default;
};

class LaneProgram {
public:
  // Parses and compiles; check error() first.
  LaneProgram(const std::string &text, const std::string &kernel, CompileOptions options = {});

  const std::string &error() const { return error_; }
  const ModuleInfo &info() const { return info_; }
  const KernelInfo &kernel() const;
  const KernelImage &image() const { return image_; }
  std::vector<std::uint8_t> &globals() { return globals_; }

  struct Shape {
    std::uint32_t grid = 1, block[3] = {1, 1, 1};
    std::uint32_t dynamicShared = 0;
  };
  // Runs all lanes of all blocks one by one; shared memory is poisoned before each block.
  void run(const Shape &shape, const std::vector<std::uint64_t> &params);

  // What the kernel asked of the executor.
  std::vector<RecordedCall> calls;
  FaultKind fault = FaultKind::none;  // of the first lane that faulted; its launch stops
  std::uint64_t faultAddress = 0;
  std::function<std::uint64_t(std::uint32_t kind, std::uint32_t mask, std::uint64_t value, std::uint32_t b,
                              std::uint32_t c, std::uint32_t *predicate)>
      collective;

private:
  std::string error_, kernelName_;
  ModuleInfo info_;
  KernelImage image_;
  std::unique_ptr<LoadedObject> object_;
  std::vector<std::uint8_t> globals_;
};

}  // namespace strata::simt::test
