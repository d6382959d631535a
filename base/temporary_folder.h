// SPDX-License-Identifier: Apache-2.0
// Folders for intermediate files: a fresh one each, which nobody else can enter, in $TMPDIR or /tmp.
#pragma once

#include <string>

#include "base/result.h"

namespace strata {

class TemporaryFolder {
public:
  // A folder PURPOSE-XXXXXX. Where others could move it away (TMPDIR is in foreign hands), /tmp is used, and said so.
  // Errors (resource): none can be made.
  static Result<TemporaryFolder> make(const std::string &purpose);
  TemporaryFolder(TemporaryFolder &&other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  const std::string &path() const { return path_; }

  // Where make() would make one now, for a plan that is only shown.
  static std::string wouldBe(const std::string &purpose);

  // Removes all that there are, for a process that a signal ends. No more are made then.
  static void removeAll();

private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace strata
