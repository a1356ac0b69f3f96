#include <sora2/core/float16.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

using sora2::bfloat16;
using sora2::float16;
using sora2::to_bfloat16;
using sora2::to_float;
using sora2::to_float16;

namespace {

static_assert(std::is_trivial_v<float16> && sizeof(float16) == 2 && sizeof(bfloat16) == 2);
static_assert(to_float(float16{0x3C00}) == 1.0f && to_float16(65504.0f).bits == 0x7BFF);

// The definition: sign * fraction * 2^exponent.
double value_of(float16 h)
{
  int const exponent = h.bits >> 10 & 31, fraction = h.bits & 1023;
  double const magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return h.bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace

TEST_SUITE("core/float16") {
  TEST_CASE("every finite half has its exact value and survives the way back")
  {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      float16 const h{static_cast<std::uint16_t>(bits)};
      if ((bits & 0x7C00) == 0x7C00) continue;
      REQUIRE(static_cast<double>(to_float(h)) == value_of(h));
      REQUIRE(to_float16(to_float(h)).bits == bits);
    }
  }

  TEST_CASE("halfway points round to even, others to the nearer neighbour")
  {
    for (std::uint32_t bits = 0; bits < 0x7BFF; ++bits) {
      float16 const low{static_cast<std::uint16_t>(bits)},
          high{static_cast<std::uint16_t>(bits + 1)};
      float const middle = static_cast<float>((value_of(low) + value_of(high)) / 2);
      REQUIRE(to_float16(middle).bits == (bits % 2 == 0 ? bits : bits + 1));
      REQUIRE(to_float16(-middle).bits == (0x8000u | (bits % 2 == 0 ? bits : bits + 1)));
      REQUIRE(to_float16(std::nextafter(middle, 0.0f)).bits == bits);
      REQUIRE(to_float16(std::nextafter(middle, 1e9f)).bits == bits + 1);
    }
  }

  TEST_CASE("the ends of the range")
  {
    float const infinity = std::numeric_limits<float>::infinity();
    CHECK(to_float16(65519.99f).bits == 0x7BFF);
    CHECK(to_float16(65520.0f).bits == 0x7C00);
    CHECK(to_float16(infinity).bits == 0x7C00);
    CHECK(to_float16(-infinity).bits == 0xFC00);
    CHECK(to_float16(-0.0f).bits == 0x8000);
    CHECK(to_float16(std::numeric_limits<float>::denorm_min()).bits == 0);
    CHECK(to_float(float16{0x7C00}) == infinity);
    CHECK(std::isnan(to_float(float16{0x7C01})));
    CHECK(std::isnan(to_float(to_float16(std::numeric_limits<float>::quiet_NaN()))));
    CHECK(std::isnan(to_float(to_bfloat16(std::numeric_limits<float>::signaling_NaN()))));
    CHECK(to_float(to_bfloat16(infinity)) == infinity);
    CHECK(to_float(to_bfloat16(std::numeric_limits<float>::max())) == infinity);
  }

  TEST_CASE("bfloat16 is the upper half of a float, rounded to even")
  {
    for (std::uint32_t bits = 0; bits < 0x7F80; ++bits) {
      bfloat16 const low{static_cast<std::uint16_t>(bits)};
      REQUIRE(to_bfloat16(to_float(low)).bits == bits);
      float const middle = sora2::bit_cast<float>(bits << 16 | 0x8000u);
      REQUIRE(to_bfloat16(middle).bits == (bits % 2 == 0 ? bits : bits + 1));
      REQUIRE(to_bfloat16(sora2::bit_cast<float>(bits << 16 | 0x7FFFu)).bits == bits);
      REQUIRE(to_bfloat16(sora2::bit_cast<float>(bits << 16 | 0x8001u)).bits == bits + 1);
    }
  }
}
