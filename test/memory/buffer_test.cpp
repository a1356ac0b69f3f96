#include <sora2/memory/buffer.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace {

using namespace sora2;

/// Counts what is in use; refuses beyond a limit.
struct counted_memory {
  static constexpr bool host_accessible = true;
  static constexpr bool device_accessible = false;
  std::size_t* in_use = nullptr;
  std::size_t limit = 10'000;

  void* allocate(std::size_t bytes, std::size_t alignment)
  {
    if (bytes > limit - *in_use) return nullptr;
    *in_use += bytes;
    return host_memory{}.allocate(bytes, alignment);
  }
  void deallocate(void* p, std::size_t bytes, std::size_t alignment)
  {
    if (p == nullptr) return;
    *in_use -= bytes;
    host_memory{}.deallocate(p, bytes, alignment);
  }
  [[maybe_unused]] friend bool operator==(counted_memory const& a, counted_memory const& b)
  {
    return a.in_use == b.in_use;
  }
};

static_assert(memory_resource<counted_memory>);
static_assert(!std::is_copy_constructible_v<buffer<>> && !std::is_copy_assignable_v<buffer<>>);
static_assert(std::is_nothrow_move_constructible_v<buffer<>> &&
              std::is_nothrow_move_assignable_v<buffer<>>);

}  // namespace

TEST_SUITE("memory/buffer") {
  TEST_CASE("it has the size and the alignment asked for, and gives all of it back")
  {
    std::size_t in_use = 0;
    for (std::size_t alignment = 1; alignment <= 65536; alignment *= 4)
      for (std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 4999u}) {
        {
          auto room = buffer<counted_memory>::make(bytes, alignment, {&in_use});
          REQUIRE(room);
          CHECK(room->size() == bytes);
          CHECK(room->alignment() == alignment);
          CHECK(room->empty() == (bytes == 0));
          CHECK(reinterpret_cast<std::uintptr_t>(room->data()) % alignment == 0);
          CHECK(in_use == bytes);
          view<std::byte> const all(*room);
          CHECK(all.data == room->data());
          CHECK(all.size == bytes);
          if (bytes != 0) std::memset(all.data, 1, bytes);
        }
        CHECK(in_use == 0);
      }
  }

  TEST_CASE("it moves, and views stay")
  {
    std::size_t in_use = 0;
    {
      buffer<counted_memory> first(100, 16, {&in_use}), second(200, 16, {&in_use});
      std::byte* const kept = first.data();
      buffer<counted_memory> third(std::move(first));
      CHECK(third.data() == kept);
      CHECK(in_use == 300);
      second = std::move(third);
      CHECK(second.data() == kept);
      CHECK(second.size() == 100);
      CHECK(in_use == 100);
      auto& itself = second;
      second = std::move(itself);
      CHECK(second.data() == kept);
      CHECK(in_use == 100);
    }
    CHECK(in_use == 0);
  }

  TEST_CASE("what cannot be had is reported by make and thrown by the constructor")
  {
    std::size_t in_use = 0;
    CHECK(buffer<counted_memory>::make(10'001, 16, {&in_use}).error() == status::out_of_memory);
    CHECK_THROWS_AS((buffer<counted_memory>(10'001, 16, {&in_use})), error);
    CHECK(buffer<>::make(SIZE_MAX).error() == status::out_of_memory);
    CHECK(buffer<>::make(64, 3).error() == status::out_of_memory);
    CHECK(in_use == 0);
  }

  TEST_CASE("an empty one needs nothing")
  {
    buffer<> nothing;
    CHECK(nothing.empty());
    CHECK(view<std::byte const>(nothing).size == 0);
    buffer<> const moved = std::move(nothing);
    CHECK(moved.data() == nullptr);
  }
}
