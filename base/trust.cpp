// SPDX-License-Identifier: Apache-2.0
#include "base/trust.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

namespace strata {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel

// As distributions make them: a group with its user's name and no other members. Where the umask is 002, all of a
// user's folders can be written by it.
bool isPrivateGroup(gid_t group, uid_t owner) {
  std::vector<char> userText(16384), groupText(16384);
  passwd user{}, *foundUser = nullptr;
  struct group entry{}, *found = nullptr;
  if (getpwuid_r(owner, &user, userText.data(), userText.size(), &foundUser) != 0 || !foundUser) return false;
  if (getgrgid_r(group, &entry, groupText.data(), groupText.size(), &found) != 0 || !found) return false;
  if (user.pw_gid != group || std::strcmp(user.pw_name, entry.gr_name) != 0) return false;
  for (char **member = entry.gr_mem; *member; ++member)
    if (std::strcmp(*member, user.pw_name) != 0) return false;
  return true;
}

Error cannot(const std::string &path, int why) { return environmentError(path + ": " + std::strerror(why)); }

using Visit = std::function<Result<void>(const std::string &path, const struct stat &status)>;

// Goes from "/" to a path, component by component, so that nothing is looked at twice.
class Walk {
public:
  Walk(Trust::Missing missing, Visit visit) : missing_(missing), visit_(std::move(visit)) {}

  Result<Descriptor> to(const std::string &path) {
    std::error_code ignored;
    push(std::filesystem::absolute(path, ignored).string());
    if (Result<void> begun = begin(); !begun) return begun.error();
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.back());
      rest_.pop_back();
      if (name.empty() || name == ".") continue;
      if (Result<void> stepped = step(name); !stepped) return stepped.error();
    }
    return std::move(at_);
  }

private:
  // The next component stands last.
  void push(const std::string &path) {
    for (std::size_t end = path.size();;) {
      const std::size_t slash = end ? path.rfind('/', end - 1) : path.npos;
      rest_.push_back(path.substr(slash + 1, end - slash - 1));
      if (slash == path.npos) return;
      end = slash;
    }
  }

  Result<void> begin() {
    at_ = Descriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    path_.clear();
    struct stat status{};
    if (fstat(at_.number(), &status) != 0) return cannot("/", errno);
    return visit_("/", status);
  }

  Result<void> step(const std::string &name) {
    const std::string path = path_ + "/" + name;
    Descriptor next = entry(name);
    struct stat status{};
    if (!next || fstat(next.number(), &status) != 0) return cannot(path, errno);
    if (Result<void> visited = visit_(path, status); !visited) return visited;
    if (S_ISLNK(status.st_mode)) return follow(next, path);
    at_ = std::move(next);
    path_ = path;
    return {};
  }

  Descriptor entry(const std::string &name) {
    constexpr int kFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    Descriptor found(openat(at_.number(), name.c_str(), kFlags));
    if (found || errno != ENOENT || missing_ == Trust::Missing::refuse) return found;
    if (mkdirat(at_.number(), name.c_str(), 0700) == 0) fchmodat(at_.number(), name.c_str(), 0700, 0);  // any umask
    else if (errno != EEXIST) return Descriptor();
    return Descriptor(openat(at_.number(), name.c_str(), kFlags));
  }

  Result<void> follow(const Descriptor &link, const std::string &path) {
    char target[PATH_MAX];
    const ssize_t size = ++links_ > kMaxLinks ? -1 : readlinkat(link.number(), "", target, sizeof target);
    if (size < 0) return cannot(path, links_ > kMaxLinks ? ELOOP : errno);
    const std::string text(target, static_cast<std::size_t>(size));
    push(text);
    return text.starts_with("/") ? begin() : Result<void>();
  }

  const Trust::Missing missing_;
  const Visit visit_;
  std::vector<std::string> rest_;
  Descriptor at_;
  std::string path_;  // of at_
  int links_ = 0;
};

bool isSticky(const struct stat &status) { return S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX); }

}  // namespace

std::string writableByOthers(const std::string &path, const struct stat &status) {
  const bool group = (status.st_mode & S_IWGRP) && status.st_uid != 0 && !isPrivateGroup(status.st_gid, status.st_uid);
  return group || (status.st_mode & S_IWOTH) ? path + " can be written by others" : "";
}

Trust::Trust() : owners_{0, geteuid()} {
  struct stat status{};
  if (stat("/", &status) == 0) owners_.insert(status.st_uid);
}

void Trust::include(const struct stat &status) {
  owners_.insert(status.st_uid);
  if (S_ISLNK(status.st_mode) || isSticky(status)) return;
  if (status.st_mode & S_IWGRP) groups_.insert(status.st_gid);
  everyone_ |= (status.st_mode & S_IWOTH) != 0;
}

void Trust::includeReplacersOf(const std::string &path) {
  // A path that ends early has no file to replace.
  (void)Walk(Missing::refuse, [&](const std::string &, const struct stat &status) {
    include(status);
    return Result<void>();
  }).to(path);
}

std::string Trust::objection(const std::string &path, const struct stat &status) const {
  if (everyone_) return {};
  if (!owners_.contains(status.st_uid)) return path + " belongs to user " + std::to_string(status.st_uid);
  if (S_ISLNK(status.st_mode) || isSticky(status)) return {};
  if (!(status.st_mode & S_IWOTH) && groups_.contains(status.st_gid)) return {};
  return writableByOthers(path, status);
}

Result<Descriptor> Trust::open(const std::string &path, Missing missing) const {
  return Walk(missing,
              [&](const std::string &part, const struct stat &status) -> Result<void> {
                if (std::string why = objection(part, status); !why.empty()) return environmentError(why);
                return {};
              })
      .to(path);
}

Result<Descriptor> Trust::openOwnFolder(const std::string &path) {
  const Result<Descriptor> found = Trust().open(path, Missing::make);
  if (!found) return found.error();
  struct stat status{};
  if (fstat(found->number(), &status) != 0) return cannot(path, errno);
  if (!S_ISDIR(status.st_mode)) return environmentError(path + " is not a folder");
  if (status.st_uid != geteuid()) return environmentError(path + " belongs to user " + std::to_string(status.st_uid));
  if (std::string why = writableByOthers(path, status); !why.empty()) return environmentError(std::move(why));
  Descriptor folder(openat(found->number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return cannot(path, errno);
  return folder;
}

}  // namespace strata
