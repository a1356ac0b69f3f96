#include <sora2/simt/bit_matrix.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include <support/byte_pages.hpp>
#include <support/warps.hpp>

TEST_SUITE("simt/bit_matrix") {
  TEST_CASE("bit b of lane i becomes bit i of lane b, and back")
  {
    support::random_source next(1);
    std::uint32_t rows[32], columns[32] = {};
    for (int i = 0; i < 32; ++i) {
      rows[i] = next();
      for (int b = 0; b < 32; ++b) columns[b] |= (rows[i] >> b & 1u) << i;
    }
    auto const check = [&](auto const& w) {
      std::uint32_t out[32];
      auto const x = transpose_bits(w, w.template load<std::uint32_t>(rows));
      w.store(out, x);
      for (int b = 0; b < 32; ++b) CHECK(out[b] == columns[b]);
      w.sync();
      w.store(out, transpose_bits(w, x));
      for (int i = 0; i < 32; ++i) CHECK(out[i] == rows[i]);
    };
    support::on_all_warps(check);
    check(support::kernel_like_warp{});
  }
}
