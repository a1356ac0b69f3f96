#include <sora2/codec/delta.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <sora2/codec/block.hpp>
#include <sora2/codec/bulk.hpp>
#include <sora2/codec/chain.hpp>
#include <support/byte_pages.hpp>
#include <support/codecs.hpp>
#include <support/warps.hpp>

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

bytes case_file(std::string const& name)
{
  bool found = false;
  bytes const content = support::file_bytes(SORA2_TEST_DATA_DIR "/delta/" + name, found);
  REQUIRE_MESSAGE(found, name);
  return content;
}

/// One coded element, as the format's page says it.
template <class T>
T slow_element(T x, T const* before, bool real, bool zigzag)
{
  constexpr int top = 8 * sizeof(T) - 1;
  auto const order = [&](T y) -> T {
    if (!real) return y;
    bool const negative = (y >> top) != 0;
    return static_cast<T>(negative ? ~y : y | static_cast<T>(T{1} << top));
  };
  T d = order(x);
  if (before != nullptr) d = static_cast<T>(d - order(*before));
  if (!zigzag) return d;
  bool const negative = (d >> top) != 0;
  d = static_cast<T>(d << 1);
  return static_cast<T>(negative ? ~d : d);
}
/// The coded page; `base` empty: against the element `distance` back.
template <class T>
bytes slow_differences(bytes const& in, std::size_t distance, bytes const& base, bool real,
                       bool zigzag)
{
  bytes out = in;
  for (std::size_t i = 0; (i + 1) * sizeof(T) <= in.size(); ++i) {
    T x, before{};
    bool has = true;
    std::memcpy(&x, in.data() + i * sizeof(T), sizeof(T));
    if (!base.empty())
      std::memcpy(&before, base.data() + i * sizeof(T), sizeof(T));
    else if (i >= distance)
      std::memcpy(&before, in.data() + (i - distance) * sizeof(T), sizeof(T));
    else
      has = false;
    T const d = slow_element(x, has ? &before : nullptr, real, zigzag);
    std::memcpy(out.data() + i * sizeof(T), &d, sizeof(T));
  }
  return out;
}

template <class Codec, class Warp>
bytes encoded(Warp const& w, view<std::byte const> page, model_t<Codec> const& m = {})
{
  bytes out(Codec::encoded_bound(page.size));
  typename Codec::template scratch<Warp> s;
  auto const n = encode_with<Codec>(w, s, page, view<std::byte>(out), m);
  REQUIRE(n);
  CHECK(*n == out.size());
  return out;
}
template <class Codec, class Warp>
bytes decoded(Warp const& w, view<std::byte const> stream, model_t<Codec> const& m = {})
{
  bytes out(Codec::decoded_bytes(stream.size));
  typename Codec::template scratch<Warp> s;
  CHECK(decode_with<Codec>(w, s, stream, view<std::byte>(out), m) == status::ok);
  return out;
}

/// Same bytes as the slow form, from aligned and odd addresses, and back: on one host warp, where plain code does the work,
/// and by lanes. Wider host warps run the same plain code.
template <class Codec>
void check(bytes const& page, bytes const& wanted)
{
  bytes shifted(page.size() + 1), wanted_shifted(page.size() + 1);
  std::copy(page.begin(), page.end(), shifted.begin() + 1);
  std::copy(wanted.begin(), wanted.end(), wanted_shifted.begin() + 1);
  view<std::byte const> const odd(shifted.data() + 1, page.size());
  view<std::byte const> const wanted_odd(wanted_shifted.data() + 1, page.size());
  auto const on = [&](auto const& w) {
    CHECK(encoded<Codec>(w, page) == wanted);
    CHECK(encoded<Codec>(w, odd) == wanted);
    CHECK(decoded<Codec>(w, wanted) == page);
    CHECK(decoded<Codec>(w, wanted_odd) == page);
  };
  on(host_warp{});
  support::on_audit_warp(on);
}
template <delta_config Config>
void check(bytes const& page)
{
  check<delta<Config>>(
      page, slow_differences<detail::element_type<Config.element>>(
                page, Config.distance, {}, Config.kind == delta_kind::real, Config.zigzag));
}
template <delta_config Config>
void check_lengths()
{
  for (std::size_t size : {0u, 1u, 7u, 8u, 9u, 63u, 64u, 200u, 1003u})
    check<Config>(support::noise(size, size + Config.distance));
}
constexpr auto integer = delta_kind::integer;
constexpr auto real = delta_kind::real;

}  // namespace

TEST_SUITE("codec/delta") {
  TEST_CASE("elements of every width, distances below, at and above a warp's width")
  {
    check_lengths<delta_config{.element = 1, .distance = 3, .kind = integer}>();
    check_lengths<delta_config{.element = 1, .distance = 8, .kind = integer, .zigzag = false}>();
    check_lengths<delta_config{.element = 1, .distance = 32, .kind = integer, .zigzag = false}>();
    check_lengths<delta_config{.element = 1, .distance = 65, .kind = real}>();
    check_lengths<delta_config{.element = 2, .distance = 1, .kind = integer, .zigzag = false}>();
    check_lengths<delta_config{.element = 2, .distance = 16, .kind = real}>();
    check_lengths<delta_config{.element = 2, .distance = 80, .kind = integer}>();
    check_lengths<delta_config{.element = 4, .distance = 31, .kind = real, .zigzag = false}>();
    check_lengths<delta_config{.element = 4, .distance = 33, .kind = integer}>();
    check_lengths<delta_config{.element = 8, .distance = 5, .kind = real}>();
    check_lengths<delta_config{.element = 8, .distance = 40, .kind = real, .zigzag = false}>();
  }

  TEST_CASE("differences of the largest integers wrap and come back")
  {
    bytes const page = case_file("i64_extremes.bin");
    REQUIRE(support::fnv1a(page) == 0x376C83CE39589435u);
    check<delta_config{.element = 8}>(page);
    check<delta_config{.element = 4, .distance = 33}>(page);
    check<delta_config{.element = 1, .distance = 3}>(page);
  }

  TEST_CASE("signed zeros, NaN payloads and values whose arithmetic loses bits come back")
  {
    bytes const page = case_file("f32_special.bin");
    REQUIRE(support::fnv1a(page) == 0x02EA75B1BA956F41u);
    check<delta_config{.element = 4, .kind = real}>(page);
  }

  TEST_CASE("bytes behind the last whole element are kept")
  {
    bytes const page = case_file("odd_tail.bin");
    REQUIRE(support::fnv1a(page) == 0x6AD9C6BF3FB68AB8u);
    check<delta_config{.element = 2, .distance = 16, .kind = real}>(page);
    check<delta_config{.element = 8, .distance = 5, .kind = real}>(page);
  }

  TEST_CASE("the map of floats keeps their order, and neighbours are one apart")
  {
    // Nothing is subtracted from the first elements: this is the map alone.
    using map = delta<delta_config{
        .element = 4, .distance = 1u << 20, .kind = delta_kind::real, .zigzag = false}>;
    float const infinity = std::numeric_limits<float>::infinity();
    std::vector<float> const rising = {-infinity, -3.0f, -1e-45f, -0.0f,   0.0f,
                                       1e-45f,    2.0f,  3e38f,   infinity};
    bytes const out = encoded<map>(host_warp{}, as_bytes(view<float const>(rising)));
    auto const order = [&](std::size_t i) { return load_le<std::uint32_t>(out.data() + 4 * i); };
    for (std::size_t i = 1; i < rising.size(); ++i) CHECK(order(i - 1) < order(i));
    CHECK(order(4) - order(3) == 1);
    CHECK(order(3) - order(2) == 1);
    CHECK(order(5) - order(4) == 1);
  }

  TEST_CASE("every pattern of 16 bits comes back")
  {
    std::vector<std::uint16_t> patterns(65536);
    for (std::size_t i = 0; i < patterns.size(); ++i)
      patterns[i] = static_cast<std::uint16_t>(i * 40503u);
    auto const raw = as_bytes(view<std::uint16_t const>(patterns));
    check<delta_config{.element = 2, .distance = 16, .kind = real}>(bytes(raw.begin(), raw.end()));
  }

  TEST_CASE("rows of a slow wave become small numbers")
  {
    auto const values = support::wave<float16>(64 * 64, 5);
    bytes const page(as_bytes(view<float16 const>(values)).begin(),
                     as_bytes(view<float16 const>(values)).end());
    using codec = delta<delta_config{.element = 2, .kind = delta_kind::real}>;
    bytes const out = encoded<codec>(host_warp{}, page);
    std::size_t high_zeros = 0;
    for (std::size_t i = 3; i < out.size(); i += 2) high_zeros += out[i] < std::byte{4};
    CHECK(high_zeros > page.size() / 4);
  }

  TEST_CASE("sizes that do not belong together are refused")
  {
    bytes const page = support::noise(100, 1);
    bytes out(99), back(101);
    CHECK(encode<delta<>>(view<std::byte const>(page), view<std::byte>(out)).error() ==
          status::output_too_small);
    CHECK(decode<delta<>>(page, view<std::byte>(back)) == status::wrong_shape);
    CHECK(decode<delta<>>(page, view<std::byte>(out)) == status::wrong_shape);
    CHECK(decode<delta<>>({}, view<std::byte>{}) == status::ok);
  }

  TEST_CASE("the format names what changes the bytes")
  {
    CHECK(!(delta<>::format() == delta<delta_config{.element = 4}>::format()));
    CHECK(!(delta<>::format() == delta<delta_config{.distance = 2}>::format()));
    CHECK(!(delta<>::format() == delta<delta_config{.kind = delta_kind::real}>::format()));
    CHECK(!(delta<>::format() == delta<delta_config{.zigzag = false}>::format()));
    CHECK(!(delta<>::format() == delta_base<>::format()));
  }

  TEST_CASE("new weights against the old ones: exact with the right base, refused with another")
  {
    bytes const base = case_file("base_f16.bin"), fresh = case_file("new_f16.bin");
    bytes const other = case_file("other_base_f16.bin");
    REQUIRE(support::fnv1a(fresh) == 0x2C9A9C6D14746162u);
    using codec = delta_base<>;
    base_model const m{view<std::byte const>(base)};
    bytes wanted = slow_differences<std::uint16_t>(fresh, 0, base, true, true);
    wanted.resize(wanted.size() + 4);
    store_le(wanted.data() + fresh.size(), crc32c(base));
    support::on_all_warps([&](auto const& w) {
      CHECK(encoded<codec>(w, fresh, m) == wanted);
      CHECK(decoded<codec>(w, wanted, m) == fresh);
    });
    bytes back(fresh.size(), std::byte{0x5C});
    CHECK(decode<codec>(wanted, view<std::byte>(back), base_model{view<std::byte const>(other)}) ==
          status::wrong_table);
    CHECK(decode<codec>(wanted, view<std::byte>(back)) == status::wrong_table);
    CHECK(back == bytes(fresh.size(), std::byte{0x5C}));
    CHECK(decode<codec>(wanted, view<std::byte>(back), base_model({base.data(), 100}, m.id)) ==
          status::wrong_shape);
    for (std::size_t cut = 0; cut < 40; ++cut)
      CHECK(decode<codec>({wanted.data(), cut}, view<std::byte>(back), m) == status::wrong_shape);

    // Packed as a block, the header carries the id too.
    using packer = chain<codec, support::runs>;
    bytes block(block_bound<packer>(fresh.size()));
    auto const n = write_block<packer>(view<std::byte const>(fresh), view<std::byte>(block), {}, m);
    REQUIRE(n);
    block.resize(*n);
    CHECK(block.size() < fresh.size());
    CHECK(read_header(block)->table_id == m.id);
    CHECK(read_block<packer>(block, view<std::byte>(back), {}, m) == status::ok);
    CHECK(back == fresh);
    CHECK(read_block<packer>(block, view<std::byte>(back), {},
                             base_model{view<std::byte const>(other)}) == status::wrong_table);
  }

  TEST_CASE("every width against a base, with odd tails")
  {
    for (std::size_t size : {0u, 3u, 100u, 517u}) {
      bytes const base = support::noise(size, 1), fresh = support::noise(size, 2);
      base_model const m{view<std::byte const>(base)};
      auto const compare = [&]<delta_base_config Config>() {
        using T = detail::element_type<Config.element>;
        bytes wanted =
            slow_differences<T>(fresh, 0, base, Config.kind == delta_kind::real, Config.zigzag);
        wanted.resize(size + 4);
        store_le(wanted.data() + size, m.id);
        CHECK(encoded<delta_base<Config>>(host_warp{}, fresh, m) == wanted);
        CHECK(decoded<delta_base<Config>>(host_warp{}, wanted, m) == fresh);
        support::on_audit_warp([&](auto const& w) {
          CHECK(encoded<delta_base<Config>>(w, fresh, m) == wanted);
          CHECK(decoded<delta_base<Config>>(w, wanted, m) == fresh);
        });
      };
      compare.template operator()<delta_base_config{.element = 1}>();
      compare.template operator()<delta_base_config{.element = 4}>();
      compare.template operator()<delta_base_config{.element = 8}>();
      compare.template
      operator()<delta_base_config{.element = 8, .kind = delta_kind::integer, .zigzag = false}>();
    }
  }
}
