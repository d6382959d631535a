// SPDX-License-Identifier: Apache-2.0
// Who else may change what a path leads to. Strata executes what lies in some files (drivers, machine code) and keeps
// others in folders that users share, so every folder and link on the way has to be in trusted hands: it belongs to
// somebody who is trusted, and nobody else may write it. In a folder with the sticky bit, as /tmp, others may add
// entries but not replace those of their owners, which are looked at one by one.
#pragma once

#include <sys/stat.h>

#include <set>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace strata {

class Trust {
public:
  // Root, the user that this process acts for, and the owner of "/", which is root's name where a namespace hides root.
  Trust();

  // Also whoever could replace the file at `path`: what runs from it is in their hands already.
  void includeReplacersOf(const std::string &path);

  enum class Missing { refuse, make };
  // Walks to `path`, following links. Folders that are missing are made, for their owner only. The descriptor names
  // what was found (O_PATH), whatever becomes of the path later. Errors (environment): what is missing, or in whose
  // hands.
  Result<Descriptor> open(const std::string &path, Missing missing = Missing::refuse) const;

  // A folder of this process's user that nobody else can write or exchange, open for reading; made if it is missing.
  // Errors (environment): as above, or what is there is something else.
  static Result<Descriptor> openOwnFolder(const std::string &path);

private:
  std::string objection(const std::string &path, const struct stat &status) const;
  void include(const struct stat &status);

  std::set<uid_t> owners_;
  std::set<gid_t> groups_;
  bool everyone_ = false;
};

// "path can be written by others", or empty: a group of which its owner is the only member is no other; root's folders
// are open to groups that root has chosen.
std::string writableByOthers(const std::string &path, const struct stat &status);

}  // namespace strata
