#include <sora2/simt/crc32c.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include <sora2/simt/audit_warp.hpp>
#include <sora2/simt/dispatch.hpp>

using sora2::crc32c;
using sora2::view;

namespace {

constexpr std::uint32_t of_text(char const* text)
{
  std::array<std::byte, 64> bytes{};
  std::size_t n = 0;
  for (; text[n] != '\0'; ++n) bytes[n] = static_cast<std::byte>(text[n]);
  return crc32c(view<std::byte const>{bytes.data(), n});
}
static_assert(of_text("123456789") == 0xE3069283u);
static_assert(of_text("") == 0);

/// The definition: one bit at a time, remainder of the division by the reflected polynomial.
std::uint32_t by_definition(view<std::byte const> bytes, std::uint32_t seed = 0)
{
  std::uint32_t state = ~seed;
  for (std::byte const b : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      bool const one = ((state ^ (static_cast<std::uint32_t>(b) >> bit)) & 1u) != 0;
      state = one ? state >> 1 ^ 0x82F63B78u : state >> 1;
    }
  return ~state;
}

std::vector<std::byte> noise(std::size_t n)
{
  std::vector<std::byte> v(n);
  std::uint32_t state = 1;
  for (auto& b : v) b = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
  return v;
}

/// The lengths around every step of the implementations: words, rows of lanes, short and long triples.
std::vector<std::size_t> lengths()
{
  std::vector<std::size_t> n(300);
  std::iota(n.begin(), n.end(), std::size_t{0});
  for (std::size_t const m : std::initializer_list<std::size_t>{
           383,  384,  385,  391,  511,  512,  640,  767,  768,   1000,
           3071, 3072, 3073, 3455, 3456, 4096, 6145, 9216, 16384, 20001})
    n.push_back(m);
  return n;
}

}  // namespace

TEST_SUITE("simt/crc32c") {
  TEST_CASE("the vectors of RFC 3720, B.4")
  {
    std::vector<std::byte> bytes(32, std::byte{0});
    CHECK(crc32c(bytes) == 0x8A9136AAu);
    bytes.assign(32, std::byte{0xFF});
    CHECK(crc32c(bytes) == 0x62A8AB43u);
    for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
    CHECK(crc32c(bytes) == 0x46DD794Eu);
    for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(31 - i);
    CHECK(crc32c(bytes) == 0x113FDB5Cu);
    unsigned char const read_command[48] = {1, 0xC0, 0,    0, 0, 0, 0, 0,    0, 0, 0, 0, 0,    0, 0,
                                            0, 0x14, 0,    0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0,
                                            0, 0x18, 0x28, 0, 0, 0, 0, 0,    0, 0, 2};
    CHECK(crc32c(view<std::byte const>{reinterpret_cast<std::byte const*>(read_command), 48}) ==
          0xD9963A56u);
  }

  TEST_CASE("tables and instructions agree with the definition at every length and address")
  {
    for (std::size_t const n : lengths()) {
      std::size_t const skew = n % 8;
      auto const exact = std::make_unique<std::byte[]>(n + skew);  // nothing may be read beyond
      auto const source = noise(n + skew);
      std::copy(source.begin(), source.end(), exact.get());
      view<std::byte const> const bytes{exact.get() + skew, n};
      std::uint32_t const expected = by_definition(bytes, 77);
      REQUIRE(crc32c(bytes, 77) == expected);
      REQUIRE(~sora2::detail::crc_portable(~77u, bytes.data, bytes.size) == expected);
#if defined(__x86_64__)
      if (sora2::detail::crc_has_hardware())
        REQUIRE(~sora2::detail::crc_hardware(~77u, bytes.data, bytes.size) == expected);
#endif
    }
  }

  TEST_CASE("the lanes of any warp agree with the definition at every length and address")
  {
    sora2::audit_log log;
    for (std::size_t const n : lengths()) {
      std::size_t const skew = n % 5;
      auto const source = noise(n + skew);
      view<std::byte const> const bytes{source.data() + skew, n};
      std::uint32_t const expected = by_definition(bytes, 5);
      std::uint32_t const on_host = sora2::with_best_warp(
          [&](auto const& w) { return ~sora2::detail::crc_lanes(w, bytes, ~5u); });
      REQUIRE(on_host == expected);
      REQUIRE(crc32c(sora2::host_warp{}, bytes, 5) == expected);
      if (n <= 1000) REQUIRE(crc32c(sora2::audit_warp{log}, bytes, 5) == expected);
    }
    CHECK(log.count() == 0);
  }

  TEST_CASE("bytes in parts have the value of the whole")
  {
    auto const bytes = noise(500);
    view<std::byte const> const all(bytes);
    for (std::size_t cut = 0; cut <= 500; cut += 7)
      CHECK(crc32c(all.from(cut), crc32c(all.sub(0, cut))) == crc32c(all));
  }

  TEST_CASE("every flipped bit, and every pair of neighbours exchanged, changes the value")
  {
    auto bytes = noise(97);
    std::uint32_t const before = crc32c(bytes);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      CHECK(crc32c(bytes) != before);
      bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    }
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
      if (bytes[i] == bytes[i + 1]) continue;
      std::swap(bytes[i], bytes[i + 1]);
      CHECK(crc32c(bytes) != before);
      std::swap(bytes[i], bytes[i + 1]);
    }
  }
}
