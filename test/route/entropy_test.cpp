#include <sora2/route/entropy.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

using sora2::channel_entropy_bits;
using sora2::entropy_bits;
using sora2::log2_of;
using sora2::tile;

static_assert(log2_of(8) == 3);

TEST_SUITE("route/entropy") {
  TEST_CASE("log2_of agrees with the library")
  {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-300, 300);
    for (int i = 0; i < 100000; ++i) {
      double const x = std::exp2(exponent(random));
      CHECK(std::abs(log2_of(x) - std::log2(x)) < 1e-12 * (1 + std::abs(std::log2(x))));
    }
  }

  TEST_CASE("histograms with known entropy")
  {
    std::vector<std::uint32_t> counts(256);
    CHECK(entropy_bits(counts, false) == 0);
    counts[7] = 1000;
    CHECK(entropy_bits(counts, false) == 0);
    CHECK(entropy_bits(counts, true) == 0);
    counts[9] = 1000;
    CHECK(entropy_bits(counts, false) == doctest::Approx(1).epsilon(1e-12));
    for (auto& c : counts) c = 3;
    CHECK(entropy_bits(counts, false) == doctest::Approx(8).epsilon(1e-12));
    CHECK(entropy_bits(counts, true) <= 8);
    std::vector<std::uint32_t> const skewed{75, 25};
    CHECK(entropy_bits(skewed, false) == doctest::Approx(0.8112781244591328).epsilon(1e-12));
  }

  TEST_CASE("short samples are corrected towards the entropy of their source")
  {
    // 64 draws of a uniform 16-symbol source: 4 bits; the plain estimate falls short by about 15 / (2 * 64 * ln 2).
    std::mt19937 random(2);
    double plain = 0, corrected = 0;
    int const trials = 2000;
    for (int t = 0; t < trials; ++t) {
      std::vector<std::uint32_t> counts(16);
      for (int i = 0; i < 64; ++i) ++counts[random() % 16];
      plain += entropy_bits(counts, false) / trials;
      corrected += entropy_bits(counts, true) / trials;
    }
    CHECK(plain < 3.87);
    CHECK(corrected == doctest::Approx(4).epsilon(0.01));
  }

  TEST_CASE("entropy is taken channel by channel and averaged")
  {
    // Two heads of two channels: constant, alternating, four symbols, eight symbols: 0, 1, 2 and 3 bits.
    std::uint32_t const tokens = 4096;
    std::vector<std::uint8_t> codes(2 * tokens * 2);
    tile<std::uint8_t> const t{codes.data(), 2, tokens, 2};
    for (std::uint32_t r = 0; r < tokens; ++r) {
      t.row(0, r)[0] = 200;
      t.row(0, r)[1] = static_cast<std::uint8_t>(r % 2);
      t.row(1, r)[0] = static_cast<std::uint8_t>(r % 4);
      t.row(1, r)[1] = static_cast<std::uint8_t>(r % 8);
    }
    CHECK(channel_entropy_bits(t) == doctest::Approx(1.5).epsilon(0.01));
    CHECK(channel_entropy_bits<sora2::entropy_sample_config{.channel_stride = 2}>(t) ==
          doctest::Approx(1).epsilon(0.01));
  }

  TEST_CASE("nothing has no entropy")
  {
    CHECK(channel_entropy_bits(tile<std::uint8_t const>{}) == 0);
    std::uint8_t one = 3;
    CHECK(channel_entropy_bits(tile<std::uint8_t const>{&one, 1, 1, 1}) == 0);
    CHECK(channel_entropy_bits(tile<std::uint8_t const>{&one, 1, 0, 1}) == 0);
  }
}
