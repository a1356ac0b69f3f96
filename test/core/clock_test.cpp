#include <sora2/core/clock.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <thread>
#include <vector>

using namespace sora2;

static_assert(clock_source<never_back<wall_clock>> && !clock_source<int>);

TEST_SUITE("core/clock") {
  TEST_CASE("the wall clock counts nanoseconds since 1970")
  {
    std::int64_t const seconds = static_cast<std::int64_t>(std::time(nullptr));
    std::int64_t const now = wall_clock{}.now_ns();
    CHECK(now / 1'000'000'000 >= seconds - 1);
    CHECK(now / 1'000'000'000 <= seconds + 60);
  }

  TEST_CASE("a clock that never goes back shows the latest time seen while its base does")
  {
    never_back<manual_clock> clock(std::int64_t{-50});
    CHECK(clock.now_ns() == -50);
    clock.base().set(100);
    CHECK(clock.now_ns() == 100);
    clock.base().set(std::numeric_limits<std::int64_t>::min());
    CHECK(clock.now_ns() == 100);
    clock.base().set(99);
    CHECK(clock.now_ns() == 100);
    clock.base().advance(2);
    CHECK(clock.now_ns() == 101);
  }

  TEST_CASE("no thread sees it go back")
  {
    never_back<manual_clock> clock;
    std::atomic<bool> fell{false};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i)
      readers.emplace_back([&] {
        std::int64_t last = clock.now_ns();
        for (int k = 0; k < 20000; ++k) {
          std::int64_t const now = clock.now_ns();
          if (now < last) fell = true;
          last = now;
        }
      });
    for (int k = 0; k < 20000; ++k) clock.base().set(k % 7 == 0 ? k - 5000 : k);
    for (auto& r : readers) r.join();
    CHECK(!fell);
  }
}
