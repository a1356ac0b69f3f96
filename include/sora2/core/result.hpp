/// A value or the status that explains its absence.
/// Smallest use: `auto const n = encode(...); if (!n) return n.error(); use(*n);`.
/// Limits: T is default constructible. `value()` throws on the host; everything else is two-sided.
#pragma once

#include <exception>
#include <utility>

#include <sora2/core/macros.hpp>
#include <sora2/core/status.hpp>

namespace sora2 {

/// Thrown by constructors of owners and by `result::value`; host only.
class error : public std::exception {
 public:
  explicit error(status code) noexcept : code_(code) {}
  [[nodiscard]] status code() const noexcept { return code_; }
  [[nodiscard]] char const* what() const noexcept override { return status_name(code_); }

 private:
  status code_;
};

template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;

  SORA2_HD constexpr result(T value) : value_(std::move(value)) {}
  /// Source of failure; `code` is not `status::ok`.
  SORA2_HD constexpr result(status code) : code_(code) { SORA2_EXPECTS(code != status::ok); }

  SORA2_HD constexpr explicit operator bool() const { return code_ == status::ok; }
  [[nodiscard]] SORA2_HD constexpr bool has_value() const { return code_ == status::ok; }
  SORA2_HD constexpr status error() const { return code_; }

  [[nodiscard]] SORA2_HD constexpr T& operator*() &
  {
    SORA2_EXPECTS(has_value());
    return value_;
  }
  [[nodiscard]] SORA2_HD constexpr T const& operator*() const&
  {
    SORA2_EXPECTS(has_value());
    return value_;
  }
  [[nodiscard]] SORA2_HD constexpr T&& operator*() &&
  {
    SORA2_EXPECTS(has_value());
    return std::move(value_);
  }
  [[nodiscard]] SORA2_HD constexpr T* operator->()
  {
    SORA2_EXPECTS(has_value());
    return &value_;
  }
  [[nodiscard]] SORA2_HD constexpr T const* operator->() const
  {
    SORA2_EXPECTS(has_value());
    return &value_;
  }
  [[nodiscard]] SORA2_HD constexpr T value_or(T other) const
  {
    return has_value() ? value_ : std::move(other);
  }

#if defined(__cpp_exceptions)
  /// Host: the value, or `sora2::error` thrown.
  [[nodiscard]] constexpr T const& value() const
  {
    if (!has_value()) throw sora2::error{code_};
    return value_;
  }
#endif

 private:
  T value_{};
  status code_ = status::ok;
};

}  // namespace sora2
