#include <sora2/codec/bulk.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/codecs.hpp"

using sora2::isa;
using sora2::status;
using sora2::tile;
using sora2::view;

TEST_SUITE("codec/bulk") {
  TEST_CASE("bytes and tiles go through the host entries on every instruction set of this machine")
  {
    std::vector<std::byte> raw(300, std::byte{9});
    raw[100] = std::byte{1};
    std::vector<float> values(2 * 3 * 40);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 100.0f;

    for (isa set : {isa::portable, isa::avx2, isa::avx512}) {
      if (set > sora2::best_isa()) continue;
      std::string const name = sora2::isa_name(set);
      CAPTURE(name);
      std::vector<std::byte> packed(support::runs::encoded_bound(raw.size())), back(raw.size());
      auto const n = sora2::encode<support::runs>(raw, packed, {}, set);
      REQUIRE(n.has_value());
      CHECK(*n == 6);
      CHECK(sora2::decode<support::runs>({packed.data(), *n}, view<std::byte>(back), {}, set) ==
            status::ok);
      CHECK(back == raw);

      std::vector<std::byte> codes(values.size());
      std::vector<float> decoded(values.size());
      auto const m = sora2::encode<support::whole_numbers>(tile<float>{values.data(), 2, 3, 40},
                                                           codes, {}, set);
      REQUIRE(m.has_value());
      auto const s = sora2::decode<support::whole_numbers>(
          codes, tile<float>{decoded.data(), 2, 3, 40}, {}, set);
      CHECK(s == status::ok);
      CHECK(decoded[5] == -95.0f);
      CHECK(decoded[239] == 127.0f);
    }
  }

  TEST_CASE("errors of the policy come through")
  {
    std::vector<std::byte> const raw(10);
    std::vector<std::byte> packed(1), back(10);
    CHECK(sora2::encode<support::runs>(raw, packed).error() == status::output_too_small);
    CHECK(sora2::decode<support::runs>(packed, view<std::byte>(back)) == status::corrupt_input);
  }
}
