/// What an entry promises its readers: how long it is fresh, which versions of its sources it holds, when it was true.
/// Smallest use: `entry_contract<> c; c.written_ns = now; c.ttl_ns = 5'000'000'000; if (c.is_fresh(later)) ...`.
/// Limits: times are nanoseconds since the epoch, intervals half-open.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sora2/core/bits.hpp>
#include <sora2/core/interval.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/version_vector.hpp>

namespace sora2 {

inline constexpr std::int64_t forever_ns = INT64_MAX;

/// True while less than `ttl_ns` have passed since `written_ns`. Before `written_ns`, on a clock that went back, no time has.
[[nodiscard]] SORA2_HD constexpr bool is_fresh(std::int64_t now_ns, std::int64_t written_ns,
                                               std::int64_t ttl_ns)
{
  if (now_ns < written_ns) return ttl_ns > 0;
  // The difference of any two times fits in 64 bits without a sign.
  std::uint64_t const age =
      static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(written_ns);
  return ttl_ns > 0 && age < static_cast<std::uint64_t>(ttl_ns);
}

/// How long an entry may be served when its reader must never see data older than `sla_ns`: what the agreement leaves after
/// the age that the data had when it came and the time that a refresh is expected to take. 0 when it leaves nothing.
[[nodiscard]] SORA2_HD constexpr std::int64_t
ttl_of_sla(std::int64_t sla_ns, std::int64_t age_at_ingest_ns, std::int64_t refresh_ns)
{
  std::int64_t const age = greatest(age_at_ingest_ns, std::int64_t{0}),
                     refresh = greatest(refresh_ns, std::int64_t{0});
  if (sla_ns <= age) return 0;
  return greatest(sla_ns - age - refresh, std::int64_t{0});
}

/// How long refreshes of a source take, learnt from those that were seen: a mean that forgets, 1/8 a step, in integers.
class refresh_estimate {
 public:
  SORA2_HD constexpr explicit refresh_estimate(std::int64_t first_guess_ns = 0)
      : mean_(greatest(first_guess_ns, std::int64_t{0}))
  {}
  SORA2_HD constexpr void saw(std::int64_t took_ns)
  {
    std::int64_t const took = greatest(took_ns, std::int64_t{0});
    mean_ = seen_ ? mean_ + (took - mean_) / 8 : took;
    seen_ = true;
  }
  [[nodiscard]] SORA2_HD constexpr std::int64_t expected_ns() const { return mean_; }

 private:
  std::int64_t mean_;
  bool seen_ = false;
};

template <std::size_t Sources = 4>
struct entry_contract {
  std::int64_t written_ns = 0;
  std::int64_t ttl_ns = forever_ns;
  interval valid{INT64_MIN, INT64_MAX};
  version_vector<Sources> versions{};

  [[nodiscard]] SORA2_HD constexpr bool is_fresh(std::int64_t now_ns) const
  {
    return sora2::is_fresh(now_ns, written_ns, ttl_ns);
  }
  [[nodiscard]] SORA2_HD constexpr bool held_at(std::int64_t t_ns) const
  {
    return valid.contains(t_ns);
  }
};

}  // namespace sora2
