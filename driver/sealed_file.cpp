// SPDX-License-Identifier: Apache-2.0
#include "driver/sealed_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

namespace strata::driver {
namespace {

constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

int makeSealedFile(const std::string &name, std::uint64_t bytes) {
  const int file = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0 && fcntl(file, F_ADD_SEALS, kSeals) == 0) return file;
  close(file);
  return -1;
}

bool isSealedFile(int file, std::uint64_t bytes) {
  struct stat info{};
  const int seals = fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & kSeals) == kSeals && fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
         static_cast<std::uint64_t>(info.st_size) == bytes;
}

std::string nameOfSealedFile(int file) {
  constexpr std::string_view before = "/memfd:", after = " (deleted)";
  char text[512];
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), text, sizeof text);
  if (size <= 0) return "";
  std::string_view link(text, static_cast<std::size_t>(size));
  if (!link.starts_with(before) || !link.ends_with(after)) return "";
  link.remove_prefix(before.size());
  link.remove_suffix(after.size());
  return std::string(link);
}

}  // namespace strata::driver
