// SPDX-License-Identifier: Apache-2.0
// Device memory that other processes may map is a sealed memfd: its size stays as it is, so that no one can take pages
// away from those who have mapped it (which would be SIGBUS), and nothing else than such a file is mapped for a peer.
#pragma once

#include <cstdint>
#include <string>

namespace strata::driver {

// A new file of that size, sealed; -1 if there is no memory or descriptor for it. The name is what /proc shows.
int makeSealedFile(const std::string &name, std::uint64_t bytes);

// True for a memfd of exactly that size which was sealed so.
bool isSealedFile(int file, std::uint64_t bytes);

// The name that the file was made with; empty if it is no memfd.
std::string nameOfSealedFile(int file);

}  // namespace strata::driver
