#include <sora2/memory/growing_array.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include <sora2/memory/adaptors.hpp>

using namespace sora2;

TEST_SUITE("memory/growing_array") {
  TEST_CASE("elements stay what they were while it grows, and its bytes are those of its resource")
  {
    memory_counters seen;
    {
      growing_array<std::uint64_t, counting_memory<>> a{counting_memory<>(seen)};
      for (std::uint64_t i = 0; i < 1000; ++i) {
        REQUIRE(a.push_back(i * i));
        CHECK(a.bytes() == seen.bytes());
      }
      CHECK(a.size() == 1000);
      for (std::uint64_t i = 0; i < 1000; ++i) CHECK(a[i] == i * i);
      std::size_t const before = seen.bytes();
      for (int i = 0; i < 999; ++i) a.pop_back();
      CHECK(a.size() == 1);
      CHECK(seen.bytes() == before);
    }
    CHECK(seen.bytes() == 0);
  }

  TEST_CASE("two swap their elements and their memory")
  {
    memory_counters seen;
    using counted = growing_array<int, counting_memory<>>;
    counted a{counting_memory<>(seen)}, b{counting_memory<>(seen)};
    for (int i = 0; i < 20; ++i) REQUIRE(a.push_back(i));
    REQUIRE(b.push_back(7));
    a.swap(b);
    CHECK(a.size() == 1);
    CHECK(a[0] == 7);
    CHECK(b.size() == 20);
    for (int i = 0; i < 20; ++i) CHECK(b[static_cast<std::size_t>(i)] == i);
    CHECK(a.bytes() + b.bytes() == seen.bytes());
  }

  TEST_CASE("without room it says so and keeps what it has")
  {
    failure_plan plan(1, 1);
    growing_array<int, failing_memory<>> a{failing_memory<>(plan)};
    int n = 0;
    while (a.push_back(n)) ++n;
    CHECK(n > 0);
    CHECK(a.size() == static_cast<std::size_t>(n));
    CHECK(a.push_back(n));
    for (int i = 0; i <= n; ++i) CHECK(a[static_cast<std::size_t>(i)] == i);
    CHECK(a.reserve(5));
    CHECK(a.size() == static_cast<std::size_t>(n) + 1);
  }
}
