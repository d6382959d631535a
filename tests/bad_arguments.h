// SPDX-License-Identifier: Apache-2.0
// Calls of API entries with arguments that are wrong, made from the entries' types: handles that are none, next to
// absurd sizes, numbers and empty structs.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>

namespace strata::test {

enum class Bad { address, number, otherType, destroyed };
constexpr Bad kBad[] = {Bad::address, Bad::number, Bad::otherType, Bad::destroyed};

// Opaque handles are pointers to structs without a definition.
template <class T, class = void>
struct HasSize : std::false_type {};
template <class T>
struct HasSize<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};
template <class T>
constexpr bool isHandle() {
  if constexpr (std::is_pointer_v<T>) {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_class_v<Pointee>) return !HasSize<Pointee>::value;
  }
  return false;
}

// What stands for 0 of a type whose 0 makes a call do, unchecked, what its other arguments say.
template <class T>
inline constexpr T kZero{};

// Calls entries with arguments of one bad kind. `Objects` has bad<Handle>(kind) and a scratch buffer.
template <class Objects>
class Caller {
public:
  Caller(Objects &objects, std::mt19937_64 &random, Bad bad) : objects_(objects), random_(random), bad_(bad) {}

  template <class T>
  T argument() {
    if constexpr (isHandle<T>()) {
      ++handles;
      return objects_.template bad<T>(bad_);
    } else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
      return nullptr;
    } else if constexpr (std::is_pointer_v<T>) {
      if (random_() % 4 == 0) return nullptr;
      return reinterpret_cast<T>(const_cast<unsigned char *>(objects_.scratch.data() + 4096));
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      // Too large for a pitch; as an address (CUdeviceptr) it would be one of AddressSanitizer's own.
      constexpr std::uint64_t kLarge = 1ull << (std::is_same_v<T, unsigned long long> ? 30 : 31);
      constexpr std::uint64_t kNumbers[] = {0, 1, 8, 1ull << 50, ~0ull, kLarge};
      const T number = static_cast<T>(kNumbers[random_() % std::size(kNumbers)]);
      return number == T{} ? kZero<T> : number;
    } else {
      return T{};
    }
  }

  template <class Result, class... Args>
  Result operator()(Result (*entry)(Args...)) {
    objects_.scratch.fill(0);
    std::tuple<Args...> arguments{argument<Args>()...};
    return std::apply(entry, arguments);
  }

  int handles = 0;

private:
  Objects &objects_;
  std::mt19937_64 &random_;
  const Bad bad_;
};

inline std::string kindName(const ::testing::TestParamInfo<Bad> &info) {
  constexpr const char *kNames[] = {"address", "number", "otherType", "destroyed"};
  return kNames[static_cast<int>(info.param)];
}

// Names the entry in which the process ends or hangs.
inline const char *volatile inEntry = "";
inline void reportEntry(int signal) {
  const char *parts[] = {"signal ", signal == SIGALRM ? "ALRM" : "SEGV or such", " in ", inEntry, "\n"};
  for (const char *part : parts) [[maybe_unused]]
    auto written = write(2, part, std::strlen(part));
  ::signal(signal, SIG_DFL);
  raise(signal);
}

class BadArgumentsTest : public ::testing::TestWithParam<Bad> {
protected:
  void SetUp() override {
    struct sigaction action{};
    action.sa_handler = reportEntry;
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  void TearDown() override {
    alarm(0);
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGALRM};
  struct sigaction before_[std::size(kSignals)];
};

}  // namespace strata::test
