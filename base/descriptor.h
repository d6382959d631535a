// SPDX-License-Identifier: Apache-2.0
// An open file descriptor, closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace strata {

class Descriptor {
public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

private:
  int number_;
};

}  // namespace strata
