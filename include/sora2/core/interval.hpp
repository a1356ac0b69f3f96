/// Half-open validity interval [start_ns, end_ns) in nanoseconds since the epoch.
/// Smallest use: `interval{0, 10}.contains(t)`. Two adjacent intervals never both contain a time.
#pragma once

#include <cstdint>

#include <sora2/core/macros.hpp>

namespace sora2 {

struct interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  /// Empty also when reversed.
  [[nodiscard]] SORA2_HD constexpr bool empty() const { return end_ns <= start_ns; }
  [[nodiscard]] SORA2_HD constexpr bool contains(std::int64_t t_ns) const
  {
    return start_ns <= t_ns && t_ns < end_ns;
  }
  [[nodiscard]] SORA2_HD constexpr bool overlaps(interval other) const
  {
    return !empty() && !other.empty() && start_ns < other.end_ns && other.start_ns < end_ns;
  }
  [[nodiscard]] SORA2_HD friend constexpr bool operator==(interval, interval) = default;
};

}  // namespace sora2
