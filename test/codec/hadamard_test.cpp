#include <sora2/codec/hadamard.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "support/warps.hpp"

using sora2::hadamard_width;
using sora2::rotation;

namespace {

static_assert(hadamard_width(64) == 64 && hadamard_width(80) == 16 && hadamard_width(96) == 32);
static_assert(hadamard_width(7) == 1 && hadamard_width(1) == 1 && hadamard_width(0) == 0);
static_assert(hadamard_width(512) == 256);
// Powers of two only, and both directions together undo the growth of the sums.
static_assert(sora2::hadamard_scale(64, rotation::forward) == 0.125f);
static_assert(sora2::hadamard_scale(32, rotation::forward) *
                  sora2::hadamard_scale(32, rotation::inverse) ==
              1.0f / 32);

/// By the definition: the sign of entry (i, j) is the parity of the common bits of i and j.
std::vector<double> transformed(std::vector<float> const& in, std::uint32_t width, double scale)
{
  std::vector<double> out(in.size());
  for (std::size_t run = 0; run < in.size(); run += width)
    for (std::uint32_t i = 0; i < width; ++i) {
      double sum = 0;
      for (std::uint32_t j = 0; j < width; ++j)
        sum += (sora2::popcount(i & j) % 2 == 0 ? 1.0 : -1.0) * static_cast<double>(in[run + j]);
      out[run + i] = sum * scale;
    }
  return out;
}

}  // namespace

TEST_SUITE("codec/hadamard") {
  TEST_CASE("runs are transformed as defined, and back, alike on all warps")
  {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (std::uint32_t const columns : {1u, 2u, 7u, 16u, 64u, 80u, 96u, 128u, 256u}) {
      CAPTURE(columns);
      std::uint32_t const width = hadamard_width(columns);
      std::vector<float> in(columns);
      for (float& x : in) x = normal(random);
      auto const expected = transformed(
          in, width, static_cast<double>(sora2::hadamard_scale(width, rotation::forward)));
      std::vector<float> first;
      support::on_all_warps([&](auto const& w) {
        std::vector<float> there(columns), back(columns);
        sora2::rotate_run(w, in.data(), there.data(), columns, width, rotation::forward);
        w.sync();
        sora2::rotate_run(w, there.data(), back.data(), columns, width, rotation::inverse);
        w.sync();
        for (std::uint32_t i = 0; i < columns; ++i) {
          CHECK(std::fabs(static_cast<double>(there[i]) - expected[i]) < 1e-5);
          CHECK(std::fabs(back[i] - in[i]) < 1e-5f);
        }
        if (first.empty()) first = there;
        CHECK(first == there);
      });
    }
  }

  TEST_CASE("sums beyond a 16-bit type become its greatest finite value")
  {
    std::vector<sora2::float16> row(64, sora2::to_float16(60000.0f));
    support::on_all_warps([&](auto const& w) {
      std::vector<sora2::float16> out(64);
      sora2::rotate_run(w, row.data(), out.data(), 64, 64, rotation::forward);
      CHECK(sora2::to_float(out[0]) == 65504.0f);
      CHECK(sora2::to_float(out[1]) == 0.0f);
    });
  }
}
