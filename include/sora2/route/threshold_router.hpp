/// The protocol's rule, in this order: a reader that waits less than 5 ns gets L1; one that streams more than 800 GB/s
/// gets L2; symbols under 3.1 bits go to L3; the rest goes to L4.
/// Smallest use: `level const to = threshold_router<>::route(demand{.latency_ns = 40, .entropy_bits = 2.6});`.
/// Limits: pure arithmetic, constexpr, callable anywhere. A number that is NaN or negative is unknown and never fires its
/// rule; +infinity is a number (an infinite bandwidth fires L2, an infinite latency or entropy fires nothing).
#pragma once

#include <cstdint>

#include <sora2/core/ids.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/route/demand.hpp>

namespace sora2 {

struct threshold_config {
  double latency_ns = 5;        ///< below: L1
  double bandwidth_gb_s = 800;  ///< above: L2
  double entropy_bits = 3.1;    ///< below: L3
};

/// Which of the rules decided.
enum class route_reason : std::uint8_t { latency_below, bandwidth_above, entropy_below, otherwise };

[[nodiscard]] SORA2_HD constexpr char const* route_reason_name(route_reason r)
{
  switch (r) {
    case route_reason::latency_below: return "latency below threshold";
    case route_reason::bandwidth_above: return "bandwidth above threshold";
    case route_reason::entropy_below: return "entropy below threshold";
    case route_reason::otherwise: return "no threshold met";
  }
  return "unknown";
}

template <threshold_config Config = threshold_config{}>
struct threshold_router {
  static constexpr threshold_config config = Config;

  [[nodiscard]] SORA2_HD static constexpr route_reason reason(demand const& d)
  {
    // Comparisons with NaN are false, so an unknown number falls through to the next rule.
    if (d.latency_ns >= 0 && d.latency_ns < config.latency_ns) return route_reason::latency_below;
    if (d.bandwidth_gb_s >= 0 && d.bandwidth_gb_s > config.bandwidth_gb_s)
      return route_reason::bandwidth_above;
    if (d.entropy_bits >= 0 && d.entropy_bits < config.entropy_bits)
      return route_reason::entropy_below;
    return route_reason::otherwise;
  }

  [[nodiscard]] SORA2_HD static constexpr level route(demand const& d)
  {
    switch (reason(d)) {
      case route_reason::latency_below: return level::registers;
      case route_reason::bandwidth_above: return level::fast;
      case route_reason::entropy_below: return level::entropy;
      case route_reason::otherwise: break;
    }
    return level::store;
  }
};

static_assert(router_policy<threshold_router<>>);

}  // namespace sora2
