// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that says whose fault it is. No exception crosses a layer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace strata {

// Who has to act on an error: the caller (bad input), who set the environment (a STRATA_ variable asks for what cannot
// be), nobody yet (a form Strata does not support), us (a bug in Strata), or the machine (memory, disk, threads).
enum class Blame { user, environment, unsupported, internal, resource };

struct Error {
  Blame blame = Blame::user;
  std::string message;  // one sentence that says what and where; no trailing newline
};

inline Error userError(std::string message) { return {Blame::user, std::move(message)}; }
inline Error environmentError(std::string message) { return {Blame::environment, std::move(message)}; }
inline Error unsupported(std::string message) { return {Blame::unsupported, std::move(message)}; }
inline Error internalError(std::string message) { return {Blame::internal, std::move(message)}; }
inline Error resourceError(std::string message) { return {Blame::resource, std::move(message)}; }

template <class T>
class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T &operator*() & { return std::get<0>(state_); }
  const T &operator*() const & { return std::get<0>(state_); }
  T &&operator*() && { return std::get<0>(std::move(state_)); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  const Error &error() const { return std::get<1>(state_); }

private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  const Error &error() const { return *error_; }

private:
  std::optional<Error> error_;
};

}  // namespace strata
