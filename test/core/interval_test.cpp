#include <sora2/core/interval.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>

using sora2::interval;

TEST_SUITE("core/interval") {
  TEST_CASE("of two adjacent intervals exactly one contains the common edge")
  {
    interval const first{0, 10}, second{10, 20};
    for (std::int64_t t = -1; t <= 21; ++t)
      CHECK(static_cast<int>(first.contains(t)) + static_cast<int>(second.contains(t)) ==
            (t >= 0 && t < 20 ? 1 : 0));
    CHECK(!first.overlaps(second));
    CHECK(first.overlaps({9, 11}));
  }

  TEST_CASE("empty and reversed intervals contain nothing and overlap nothing")
  {
    for (interval const i : {interval{5, 5}, interval{9, 3}}) {
      CHECK(i.empty());
      for (std::int64_t t = 0; t < 12; ++t) CHECK(!i.contains(t));
      CHECK(!i.overlaps({0, 12}));
      CHECK(!interval{0, 12}.overlaps(i));
    }
  }

  TEST_CASE("the ends of time do not wrap")
  {
    std::int64_t const first = std::numeric_limits<std::int64_t>::min(),
                       last = std::numeric_limits<std::int64_t>::max();
    CHECK(interval{first, last}.contains(first));
    CHECK(!interval{first, last}.contains(last));
    CHECK(interval{first, last}.overlaps({-1, 1}));
  }
}
