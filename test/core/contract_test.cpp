#include <sora2/core/contract.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <type_traits>

using namespace sora2;

static_assert(std::is_trivially_copyable_v<entry_contract<>>);

namespace {
constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min(),
                       last = std::numeric_limits<std::int64_t>::max();
}  // namespace

TEST_SUITE("core/contract") {
  TEST_CASE("fresh until the age reaches the time to live")
  {
    struct {
      std::int64_t now, written, ttl;
      bool fresh;
      char const* why;
    } const cases[] = {
        {100, 0, 101, true, "inside"},
        {100, 0, 100, false, "age equals ttl: half-open"},
        {100, 0, 0, false, "ttl 0"},
        {100, 0, -5, false, "ttl below 0"},
        {last, 0, last, false, "age equals the largest ttl"},
        {last - 1, last - 5, last, true, "written + ttl overflows"},
        {50, 100, 10, true, "the clock went back: no time has passed"},
        {50, 100, 0, false, "the clock went back, but nothing is fresh for no time"},
        {-5, -10, 6, true, "negative clock"},
        {1'000'000'000'000'000'000, 0, last, true, "very long ttl"},
        {last, first, last, false, "the age does not fit in 63 bits"},
        {first, last, 1, true, "the clock went back by all there is"},
    };
    for (auto const& c : cases) {
      CAPTURE(c.why);
      CHECK(is_fresh(c.now, c.written, c.ttl) == c.fresh);
      entry_contract<> const entry{.written_ns = c.written, .ttl_ns = c.ttl};
      CHECK(entry.is_fresh(c.now) == c.fresh);
    }
  }

  TEST_CASE("an entry holds in its interval, by default at any time but the last nanosecond")
  {
    entry_contract<> entry;
    CHECK(entry.held_at(first));
    CHECK(entry.held_at(0));
    CHECK(!entry.held_at(last));
    entry.valid = {10, 20};
    CHECK(!entry.held_at(9));
    CHECK(entry.held_at(10));
    CHECK(entry.held_at(19));
    CHECK(!entry.held_at(20));
  }

  TEST_CASE("the time to live is what the agreement leaves")
  {
    CHECK(ttl_of_sla(1000, 200, 300) == 500);
    CHECK(ttl_of_sla(1000, 0, 0) == 1000);
    CHECK(ttl_of_sla(1000, 1000, 0) == 0);
    CHECK(ttl_of_sla(1000, 999, 0) == 1);
    CHECK(ttl_of_sla(1000, 800, 300) == 0);
    CHECK(ttl_of_sla(1000, -50, -50) == 1000);  // data from the future are as old as new ones
    CHECK(ttl_of_sla(last, last, last) == 0);
    CHECK(ttl_of_sla(last, 1, last) == 0);
    CHECK(ttl_of_sla(first, 0, 0) == 0);
  }

  TEST_CASE("the time a refresh takes is learnt")
  {
    refresh_estimate e(500);
    CHECK(e.expected_ns() == 500);
    e.saw(8000);
    CHECK(e.expected_ns() == 8000);  // the first measurement counts more than a guess
    e.saw(16000);
    CHECK(e.expected_ns() == 9000);
    for (int i = 0; i < 100; ++i) e.saw(1000);
    CHECK(e.expected_ns() >= 1000);
    CHECK(e.expected_ns() < 1010);
    for (int i = 0; i < 500; ++i) e.saw(last);
    CHECK(e.expected_ns() > last / 2);
    e.saw(-1);
    CHECK(e.expected_ns() >= 0);
    CHECK(refresh_estimate(-7).expected_ns() == 0);
  }
}
