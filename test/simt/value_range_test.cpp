#include <sora2/simt/value_range.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/warps.hpp"

using sora2::bfloat16;
using sora2::float16;
using sora2::from_float;
using sora2::to_float;

namespace {

template <class T, bool Magnitudes>
void ranges_of_every_count()
{
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0.5f, 3.0f);
  for (std::uint32_t n = 1; n < 140; ++n) {
    std::vector<T> values(n);
    for (T& x : values) x = from_float<T>(normal(random));
    float least = std::numeric_limits<float>::infinity(), greatest = Magnitudes ? 0.0f : -least;
    for (T const x : values) {
      float const v = Magnitudes ? std::fabs(to_float(x)) : to_float(x);
      least = std::fmin(least, v);
      greatest = std::fmax(greatest, v);
    }
    support::on_all_warps([&](auto const& w) {
      using warp = std::remove_cvref_t<decltype(w)>;
      sora2::value_range<T, Magnitudes, warp> range;
      float low = 0, high = 0;
      range.measure(w, values.data(), n, low, high);
      float results[32] = {low, high}, numbers[32];
      w.store(numbers, range.numbers(w.template load<float>(results)));
      REQUIRE(numbers[0] == least);
      REQUIRE(numbers[1] == greatest);
      REQUIRE(!range.damaged(w));
    });
  }
}

/// A NaN or an infinity shows in `damaged` or in a result that is not finite.
template <class T, bool Magnitudes>
void damage_is_noticed()
{
  for (float const bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()})
    for (std::size_t at = 0; at < 64; at += 7) {
      std::vector<T> values(64, from_float<T>(1.5f));
      values[at] = from_float<T>(bad);
      support::on_all_warps([&](auto const& w) {
        using warp = std::remove_cvref_t<decltype(w)>;
        sora2::value_range<T, Magnitudes, warp> range;
        float low = 0, high = 0;
        range.measure(w, values.data(), 64, low, high);
        float results[32] = {low, high}, numbers[32];
        w.store(numbers, range.numbers(w.template load<float>(results)));
        REQUIRE((range.damaged(w) || !std::isfinite(numbers[0]) || !std::isfinite(numbers[1])));
      });
    }
}

}  // namespace

TEST_SUITE("simt/value_range") {
  TEST_CASE("least and greatest of every count")
  {
    ranges_of_every_count<float16, false>();
    ranges_of_every_count<float16, true>();
    ranges_of_every_count<bfloat16, false>();
    ranges_of_every_count<float, true>();
  }
  TEST_CASE("what is not finite is noticed")
  {
    damage_is_noticed<float16, false>();
    damage_is_noticed<float16, true>();
    damage_is_noticed<bfloat16, true>();
    damage_is_noticed<float, false>();
  }
}
