#include <sora2/memory/adaptors.hpp>

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include <sora2/memory/buffer.hpp>

using namespace sora2;

TEST_SUITE("memory/adaptors") {
  TEST_CASE("counters follow what is out, the peak stays")
  {
    memory_counters seen;
    using counted = buffer<counting_memory<>>;
    {
      auto a = counted::make(1000, 64, counting_memory<>(seen));
      REQUIRE(a);
      CHECK(seen.bytes() == 1000);
      auto b = counted::make(24, 8, counting_memory<>(seen));
      REQUIRE(b);
      CHECK(seen.bytes() == 1024);
      CHECK(seen.pieces() == 2);
      counted moved(std::move(*a));
      CHECK(seen.bytes() == 1024);
    }
    CHECK(seen.bytes() == 0);
    CHECK(seen.pieces() == 0);
    CHECK(seen.peak_bytes() == 1024);
    CHECK(seen.allocations() == 2);
    CHECK(!counted::make(SIZE_MAX / 2, 64, counting_memory<>(seen)));
    CHECK(seen.failures() == 1);
    CHECK(counted::make(0, 64, counting_memory<>(seen)));
    CHECK(seen.allocations() == 2);
    CHECK(seen.failures() == 1);
    CHECK(seen.bytes() == 0);
  }

  TEST_CASE("a limit holds over all that share it, to the byte")
  {
    memory_limit limit(1000);
    limiting_memory<> a(limit), b(limit);
    CHECK(a == b);
    void* const p = a.allocate(600, 16);
    REQUIRE(p != nullptr);
    CHECK(b.allocate(401, 16) == nullptr);
    void* const q = b.allocate(400, 16);
    REQUIRE(q != nullptr);
    CHECK(a.allocate(1, 1) == nullptr);
    CHECK(a.allocate(SIZE_MAX, 1) == nullptr);
    CHECK(limit.bytes() == 1000);
    b.deallocate(p, 600, 16);
    CHECK(limit.bytes() == 400);
    a.deallocate(q, 400, 16);
    CHECK(limit.bytes() == 0);
    CHECK(a.allocate(0, 1) == nullptr);
    CHECK(limit.bytes() == 0);
  }

  TEST_CASE("what the resource inside refuses is not held against the limit")
  {
    failure_plan plan(0, 1);
    memory_limit limit(100);
    limiting_memory<failing_memory<>> m(limit, failing_memory<>(plan));
    CHECK(m.allocate(60, 8) == nullptr);
    CHECK(limit.bytes() == 0);
    void* const p = m.allocate(100, 8);
    CHECK(p != nullptr);
    m.deallocate(p, 100, 8);
  }

  TEST_CASE("failures come when they are planned")
  {
    failure_plan plan(2, 3);
    failing_memory<> m(plan);
    for (int i = 0; i < 8; ++i) {
      void* const p = m.allocate(8, 8);
      CHECK((p == nullptr) == (i >= 2 && i < 5));
      m.deallocate(p, 8, 8);
    }
    CHECK(plan.seen() == 8);
  }

  TEST_CASE("without state they hand on")
  {
    limiting_memory<failing_memory<counting_memory<>>> m;
    void* const p = m.allocate(10, 2);
    CHECK(p != nullptr);
    m.deallocate(p, 10, 2);
  }

  TEST_CASE("two threads never get more than the limit between them")
  {
    memory_limit limit(64 * 100);
    memory_counters seen;
    auto const work = [&] {
      limiting_memory<counting_memory<>> m(limit, counting_memory<>(seen));
      std::vector<void*> mine;
      for (int i = 0; i < 20000; ++i) {
        if (i % 3 != 2) {
          if (void* const p = m.allocate(64, 64); p != nullptr) mine.push_back(p);
        } else if (!mine.empty()) {
          m.deallocate(mine.back(), 64, 64);
          mine.pop_back();
        }
      }
      for (void* p : mine) m.deallocate(p, 64, 64);
    };
    std::thread other(work);
    work();
    other.join();
    CHECK(limit.bytes() == 0);
    CHECK(seen.bytes() == 0);
    CHECK(seen.peak_bytes() <= 64 * 100);
    CHECK(seen.peak_bytes() > 64 * 50);
  }
}
