#include <sora2/codec/chain.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include <sora2/codec/bulk.hpp>
#include <support/byte_pages.hpp>
#include <support/codecs.hpp>
#include <support/warps.hpp>

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;
using support::keyed;
using support::runs;
using support::whole_numbers;

using value_chain = chain<whole_numbers, runs>;
using byte_chain = chain<keyed, runs, runs>;

static_assert(value_codec_policy<value_chain> && !byte_codec_policy<value_chain>);
static_assert(byte_codec_policy<byte_chain> && !value_codec_policy<byte_chain>);
static_assert(value_chain::tier == level::fast && byte_chain::tier == level::fast);
static_assert(chain<runs, support::host_runs>::tier == level::store);
static_assert(is_host_only<chain<runs, support::host_runs>> && !is_host_only<value_chain>);
static_assert(std::is_same_v<value_chain::model, no_model>);
static_assert(std::is_same_v<byte_chain::model, keyed::model>);
static_assert(!(value_chain::format() == chain<whole_numbers, runs, runs>::format()));
static_assert(!(value_chain::format() == chain<whole_numbers>::format()));
// The page size sizes scratch alone.
static_assert(value_chain::format() ==
              chain_of<chain_config{.page_bytes = 4096}, whole_numbers, runs>::format());
static_assert(sizeof(chain_of<chain_config{.page_bytes = 4096}, keyed, runs>::scratch<host_warp>) <=
              4096 + 256);
static_assert(std::is_trivially_default_constructible_v<value_chain::scratch<host_warp>>);

template <class Chain, class In>
bytes packed(In in, model_t<Chain> const& m = {})
{
  bytes out(Chain::encoded_bound(100'000));
  auto const n = encode<Chain>(in, view<std::byte>(out), m);
  REQUIRE(n);
  out.resize(*n);
  return out;
}

}  // namespace

TEST_SUITE("codec/chain") {
  TEST_CASE("values go through every stage and come back")
  {
    auto const values = support::wave<float>(4000, 1, 200.0f);
    tile<float const> const page(values.data(), 2, 50, 40);
    bytes const stream = packed<value_chain>(page);
    // One length word, then what runs make of the whole numbers.
    CHECK(load_le<std::uint32_t>(stream.data()) == 4000);
    CHECK(bytes(stream.begin() + 4, stream.end()) == [&] {
      bytes const codes = packed<whole_numbers>(page);
      return packed<runs>(view<std::byte const>(codes));
    }());
    std::vector<float> back(4000);
    CHECK(decode<value_chain>(stream, tile<float>(back.data(), 2, 50, 40)) == status::ok);
    for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i] == std::nearbyint(values[i]));
  }

  TEST_CASE("a coder that does not gain is left out, and the stream says so")
  {
    std::vector<float> values(200);
    for (std::size_t i = 0; i < 200; ++i) values[i] = static_cast<float>(i % 100);
    bytes const stream = packed<value_chain>(tile<float const>(values.data(), 1, 5, 40));
    CHECK(stream.size() == 4 + 200);
    CHECK(load_le<std::uint32_t>(stream.data()) == (200u | 0x80000000u));
    std::vector<float> back(200);
    CHECK(decode<value_chain>(stream, tile<float>(back.data(), 1, 5, 40)) == status::ok);
    CHECK(back == values);
  }

  TEST_CASE("a transform is never left out, though its result is as long as its input")
  {
    // 100 equal bytes: keyed keeps the length, runs halve it over and over.
    bytes const page(100, std::byte{5});
    bytes const stream = packed<byte_chain>(view<std::byte const>(page), keyed::model{0x40});
    CHECK(stream.size() ==
          8 + 2);  // two words, {count, value}: the second round of runs did not gain
    CHECK(load_le<std::uint32_t>(stream.data()) == 100);
    CHECK(load_le<std::uint32_t>(stream.data() + 4) == (2u | 0x80000000u));
    CHECK(stream[9] == std::byte{0x45});
    bytes back(100);
    CHECK(decode<byte_chain>(stream, view<std::byte>(back), keyed::model{0x40}) == status::ok);
    CHECK(back == page);
    CHECK(decode<byte_chain>(stream, view<std::byte>(back), keyed::model{0x41}) == status::ok);
    CHECK(back == bytes(100, std::byte{4}));
  }

  TEST_CASE("all lengths of all kinds of bytes come back")
  {
    for (std::size_t size : {0u, 1u, 2u, 31u, 32u, 33u, 255u, 256u, 1000u, 65536u})
      for (auto const& page : {support::noise(size, 4), support::patches(size, 4), bytes(size)}) {
        bytes const stream = packed<byte_chain>(view<std::byte const>(page), keyed::model{9});
        CHECK(stream.size() <= byte_chain::encoded_bound(size));
        bytes back(size);
        CHECK(decode<byte_chain>(stream, view<std::byte>(back), keyed::model{9}) == status::ok);
        CHECK(back == page);
        bytes const two = packed<chain<runs, runs>>(view<std::byte const>(page));
        CHECK(decode<chain<runs, runs>>(two, view<std::byte>(back)) == status::ok);
        CHECK(back == page);
      }
  }

  TEST_CASE("more than a page is refused on both ways")
  {
    bytes const page(65537), stream(65537 + 8);
    bytes out(200'000), back(65537);
    CHECK(encode<byte_chain>(view<std::byte const>(page), view<std::byte>(out)).error() ==
          status::input_too_large);
    CHECK(decode<byte_chain>(stream, view<std::byte>(back)) == status::input_too_large);
  }

  TEST_CASE("too little room is reported and kept")
  {
    for (auto const& page : {support::patches(300, 2), support::noise(300, 2)}) {
      bytes const stream = packed<byte_chain>(view<std::byte const>(page));
      bytes guarded(stream.size() + 1, std::byte{0xA5});
      for (std::size_t room = 0; room < stream.size(); ++room) {
        CHECK(encode<byte_chain>(view<std::byte const>(page), view<std::byte>(guarded.data(), room))
                  .error() == status::output_too_small);
        CHECK(guarded[room] == std::byte{0xA5});
        std::fill(guarded.begin(), guarded.end(), std::byte{0xA5});
      }
      auto const n = encode<byte_chain>(view<std::byte const>(page),
                                        view<std::byte>(guarded.data(), stream.size()));
      CHECK(n.value_or(0) == stream.size());
    }
  }

  TEST_CASE("cut streams and foreign lengths are refused")
  {
    bytes const page = support::patches(300, 8);
    bytes const stream = packed<byte_chain>(view<std::byte const>(page));
    bytes back(300);
    for (std::size_t cut = 0; cut < stream.size(); ++cut)
      CHECK(decode<byte_chain>(support::exact_copy({stream.data(), cut}), view<std::byte>(back)) !=
            status::ok);
    auto const with_word = [&](std::size_t word, std::uint32_t value) {
      bytes changed = stream;
      std::memcpy(changed.data() + 4 * word, &value, 4);
      return decode<byte_chain>(support::exact_copy(changed), view<std::byte>(back));
    };
    CHECK(with_word(0, 299) == status::corrupt_input);
    CHECK(with_word(0, 0x7FFFFFFF) == status::corrupt_input);
    CHECK(with_word(0, 0x80000000u | 300) == status::corrupt_input);
    CHECK(with_word(1, 0xFFFFFFFF) == status::corrupt_input);
    bytes shorter(299);
    CHECK(decode<byte_chain>(stream, view<std::byte>(shorter)) != status::ok);
    CHECK(decode<chain<runs>>(packed<chain<runs>>(view<std::byte const>(page)),
                              view<std::byte>(shorter)) == status::wrong_shape);
  }

  TEST_CASE("damaged streams never leave their memory")
  {
    bytes const page = support::patches(200, 8);
    bytes const stream = packed<byte_chain>(view<std::byte const>(page));
    for (std::size_t at = 0; at < stream.size(); ++at)
      for (int flip : {1, 0x80, 0xFF}) {
        bytes damaged = stream, back(200);
        damaged[at] ^= static_cast<std::byte>(flip);
        static_cast<void>(decode<byte_chain>(support::exact_copy(damaged), view<std::byte>(back)));
      }
  }

  TEST_CASE("models of several stages lie side by side")
  {
    using two_keys = chain<keyed, runs, keyed>;
    static_assert(!std::is_same_v<two_keys::model, keyed::model>);
    bytes const page = support::patches(500, 3);
    two_keys::model const m{{1}, {{2}}};
    bytes const stream = packed<two_keys>(view<std::byte const>(page), m);
    bytes back(500);
    CHECK(decode<two_keys>(stream, view<std::byte>(back), m) == status::ok);
    CHECK(back == page);
    CHECK(decode<two_keys>(stream, view<std::byte>(back), two_keys::model{{1}, {{3}}}) !=
          status::ok);
    // Their ids become one: another pair has another.
    CHECK(m.table_id() != two_keys::model{{1}, {{3}}}.table_id());
    CHECK(m.table_id() != two_keys::model{{2}, {{1}}}.table_id());
  }

  TEST_CASE("what a value stage refuses, the chain refuses")
  {
    std::vector<float> values(64, INFINITY);
    bytes out(1000);
    CHECK(encode<value_chain>(tile<float const>(values.data(), 1, 2, 32), view<std::byte>(out))
              .error() == status::non_finite);
  }

  TEST_CASE("every warp writes the same stream, and reads it")
  {
    auto const values = support::wave<float>(600, 1, 200.0f);
    tile<float const> const page(values.data(), 2, 10, 30);
    bytes const of_values = packed<value_chain>(page);
    support::on_all_warps([&](auto const& w) {
      using warp = std::remove_cvref_t<decltype(w)>;
      value_chain::scratch<warp> s;
      bytes out(value_chain::encoded_bound(2400));
      auto const n = value_chain::encode(w, s, page, view<std::byte>(out));
      REQUIRE(n);
      out.resize(*n);
      CHECK(out == of_values);
      std::vector<float> back(600);
      CHECK(value_chain::decode(w, s, out, tile<float>(back.data(), 2, 10, 30)) == status::ok);
      CHECK(back[599] == std::nearbyint(values[599]));

      byte_chain::scratch<warp> t;
      for (bytes const& given : {support::noise(300, 4), support::patches(300, 4),
                                 bytes(300)}) {  // stages left out or not
        bytes stream(byte_chain::encoded_bound(300)), again(300);
        auto const k = byte_chain::encode(w, t, given, view<std::byte>(stream), {7});
        REQUIRE(k);
        stream.resize(*k);
        CHECK(stream == packed<byte_chain>(view<std::byte const>(given), keyed::model{7}));
        CHECK(byte_chain::decode(w, t, stream, view<std::byte>(again), {7}) == status::ok);
        CHECK(again == given);
      }
    });
  }
}
