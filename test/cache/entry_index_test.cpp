#include <sora2/cache/entry_index.hpp>

#include <doctest/doctest.h>

#include <unordered_map>
#include <vector>

#include <sora2/memory/adaptors.hpp>
#include <support/byte_pages.hpp>

using namespace sora2;

TEST_SUITE("cache/entry_index") {
  TEST_CASE("finds what a map finds, with few and with many equal hashes")
  {
    for (std::uint64_t spread :
         {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1} << 20, ~std::uint64_t{0}}) {
      CAPTURE(spread);
      auto const hash_of = [&](std::uint32_t key) {
        return std::uint64_t{key} * 0x9E3779B97F4A7C15u % spread;
      };
      entry_index<> index;
      std::unordered_map<std::uint32_t, std::uint32_t> expected;  // numbers by key
      std::vector<std::uint32_t> keys;                            // by number
      support::random_source next(spread);
      std::uint32_t const most = spread < 100 ? 60 : 2000;
      for (int i = 0; i < 20000; ++i) {
        auto const key = static_cast<std::uint32_t>(next.below(most));
        std::uint32_t const found =
            index.find(hash_of(key), [&](std::uint32_t n) { return keys[n] == key; });
        auto const it = expected.find(key);
        REQUIRE(found == (it == expected.end() ? no_entry : it->second));
        if (found == no_entry) {
          auto const number = static_cast<std::uint32_t>(keys.size());
          keys.push_back(key);
          REQUIRE(index.insert(hash_of(key), number));
          expected[key] = number;
        } else if (next.below(2) == 0) {
          index.erase(hash_of(key), found);
          expected.erase(it);
        }
        CHECK(index.size() == expected.size());
      }
      for (auto const& [key, number] : expected)
        CHECK(index.find(hash_of(key), [&](std::uint32_t n) { return keys[n] == key; }) == number);
    }
  }

  TEST_CASE("runs that wrap around the end of the table close up after an erasure")
  {
    entry_index<> index;  // 16 slots at first
    for (std::uint32_t n = 0; n < 6; ++n) REQUIRE(index.insert(14, n));
    REQUIRE(index.insert(1, 6));
    index.erase(14, 0);
    for (std::uint32_t n = 1; n < 6; ++n)
      CHECK(index.find(14, [&](std::uint32_t e) { return e == n; }) == n);
    CHECK(index.find(1, [](std::uint32_t) { return true; }) == 6);
    CHECK(index.find(14, [](std::uint32_t e) { return e == 0; }) == no_entry);
  }

  TEST_CASE("without memory an entry is refused and the others stay")
  {
    for (std::uint64_t first = 0; first < 4; ++first) {
      failure_plan plan(first, 1);
      entry_index<failing_memory<>> index{failing_memory<>(plan)};
      std::uint32_t n = 0;
      while (index.insert(n * 77u, n)) ++n;
      CHECK(index.size() == n);
      for (std::uint32_t i = 0; i < n; ++i)
        CHECK(index.find(i * 77u, [](std::uint32_t) { return true; }) == i);
      CHECK(index.insert(n * 77u, n));
    }
  }

  TEST_CASE("what it holds is what its resource gave, at most 20 bytes an entry from a hundred on")
  {
    memory_counters seen;
    entry_index<counting_memory<>> index{counting_memory<>(seen)};
    for (std::uint32_t n = 0; n < 10000; ++n) {
      REQUIRE(index.insert(n * 0x9E3779B9u, n));
      CHECK(index.overhead_bytes() == seen.bytes());
      if (n > 100) CHECK(seen.bytes() <= 21 * std::size_t{n + 1});
    }
  }
}
