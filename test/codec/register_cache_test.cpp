#include <sora2/codec/register_cache.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using sora2::bfloat16;
using sora2::float16;
using sora2::from_float;
using sora2::register_cache;
using sora2::to_float;

namespace {

template <class T, int N>
struct row {
  T at[std::size_t{N}];
};
template <class T, int N>
row<T, N> normal_values(unsigned seed, float size = 1)
{
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, size);
  row<T, N> values;
  for (T& x : values.at) x = from_float<T>(normal(random));
  return values;
}

/// What a group of 64 must decode to, by the definition.
template <class T, int N, int Bits>
void check_bound(row<T, N> const& in, row<T, N> const& out)
{
  for (int first = 0; first < N; first += 64) {
    int const last = first + 64 < N ? first + 64 : N;
    float most = 0;
    for (int i = first; i < last; ++i) most = std::fmax(most, std::fabs(to_float(in.at[i])));
    float const step = most / static_cast<float>((1 << (Bits - 1)) - 1);
    for (int i = first; i < last; ++i) {
      float const value = to_float(in.at[i]);
      REQUIRE(std::fabs(to_float(out.at[i]) - value) <= step * 0.501f + most * 0.004f);
    }
  }
}

template <class T, int N, int Bits>
void round_trip()
{
  for (unsigned seed = 1; seed < 20; ++seed) {
    auto const in = normal_values<T, N>(seed, std::ldexp(1.0f, static_cast<int>(seed) - 10));
    auto const cache = register_cache<T, N, Bits>::pack(in.at);
    row<T, N> out;
    cache.unpack(out.at);
    check_bound<T, N, Bits>(in, out);
    // Decoded values are representable: packing them again changes nothing.
    if constexpr (std::is_same_v<T, float>)
      CHECK(register_cache<T, N, Bits>::pack(out.at) == cache);
  }
}

constexpr float four[4] = {1.0f, -0.5f, 0.25f, 0.0f};
constexpr auto at_compile_time = register_cache<float, 4, 8>::pack(four);
static_assert(at_compile_time.value<0>() == 1.0f && at_compile_time.value<3>() == 0.0f);

}  // namespace

TEST_SUITE("codec/register_cache") {
  TEST_CASE("values come back within half a step, for every type and width")
  {
    round_trip<float16, 64, 8>();
    round_trip<float16, 64, 4>();
    round_trip<float16, 64, 2>();
    round_trip<bfloat16, 32, 8>();
    round_trip<bfloat16, 96, 4>();
    round_trip<float, 160, 8>();
    round_trip<float, 128, 4>();
    round_trip<float, 16, 2>();
    round_trip<float, 64, 16>();
  }

  TEST_CASE("16-bit types at 16 bits keep every bit, NaN and infinity too")
  {
    row<float16, 64> in;
    for (int start = 0; start < 65536; start += 64) {
      for (int i = 0; i < 64; ++i) in.at[i].bits = static_cast<std::uint16_t>(start + i);
      row<float16, 64> out;
      register_cache<float16, 64, 16>::pack(in.at).unpack(out.at);
      REQUIRE(std::memcmp(in.at, out.at, sizeof in.at) == 0);
    }
  }

  TEST_CASE("groups have scales of their own")
  {
    row<float, 128> in{};
    in.at[3] = 1000;
    for (int i = 64; i < 128; ++i) in.at[i] = 0.001f * static_cast<float>(i % 7);
    auto const cache = register_cache<float, 128, 8>::pack(in.at);
    CHECK(cache.value<3>() == doctest::Approx(1000));
    CHECK(cache.value<70>() == doctest::Approx(0.0).epsilon(1e-6));
    CHECK(cache.value<69>() == doctest::Approx(0.006).epsilon(0.01));
  }

  TEST_CASE("a single value is replaced, and clamped to the range")
  {
    row<float, 32> in{};
    in.at[0] = 1.27f;
    auto cache = register_cache<float, 32, 8>::pack(in.at);
    cache.store<9>(0.5f);
    CHECK(cache.load<9>() == doctest::Approx(0.5).epsilon(0.01));
    CHECK(cache.load<8>() == 0.0f);
    CHECK(cache.load<10>() == 0.0f);
    cache.store<9>(-99.0f);
    CHECK(cache.load<9>() == doctest::Approx(-1.27));
    cache.set_range<9>(2.54f);
    CHECK(cache.load<9>() == doctest::Approx(-2.54));
    CHECK(cache.scale<0>() == doctest::Approx(0.02));
  }

  TEST_CASE("halves round to even")
  {
    row<float, 16> in{};
    in.at[0] = 127;  // a step of exactly 1
    float const halves[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 126.5f, -126.5f};
    float const even[] = {0, 2, 2, 0, -2, -2, 126, -126};
    for (int i = 0; i < 8; ++i) in.at[i + 1] = halves[i];
    row<float, 16> out;
    register_cache<float, 16, 8>::pack(in.at).unpack(out.at);
    for (int i = 0; i < 8; ++i) CHECK(out.at[i + 1] == even[i]);
  }

  TEST_CASE("zeros, infinities and NaN")
  {
    float const infinity = std::numeric_limits<float>::infinity();
    row<float, 16> in{};
    row<float, 16> out;
    register_cache<float, 16, 4>::pack(in.at).unpack(out.at);
    for (float x : out.at) CHECK(x == 0.0f);
    in.at[0] = 3.5f;
    in.at[1] = infinity;
    in.at[2] = -infinity;
    in.at[3] = std::numeric_limits<float>::quiet_NaN();
    register_cache<float, 16, 4>::pack(in.at).unpack(out.at);
    CHECK(out.at[0] == 3.5f);
    CHECK(out.at[1] == 3.5f);
    CHECK(out.at[2] == -3.5f);
    CHECK(out.at[3] == 0.0f);
    row<float, 16> tiny{};
    tiny.at[5] = std::numeric_limits<float>::denorm_min();
    register_cache<float, 16, 8>::pack(tiny.at).unpack(out.at);
    for (float x : out.at) CHECK(std::isfinite(x));
  }

  TEST_CASE("the largest floats stay finite")
  {
    auto const check = []<int Bits>(std::integral_constant<int, Bits>) {
      row<float, 32> in{}, out;
      in.at[3] = std::numeric_limits<float>::max();
      in.at[4] = -std::numeric_limits<float>::max();
      register_cache<float, 32, Bits>::pack(in.at).unpack(out.at);
      CHECK(out.at[3] / in.at[3] == doctest::Approx(1));
      CHECK(out.at[4] / in.at[4] == doctest::Approx(1));
    };
    check(std::integral_constant<int, 16>{});
    check(std::integral_constant<int, 8>{});
    check(std::integral_constant<int, 4>{});
    check(std::integral_constant<int, 2>{});
  }

  TEST_CASE("every code of four bits decodes to its signed value")
  {
    register_cache<float, 8, 4> cache{};
    cache.set_range<0>(7);
    for (std::uint32_t code = 0; code < 16; ++code) {
      cache.word[0] = code << 12;
      CHECK(cache.value<3>() ==
            static_cast<float>(code < 8 ? static_cast<int>(code) : static_cast<int>(code) - 16));
      CHECK(cache.value<2>() == 0.0f);
    }
  }
}
