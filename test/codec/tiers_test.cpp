#include <sora2/codec/tiers.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <sora2/codec/chain.hpp>
#include <support/byte_pages.hpp>
#include <support/codecs.hpp>
#include <support/warps.hpp>

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;
using support::host_runs;
using support::runs;
using support::whole_numbers;

using packed_numbers = chain_of<chain_config{.page_bytes = 8192}, whole_numbers, runs>;
using levels = tiers<whole_numbers, packed_numbers, host_runs>;

static_assert(levels::size == 3);
static_assert(levels::has(level::registers) && levels::has(level::fast) &&
              levels::has(level::store));
static_assert(!levels::has(level::entropy) && !levels::has(level::raw));
static_assert(levels::format(level::fast) == packed_numbers::format());
static_assert(levels::format(level::entropy) == format_id{});
static_assert(std::is_same_v<levels::codec<1>, packed_numbers>);
static_assert(levels::encoded_bound(1000) == 2000);
// The room of the largest member, not of all.
static_assert(sizeof(levels::scratch<host_warp>) == sizeof(packed_numbers::scratch<host_warp>));
static_assert(std::is_trivially_default_constructible_v<levels::scratch<host_warp>>);

}  // namespace

TEST_SUITE("codec/tiers") {
  TEST_CASE("the level that is asked for writes, and its block is read without being told")
  {
    auto const values = support::wave<float>(1200, 1, 200.0f);
    tile<float const> const page(values.data(), 2, 20, 30);
    for (level l : {level::registers, level::fast, level::store}) {
      bytes block(levels::block_bound(4800));
      auto const n = write_block<levels>(l, page, view<std::byte>(block));
      REQUIRE(n);
      block.resize(*n);
      auto const h = read_header(block);
      REQUIRE(h);
      CHECK(h->stored_level ==
            (l == level::store ? level::raw : l));  // floats have no runs of bytes
      CHECK(h->format == levels::format(l));
      std::vector<float> back(values.size());
      CHECK(read_block<levels>(block, tile<float>(back.data(), 2, 20, 30)) == status::ok);
      for (std::size_t i = 0; i < values.size(); ++i)
        CHECK(back[i] == (l == level::store ? values[i] : std::nearbyint(values[i])));
    }
  }

  TEST_CASE("bare streams of every level come back by level")
  {
    auto const values = support::wave<float>(1200, 2, 200.0f);
    tile<float const> const page(values.data(), 2, 20, 30);
    host_warp const w;
    levels::scratch<host_warp> s;
    for (level l : {level::registers, level::fast, level::store}) {
      bytes out(levels::encoded_bound(4800));
      auto const n = levels::encode(w, s, l, page, view<std::byte>(out));
      REQUIRE(n);
      out.resize(*n);
      std::vector<float> back(values.size());
      CHECK(levels::decode(w, s, l, view<std::byte const>(out),
                           tile<float>(back.data(), 2, 20, 30)) == status::ok);
      for (std::size_t i = 0; i < values.size(); ++i)
        CHECK(back[i] == (l == level::store ? values[i] : std::nearbyint(values[i])));
    }
  }

  TEST_CASE("a level or a kind of page without a codec is unsupported")
  {
    auto const values = support::wave<float>(64, 3);
    bytes const raw = support::patches(256, 3);
    bytes out(1000), back(256);
    CHECK(write_block<levels>(level::entropy, tile<float const>(values.data(), 1, 2, 32),
                              view<std::byte>(out))
              .error() == status::unsupported);
    host_warp const w;
    levels::scratch<host_warp> s;
    for (level l : {level::raw, level::entropy, level{9}}) {
      CHECK(levels::encode(w, s, l, view<std::byte const>(raw), view<std::byte>(out)).error() ==
            status::unsupported);
      CHECK(levels::decode(w, s, l, view<std::byte const>(out), view<std::byte>(back)) ==
            status::unsupported);
    }
    // Bytes for a level that codes values: unsupported bare, raw in a block.
    CHECK(levels::encode(w, s, level::registers, view<std::byte const>(raw), view<std::byte>(out))
              .error() == status::unsupported);
    out.resize(levels::block_bound(raw.size()));
    auto const n =
        write_block<levels>(level::registers, view<std::byte const>(raw), view<std::byte>(out));
    REQUIRE(n);
    CHECK(*n == 32 + raw.size());
    out.resize(*n);
    CHECK(read_block<levels>(out, view<std::byte>(back)) == status::ok);
    CHECK(back == raw);
  }

  TEST_CASE("bytes go through the levels that take them")
  {
    bytes const raw = support::patches(4000, 4);
    bytes block(levels::block_bound(raw.size())), back(raw.size());
    auto const n =
        write_block<levels>(level::store, view<std::byte const>(raw), view<std::byte>(block));
    REQUIRE(n);
    block.resize(*n);
    CHECK(block.size() < raw.size());
    CHECK(read_block<levels>(block, view<std::byte>(back)) == status::ok);
    CHECK(back == raw);
    block[100] ^= std::byte{4};
    CHECK(read_block<levels>(block, view<std::byte>(back)) == status::checksum_mismatch);
  }

  TEST_CASE("a block of no member is refused")
  {
    bytes const raw = support::patches(400, 5);
    bytes block(block_bound<runs>(400)), back(400);
    auto const n = write_block<runs>(view<std::byte const>(raw), view<std::byte>(block));
    REQUIRE(n);
    block.resize(*n);
    CHECK(read_block<levels>(block, view<std::byte>(back)) == status::wrong_format);
    CHECK(read_block<levels>({block.data(), 31}, view<std::byte>(back)) == status::corrupt_input);
  }

  TEST_CASE("a host-only member is not resident on another machine, unless its page lies raw")
  {
    support::kernel_like_warp const w;
    levels::scratch<support::kernel_like_warp> s;
    for (bool gains : {true, false}) {
      bytes const raw = gains ? support::patches(400, 6) : support::noise(400, 6);
      bytes block(levels::block_bound(400)), back(400);
      auto const n =
          write_block<levels>(level::store, view<std::byte const>(raw), view<std::byte>(block));
      REQUIRE(n);
      block.resize(*n);
      CHECK(levels::decode_block(w, s, view<std::byte const>(block), view<std::byte>(back)) ==
            (gains ? status::not_resident : status::ok));
      CHECK(levels::decode(w, s, level::store, view<std::byte const>(block),
                           view<std::byte>(back)) == status::not_resident);
      CHECK(levels::encode_block(w, s, level::store, view<std::byte const>(raw),
                                 view<std::byte>(block))
                .error() == status::not_resident);
    }
  }
}
