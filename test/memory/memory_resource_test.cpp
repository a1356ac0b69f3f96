#include <sora2/memory/memory_resource.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include <support/byte_pages.hpp>

using namespace sora2;

static_assert(memory_resource<host_memory>);
static_assert(!memory_resource<int> && !memory_resource<std::vector<int>>);

TEST_SUITE("memory/memory_resource") {
  TEST_CASE("every alignment from 1 to 64 Ki holds, also after fragmenting")
  {
    struct piece {
      void* at;
      std::size_t bytes, alignment;
    };
    host_memory const heap;
    support::random_source next(1);
    std::vector<piece> pieces;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2)
        for (std::size_t bytes : {std::size_t{1}, alignment - 1, alignment, alignment + 1,
                                  std::size_t{1 + next.below(5000)}}) {
          if (bytes == 0) continue;
          void* const p = heap.allocate(bytes, alignment);
          REQUIRE(p != nullptr);
          CHECK(reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
          std::memset(p, round, bytes);
          pieces.push_back({p, bytes, alignment});
        }
      // Every second piece goes back before the next round.
      std::vector<piece> kept;
      for (std::size_t i = 0; i < pieces.size(); ++i)
        if (i % 2 == 0)
          heap.deallocate(pieces[i].at, pieces[i].bytes, pieces[i].alignment);
        else
          kept.push_back(pieces[i]);
      pieces = kept;
    }
    for (piece const& p : pieces) heap.deallocate(p.at, p.bytes, p.alignment);
  }

  TEST_CASE("no bytes have no address, as often as one asks")
  {
    host_memory const heap;
    void* const first = heap.allocate(0, 1);
    void* const second = heap.allocate(0, 4096);
    CHECK(first == nullptr);
    CHECK(second == nullptr);
    heap.deallocate(first, 0, 1);
    heap.deallocate(second, 0, 4096);
  }

  TEST_CASE("what cannot be had is nullptr")
  {
    host_memory const heap;
    CHECK(heap.allocate(PTRDIFF_MAX, 64) == nullptr);
    CHECK(heap.allocate(std::numeric_limits<std::size_t>::max(), 64) == nullptr);
    CHECK(heap.allocate(64, 3) == nullptr);
    CHECK(heap.allocate(64, 0) == nullptr);
  }

  TEST_CASE("threads allocate and free side by side")
  {
    std::vector<std::thread> threads;
    std::vector<int> good(4);
    for (std::uint32_t t = 0; t < 4; ++t)
      threads.emplace_back([&good, t] {
        host_memory const heap;
        support::random_source next(t);
        for (int i = 0; i < 5000; ++i) {
          std::size_t const bytes = 1 + next.below(2000),
                            alignment = std::size_t{1} << next.below(10);
          auto* const p = static_cast<unsigned char*>(heap.allocate(bytes, alignment));
          std::memset(p, static_cast<int>(t), bytes);
          good[t] += p[0] == t && p[bytes - 1] == t;
          heap.deallocate(p, bytes, alignment);
        }
      });
    for (auto& t : threads) t.join();
    CHECK(good == std::vector<int>(4, 5000));
  }
}
