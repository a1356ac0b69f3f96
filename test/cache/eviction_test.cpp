#include <sora2/cache/eviction.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include <sora2/memory/adaptors.hpp>
#include <support/byte_pages.hpp>

using namespace sora2;

namespace {

std::uint64_t hash_of(std::uint64_t key)
{
  key ^= key >> 33;
  key *= 0xFF51AFD7ED558CCDu;
  key ^= key >> 33;
  key *= 0xC4CEB9FE1A85EC53u;
  return key ^ key >> 33;
}

/// A cache of equal entries: gives the share of hits over a trace of keys.
template <class Policy>
double hit_rate(std::vector<std::uint32_t> const& trace, std::size_t room)
{
  Policy policy;
  std::unordered_map<std::uint32_t, std::uint32_t> id_of;
  std::vector<std::uint32_t> key_of(room), spare(room);
  for (std::uint32_t i = 0; i < room; ++i) spare[i] = i;
  std::size_t hits = 0;
  for (std::uint32_t key : trace) {
    if (auto const it = id_of.find(key); it != id_of.end()) {
      policy.touch(it->second);
      ++hits;
      continue;
    }
    if (spare.empty()) {
      std::uint32_t const id = policy.victim();
      REQUIRE(id != no_entry);
      policy.evict(id, hash_of(key_of[id]));
      REQUIRE(id_of.erase(key_of[id]) == 1);
      spare.push_back(id);
    }
    std::uint32_t const id = spare.back();
    spare.pop_back();
    key_of[id] = key;
    id_of[key] = id;
    REQUIRE(policy.insert(id, hash_of(key), 100));
    CHECK(policy.bytes() == 100 * id_of.size());
  }
  return static_cast<double>(hits) / static_cast<double>(trace.size());
}

/// Keys below `count` with probabilities 1 / rank^s.
std::vector<std::uint32_t> zipf(std::size_t length, std::uint32_t count, double s,
                                std::uint64_t seed)
{
  std::vector<double> sums(count);
  double sum = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    sums[i] = sum += std::pow(static_cast<double>(i) + 1, -s);
  support::random_source next(seed);
  std::vector<std::uint32_t> trace(length);
  for (auto& key : trace) {
    double const at = static_cast<double>(next.below(1u << 30)) / (1u << 30) * sum;
    key = static_cast<std::uint32_t>(std::lower_bound(sums.begin(), sums.end(), at) - sums.begin());
  }
  return trace;
}

}  // namespace

TEST_SUITE("cache/eviction") {
  TEST_CASE("lru gives the entry whose last use is the longest ago, as a list does")
  {
    lru<> policy;
    std::list<std::uint32_t> order;  // the next victim first
    std::size_t bytes = 0;
    support::random_source next(3);
    auto const size = [](std::uint32_t id) { return std::size_t{id} * 7 % 50; };
    for (int i = 0; i < 20000; ++i) {
      auto const id = static_cast<std::uint32_t>(next.below(60));
      auto const at = std::find(order.begin(), order.end(), id);
      if (at == order.end()) {
        REQUIRE(policy.insert(id, 0, size(id)));
        order.push_back(id);
        bytes += size(id);
      } else if (next.below(3) == 0) {
        policy.erase(id);
        order.erase(at);
        bytes -= size(id);
      } else {
        policy.touch(id);
        order.splice(order.end(), order, at);
      }
      CHECK(policy.victim() == (order.empty() ? no_entry : order.front()));
      CHECK(policy.bytes() == bytes);
    }
  }

  TEST_CASE("s3_fifo evicts as its description says")
  {
    // The description, over deques: keys are their own entries.
    struct slow {
      std::deque<std::uint32_t> small, large;  // the next victim at the back
      std::map<std::uint32_t, int> touches;
      std::set<std::uint32_t> ghosts;
      void insert(std::uint32_t id)
      {
        touches[id] = 0;
        (ghosts.erase(id) != 0 ? large : small).push_front(id);
      }
      std::uint32_t victim()
      {
        for (;;) {
          std::size_t const all = small.size() + large.size();
          if (all == 0) return no_entry;
          bool const from_small = !small.empty() && (large.empty() || small.size() * 10 >= all);
          auto& q = from_small ? small : large;
          std::uint32_t const id = q.back();
          int& n = touches[id];
          if (from_small ? n < 2 : n == 0) return id;
          n = from_small ? 0 : n - 1;
          q.pop_back();
          large.push_front(id);
        }
      }
      void remove(std::uint32_t id)
      {
        std::erase(small, id);
        std::erase(large, id);
      }
    } expected;
    s3_fifo<> policy;
    std::set<std::uint32_t> there;
    std::map<std::uint32_t, int> age;  // of ghosts
    int clock = 0;
    support::random_source next(5);
    for (int i = 0; i < 30000; ++i) {
      auto const id = static_cast<std::uint32_t>(next.below(next.below(2) == 0 ? 20u : 200u));
      if (there.count(id) == 0) {
        if (there.size() == 50) {
          std::uint32_t const goes = policy.victim();
          REQUIRE(goes == expected.victim());
          CHECK(policy.victim() == goes);
          bool const was_small =
              std::find(expected.small.begin(), expected.small.end(), goes) != expected.small.end();
          policy.evict(goes, std::uint64_t{goes} << 32 | goes);
          expected.remove(goes);
          there.erase(goes);
          // Ghosts are places in a table of 64 here: a newer one takes the place of an older one.
          if (was_small) {
            std::erase_if(expected.ghosts, [&](auto g) { return g % 64 == goes % 64; });
            expected.ghosts.insert(goes);
            age[goes] = ++clock;
          }
        }
        std::erase_if(expected.ghosts, [&](auto g) { return clock - age[g] >= 50; });
        REQUIRE(policy.insert(id, std::uint64_t{id} << 32 | id, 10));
        expected.insert(id);
        there.insert(id);
      } else if (next.below(20) == 0) {
        policy.erase(id);
        expected.remove(id);
        there.erase(id);
      } else {
        policy.touch(id);
        expected.touches[id] = std::min(3, expected.touches[id] + 1);
      }
      CHECK(policy.bytes() == 10 * there.size());
    }
  }

  TEST_CASE("s3_fifo keeps more of a skewed trace than lru, and far more when scans pass through")
  {
    auto const skewed = zipf(60000, 20000, 0.9, 7);
    double const a = hit_rate<lru<>>(skewed, 400), b = hit_rate<s3_fifo<>>(skewed, 400);
    MESSAGE("Zipf 0.9, room for 2 %: lru " << a << ", s3_fifo " << b);
    CHECK(b > a);

    std::vector<std::uint32_t> scanned;
    std::uint32_t once = 1000000;
    for (std::size_t i = 0; i < skewed.size(); ++i) {
      scanned.push_back(skewed[i]);
      if (i % 1000 > 500) scanned.push_back(once++);
    }
    double const c = hit_rate<lru<>>(scanned, 400), d = hit_rate<s3_fifo<>>(scanned, 400);
    MESSAGE("the same with scans: lru " << c << ", s3_fifo " << d);
    CHECK(d > c * 1.1);
  }

  TEST_CASE("without memory an entry is refused, and nothing else happens")
  {
    for (std::uint64_t first = 0; first < 3; ++first) {
      failure_plan plan(first, 1);
      s3_fifo<failing_memory<>> policy{failing_memory<>(plan)};
      std::uint32_t id = 0;
      while (policy.insert(id, hash_of(id), 8)) ++id;
      CHECK(policy.bytes() == 8 * std::size_t{id});
      REQUIRE(policy.insert(id, hash_of(id), 8));
      // A ghost that finds no memory is forgotten.
      policy.evict(policy.victim(), 1);
      CHECK(policy.bytes() == 8 * std::size_t{id});
    }
  }

  TEST_CASE("what a policy holds is what its resource gave")
  {
    memory_counters seen;
    {
      s3_fifo<counting_memory<>> policy{counting_memory<>(seen)};
      for (std::uint32_t id = 0; id < 5000; ++id) {
        if (id >= 1000) policy.evict(policy.victim(), hash_of(id));
        REQUIRE(policy.insert(id, hash_of(id), 1));
        CHECK(policy.overhead_bytes() == seen.bytes());
      }
    }
    CHECK(seen.bytes() == 0);
  }
}
