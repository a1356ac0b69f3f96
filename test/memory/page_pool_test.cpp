#include <sora2/memory/page_pool.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <sora2/memory/adaptors.hpp>
#include <support/byte_pages.hpp>

using namespace sora2;

namespace {

using small_slabs = page_pool<counting_memory<>, page_pool_config{.slab_bytes = 4096}>;
using counted = page_pool<counting_memory<>>;

/// A pool beside the obvious: what each owner stored.
template <class Pool>
struct checked {
  struct stored {
    page_ref at;
    std::vector<std::byte> bytes;
  };
  memory_counters seen;
  Pool pool{counting_memory<>(seen)};
  std::map<std::uint32_t, stored> all;
  std::uint32_t next_owner = 0;
  support::random_source next{1};

  void add(std::size_t bytes)
  {
    auto const at = pool.allocate(bytes, next_owner);
    REQUIRE(at);
    view<std::byte> const room = pool.block(*at);
    REQUIRE(room.size == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(room.data) % Pool::alignment == 0);
    stored s{*at, std::vector<std::byte>(bytes)};
    for (auto& b : s.bytes) b = static_cast<std::byte>(next.below(256));
    if (bytes != 0) std::memcpy(room.data, s.bytes.data(), bytes);
    all.emplace(next_owner++, std::move(s));
  }
  void remove_any()
  {
    auto it = all.lower_bound(static_cast<std::uint32_t>(next.below(next_owner)));
    if (it == all.end()) it = all.begin();
    pool.free(it->second.at);
    CHECK(!pool.holds(it->second.at));
    all.erase(it);
  }
  void check()
  {
    std::size_t bytes = 0;
    for (auto const& [owner, s] : all) {
      REQUIRE(pool.holds(s.at));
      CHECK(pool.owner(s.at) == owner);
      auto const room = pool.block(s.at);
      REQUIRE(room.size == s.bytes.size());
      CHECK((room.size == 0 || std::memcmp(room.data, s.bytes.data(), room.size) == 0));
      bytes += s.bytes.size();
    }
    page_pool_use const use = pool.use();
    CHECK(use.blocks == bytes);
    CHECK(use.count == all.size());
    CHECK(use.reserved() == seen.bytes());
    CHECK(use.peak_reserved <= seen.peak_bytes());
  }
};

}  // namespace

TEST_SUITE("memory/page_pool") {
  TEST_CASE_TEMPLATE("blocks keep their bytes and owners, and every byte is accounted for", Pool,
                     small_slabs, counted)
  {
    checked<Pool> c;
    for (int i = 0; i < 4000; ++i) {
      if (c.all.empty() || c.next.below(100) < (i < 2000 ? 60u : 40u))
        c.add(c.next.below(8) == 0 ? c.next.below(40000) : c.next.below(1200));
      else
        c.remove_any();
      if (i % 200 == 0) c.check();
    }
    c.check();
    while (!c.all.empty()) c.remove_any();
    c.check();
    CHECK(c.pool.use().blocks == 0);
    CHECK(c.pool.use().peak_blocks > 0);
  }

  TEST_CASE("a block of any size fits its slot closely")
  {
    for (std::size_t bytes = 1; bytes <= 70000; bytes += bytes < 3000 ? 1 : 97) {
      memory_counters seen;
      page_pool<counting_memory<>> pool{counting_memory<>(seen)};
      // As many as the first slab holds: what is left of it then is lost to their size class.
      REQUIRE(pool.allocate(bytes, 0));
      std::size_t const first = seen.bytes() - pool.use().overhead;
      std::size_t count = 1;
      while (pool.use().slack >= bytes) {
        REQUIRE(pool.allocate(bytes, 0));
        if (pool.use().blocks + pool.use().slack > first) break;
        ++count;
      }
      double const lost = static_cast<double>(first) / static_cast<double>(count * bytes);
      if (bytes >= 1024) {
        CAPTURE(bytes);
        CHECK(lost < 1.1);
      }
    }
  }

  TEST_CASE_TEMPLATE("draining gives sparse slabs back and keeps every block", Pool, small_slabs,
                     counted)
  {
    checked<Pool> c;
    std::size_t const bytes = Pool::config.slab_bytes / 300;
    for (int i = 0; i < 3000; ++i) c.add(bytes - c.next.below(bytes / 10 + 1));
    for (int i = 0; i < 2400; ++i) c.remove_any();
    c.check();
    std::size_t const before = c.seen.bytes();
    std::size_t const won = c.pool.drain([&](std::uint32_t owner, page_ref from, page_ref to) {
      auto& s = c.all.at(owner);
      CHECK(s.at == from);
      s.at = to;
      return true;
    });
    c.check();
    CHECK(won == before - c.seen.bytes());
    CHECK(won > before / 3);
    CHECK(c.pool.drain([](auto...) { return true; }) == 0);
    for (int i = 0; i < 500; ++i) c.add(200 + c.next.below(800));
    while (!c.all.empty()) c.remove_any();
    c.check();
  }

  TEST_CASE("blocks whose owners refuse stay where they are")
  {
    checked<small_slabs> c;
    for (int i = 0; i < 600; ++i) c.add(100);
    for (int i = 0; i < 450; ++i) c.remove_any();
    std::size_t refused = 0, moved = 0;
    c.pool.drain([&](std::uint32_t owner, page_ref, page_ref to) {
      if (owner % 7 == 0) return ++refused, false;
      ++moved;
      c.all.at(owner).at = to;
      return true;
    });
    CHECK(refused > 0);
    CHECK(moved > 0);
    c.check();
    c.pool.drain([&](std::uint32_t owner, page_ref, page_ref to) {
      c.all.at(owner).at = to;
      return true;
    });
    c.check();
    for (int i = 0; i < 300; ++i) c.add(100);
    c.check();
  }

  TEST_CASE("no room, wherever it ends, is a status and changes nothing")
  {
    for (std::uint64_t first = 0; first < 12; ++first) {
      memory_counters seen;
      failure_plan plan(first, 1);
      using resource = failing_memory<counting_memory<>>;
      page_pool<resource, page_pool_config{.slab_bytes = 4096}> pool{
          resource(plan, counting_memory<>(seen))};
      std::vector<page_ref> refs;
      bool failed = false;
      for (std::uint32_t i = 0; i < 200; ++i) {
        auto const before = pool.use();
        auto const at = pool.allocate(i % 3 == 0 ? 5000 : 90, i);
        if (at)
          refs.push_back(*at);
        else {
          failed = true;
          CHECK(at.error() == status::out_of_memory);
          CHECK(pool.use().blocks == before.blocks);
          CHECK(pool.use().count == before.count);
        }
        CHECK(pool.use().reserved() == seen.bytes());
      }
      CHECK(failed);
      CHECK(refs.size() == 199);
      for (auto r : refs) pool.free(r);
      CHECK(pool.use().reserved() == seen.bytes());
    }
  }

  TEST_CASE("blocks of 4 GiB are refused before anything is asked for")
  {
    memory_counters seen;
    counted pool{counting_memory<>(seen)};
    if constexpr (sizeof(std::size_t) > 4)
      CHECK(pool.allocate(std::size_t{1} << 32, 0).error() == status::input_too_large);
    CHECK(seen.allocations() == 0);
  }

  TEST_CASE("a destroyed pool has given everything back")
  {
    memory_counters seen;
    {
      counted pool{counting_memory<>(seen)};
      for (std::uint32_t i = 0; i < 1000; ++i) REQUIRE(pool.allocate(i * 37 % 30000, i));
      CHECK(seen.bytes() > 0);
    }
    CHECK(seen.bytes() == 0);
  }
}
