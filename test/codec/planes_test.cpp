#include <sora2/codec/planes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <sora2/codec/bulk.hpp>
#include <support/byte_pages.hpp>
#include <support/warps.hpp>

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

/// The split page, bit by bit, as the format's page says it.
bytes slow_planes(bytes const& in, std::size_t element, bool by_bit)
{
  std::size_t const elements = in.size() / element;
  std::size_t const count = by_bit ? elements / 8 * 8 : elements;
  bytes out = in;  // the tail stays
  std::fill_n(out.begin(), count * element, std::byte{0});
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t bit = 0; bit < 8 * element; ++bit) {
      bool const set = (in[i * element + bit / 8] >> (bit % 8) & std::byte{1}) != std::byte{0};
      std::size_t const at = by_bit ? bit * count + i : (bit / 8 * count + i) * 8 + bit % 8;
      if (set) out[at / 8] |= static_cast<std::byte>(1u << at % 8);
    }
  return out;
}

template <class Codec, class Warp>
void check_one(Warp const& w, view<std::byte const> page, view<std::byte const> wanted)
{
  typename Codec::template scratch<Warp> s;
  bytes out(page.size), back(page.size);
  auto const n = Codec::encode(w, s, page, view<std::byte>(out));
  CHECK(n.value_or(~std::size_t{0}) == page.size);
  CHECK(out == bytes(wanted.begin(), wanted.end()));
  CHECK(Codec::decode(w, s, wanted, view<std::byte>(back)) == status::ok);
  CHECK(back == bytes(page.begin(), page.end()));
}

template <planes_config Config>
void check(bytes const& page)
{
  using codec = planes<Config>;
  bytes const wanted = slow_planes(page, Config.element, Config.kind == plane_kind::bit);
  bytes odd_page(page.size() + 1), odd_wanted(page.size() + 1);
  std::copy(page.begin(), page.end(), odd_page.begin() + 1);
  std::copy(wanted.begin(), wanted.end(), odd_wanted.begin() + 1);
  auto const on = [&](auto const& w) {
    check_one<codec>(w, page, wanted);
    check_one<codec>(w, {odd_page.data() + 1, page.size()}, {odd_wanted.data() + 1, page.size()});
  };
  on(host_warp{});
  support::on_audit_warp(on);
}

/// 0 to 33 elements with every odd tail, and some longer pages.
template <int Element, plane_kind Kind>
void check_lengths()
{
  for (std::size_t size = 0; size <= 33u * Element;
       size += size < 8u * Element ? 1 : ((Element - 1) | 1))
    check<planes_config{.element = Element, .kind = Kind}>(support::noise(size, size));
  for (std::size_t size : {64u, 300u, 1024u, 1029u})
    check<planes_config{.element = Element, .kind = Kind}>(support::noise(size, size));
}

}  // namespace

TEST_SUITE("codec/planes") {
  TEST_CASE("bytes of every width, any length")
  {
    check_lengths<1, plane_kind::byte>();
    check_lengths<2, plane_kind::byte>();
    check_lengths<4, plane_kind::byte>();
    check_lengths<8, plane_kind::byte>();
  }
  TEST_CASE("bits of every width, any length")
  {
    check_lengths<1, plane_kind::bit>();
    check_lengths<2, plane_kind::bit>();
    check_lengths<4, plane_kind::bit>();
    check_lengths<8, plane_kind::bit>();
  }

  TEST_CASE("a page of known bits")
  {
    bytes page(16, std::byte{0});
    page[2] = std::byte{0x81};   // element 1, low byte
    page[15] = std::byte{0x10};  // element 7, high byte
    bytes out(16);
    using by_byte = planes<planes_config{.element = 2}>;
    using by_bit = planes<planes_config{.element = 2, .kind = plane_kind::bit}>;
    REQUIRE(encode<by_byte>(view<std::byte const>(page), view<std::byte>(out)));
    CHECK(out[1] == std::byte{0x81});
    CHECK(out[8 + 7] == std::byte{0x10});
    REQUIRE(encode<by_bit>(view<std::byte const>(page), view<std::byte>(out)));
    CHECK(out[0] == std::byte{0x02});   // bit 0 of element 1
    CHECK(out[7] == std::byte{0x02});   // bit 7 of element 1
    CHECK(out[12] == std::byte{0x80});  // bit 12 of element 7
    CHECK(std::count(out.begin(), out.end(), std::byte{0}) == 13);
  }

  TEST_CASE("the widest warp of this CPU does the same")
  {
    bytes const page = support::noise(5000, 1);
    for (isa set : {isa::portable, isa::avx2, isa::avx512}) {
      if (set > best_isa()) continue;
      bytes out(5000), back(5000);
      using codec = planes<planes_config{.element = 4, .kind = plane_kind::bit}>;
      REQUIRE(encode<codec>(view<std::byte const>(page), view<std::byte>(out), {}, set));
      CHECK(out == slow_planes(page, 4, true));
      CHECK(decode<codec>(view<std::byte const>(out), view<std::byte>(back), {}, set) ==
            status::ok);
      CHECK(back == page);
    }
  }

  TEST_CASE("sizes that do not belong together are refused")
  {
    bytes const page = support::noise(100, 1);
    bytes out(99), back(101);
    CHECK(encode<planes<>>(view<std::byte const>(page), view<std::byte>(out)).error() ==
          status::output_too_small);
    CHECK(decode<planes<>>(page, view<std::byte>(back)) == status::wrong_shape);
    CHECK(decode<planes<>>(page, view<std::byte>(out)) == status::wrong_shape);
    view<std::byte const> const reserved(page.data(), 0x100000000u);  // never touched
    view<std::byte> const room(out.data(), 0x100000000u);
    CHECK(encode<planes<>>(reserved, room).error() == status::input_too_large);
  }

  TEST_CASE("the format names what changes the bytes")
  {
    CHECK(!(planes<>::format() == planes<planes_config{.element = 4}>::format()));
    CHECK(!(planes<>::format() == planes<planes_config{.kind = plane_kind::bit}>::format()));
  }
}
