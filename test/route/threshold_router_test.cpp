#include <sora2/route/threshold_router.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string_view>

namespace {

using sora2::demand;
using sora2::level;
using sora2::route_reason;
using router = sora2::threshold_router<>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// The rule can be decided at compile time.
static_assert(router::route({.latency_ns = 4.9, .bandwidth_gb_s = 2000, .entropy_bits = 1}) ==
              level::registers);
static_assert(router::route({.latency_ns = 5, .bandwidth_gb_s = 800.1, .entropy_bits = 1}) ==
              level::fast);
static_assert(router::route({.latency_ns = 5, .bandwidth_gb_s = 800, .entropy_bits = 3.09}) ==
              level::entropy);
static_assert(router::route({.latency_ns = 5, .bandwidth_gb_s = 800, .entropy_bits = 3.1}) ==
              level::store);

}  // namespace

TEST_SUITE("route/threshold_router") {
  TEST_CASE("the rules apply in order, with strict comparisons")
  {
    struct row {
      demand d;
      level to;
      route_reason why;
    };
    row const rows[] = {
        {{.latency_ns = 0, .bandwidth_gb_s = 0, .entropy_bits = 0},
         level::registers,
         route_reason::latency_below},
        {{.latency_ns = 5, .bandwidth_gb_s = 0, .entropy_bits = 0},
         level::entropy,
         route_reason::entropy_below},
        {{.latency_ns = 9, .bandwidth_gb_s = 900, .entropy_bits = 0},
         level::fast,
         route_reason::bandwidth_above},
        {{.latency_ns = 9, .bandwidth_gb_s = 800, .entropy_bits = 3.1},
         level::store,
         route_reason::otherwise},
        {{.latency_ns = 1, .bandwidth_gb_s = 900, .entropy_bits = 1},
         level::registers,
         route_reason::latency_below},
    };
    for (row const& r : rows) {
      CHECK(router::route(r.d) == r.to);
      CHECK(router::reason(r.d) == r.why);
    }
  }

  TEST_CASE("an unknown number never fires its rule")
  {
    CHECK(router::route({.latency_ns = nan, .bandwidth_gb_s = nan, .entropy_bits = nan}) ==
          level::store);
    CHECK(router::route({.latency_ns = nan, .bandwidth_gb_s = 900, .entropy_bits = nan}) ==
          level::fast);
    CHECK(router::route({.latency_ns = -1, .bandwidth_gb_s = 0, .entropy_bits = 2}) ==
          level::entropy);
    CHECK(router::route(
              {.latency_ns = -infinity, .bandwidth_gb_s = -infinity, .entropy_bits = -infinity}) ==
          level::store);
    CHECK(router::route({.latency_ns = infinity, .bandwidth_gb_s = infinity, .entropy_bits = 0}) ==
          level::fast);
    CHECK(router::route({.latency_ns = infinity, .bandwidth_gb_s = 0, .entropy_bits = infinity}) ==
          level::store);
    CHECK(router::route({.latency_ns = -0.0, .bandwidth_gb_s = 0, .entropy_bits = 0}) ==
          level::registers);
  }

  TEST_CASE("thresholds are configuration")
  {
    using strict = sora2::threshold_router<sora2::threshold_config{
        .latency_ns = 1, .bandwidth_gb_s = 100, .entropy_bits = 2}>;
    CHECK(strict::route({.latency_ns = 4, .bandwidth_gb_s = 0, .entropy_bits = 3}) == level::store);
    CHECK(strict::route({.latency_ns = 4, .bandwidth_gb_s = 101, .entropy_bits = 3}) ==
          level::fast);
  }

  TEST_CASE("every level and reason has a name")
  {
    CHECK(std::string_view{sora2::level_name(level::store)} == "L4");
    CHECK(std::string_view{sora2::route_reason_name(route_reason::otherwise)} ==
          "no threshold met");
  }
}
