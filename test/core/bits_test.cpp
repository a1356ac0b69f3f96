#include <sora2/core/bits.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>

namespace {

static_assert(sora2::round_up(17u, 16u) == 32 && sora2::round_up(16u, 16u) == 16 &&
              sora2::round_up(0u, 16u) == 0);
static_assert(sora2::div_up(0xFFFFFFFFu, 2u) == 0x80000000u, "rounding up does not wrap");
static_assert(sora2::bit_width(0) == 0 && sora2::bit_width(1) == 1 &&
              sora2::bit_width(0x80000000u) == 32);
static_assert(sora2::lowest_bit(0) == 32 && sora2::lowest_bit(8) == 3);
static_assert(sora2::bit_cast<std::uint32_t>(1.0f) == 0x3F800000u);

}  // namespace

TEST_SUITE("core/bits") {
  TEST_CASE("counts agree with the library")
  {
    std::uint32_t x = 1;
    for (int i = 0; i < 10000; ++i) {
      x = x * 1664525u + 1013904223u;
      std::uint32_t const y = x >> (i % 32);
      CHECK(sora2::popcount(y) == std::popcount(y));
      CHECK(sora2::bit_width(y) == static_cast<int>(std::bit_width(y)));
      CHECK(sora2::lowest_bit(y) == std::countr_zero(y));
    }
  }

  TEST_CASE("unaligned little-endian access")
  {
    unsigned char bytes[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    CHECK(sora2::load_le<std::uint32_t>(bytes + 1) == 0x04030201u);
    CHECK(sora2::load_le<std::uint64_t>(bytes + 3) == 0x0A09080706050403ull);
    sora2::store_le(bytes + 5, std::uint16_t{0xBEEF});
    CHECK(bytes[5] == 0xEF);
    CHECK(bytes[6] == 0xBE);
    CHECK(bytes[7] == 7);
  }

  TEST_CASE("least and greatest keep the first of equals")
  {
    CHECK(sora2::least(2, 1) == 1);
    CHECK(sora2::greatest(2, 1) == 2);
    CHECK(sora2::least(-0.0f, 0.0f) == 0.0f);
  }
}
