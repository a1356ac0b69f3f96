#include <sora2/route/demand.hpp>

#include <doctest/doctest.h>

namespace {

struct always_store {
  static constexpr int config = 0;
  static constexpr sora2::level route(sora2::demand const&) { return sora2::level::store; }
};
struct with_state {
  [[maybe_unused]] static constexpr int config = 0;
  int memory = 0;
  static constexpr sora2::level route(sora2::demand const&) { return sora2::level::store; }
};
struct without_route {
  [[maybe_unused]] static constexpr int config = 0;
};

static_assert(sora2::router_policy<always_store>);
static_assert(!sora2::router_policy<with_state>);
static_assert(!sora2::router_policy<without_route>);
static_assert(std::is_trivially_copyable_v<sora2::demand>);

}  // namespace

TEST_SUITE("route/demand") {
  TEST_CASE("a user's router is used through the same call")
  {
    CHECK(always_store::route(sora2::demand{.latency_ns = 1}) == sora2::level::store);
  }
}
