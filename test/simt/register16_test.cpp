#include <sora2/simt/register16.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include <support/byte_pages.hpp>

namespace {

using namespace sora2;

template <std::size_t N>
void check_split()
{
  auto const page = support::noise(16 * N, N);
  bytes16 v[N];
  for (std::size_t k = 0; k < N; ++k) load_register(page.data() + 16 * k, v[k]);
  split_bytes(v);
  for (std::size_t k = 0; k < N; ++k)
    for (std::size_t i = 0; i < 16; ++i)
      CHECK(+v[k][i] == static_cast<std::uint8_t>(page[i * N + k]));
  join_bytes(v);
  std::byte back[16 * N];
  for (std::size_t k = 0; k < N; ++k) store_register(back + 16 * k, v[k]);
  CHECK(std::memcmp(back, page.data(), sizeof back) == 0);
}

template <class T, int Bytes>
void check_sums()
{
  constexpr std::size_t count = 16 / sizeof(T), distance = Bytes / sizeof(T);
  auto const page = support::noise(16, 7);
  T x[count];
  std::memcpy(x, page.data(), 16);
  register16<T> v;
  load_register(page.data(), v);
  sum_along<Bytes>(v);
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= distance) x[i] = static_cast<T>(x[i] + x[i - distance]);
    CHECK(+v[i] == x[i]);
  }
  repeat_last<Bytes>(v);
  for (std::size_t i = 0; i < count; ++i) CHECK(+v[i] == x[count - distance + i % distance]);
}

}  // namespace

TEST_SUITE("simt/register16") {
  TEST_CASE("elements are split into their bytes and joined")
  {
    check_split<1>();
    check_split<2>();
    check_split<4>();
    check_split<8>();
  }

  TEST_CASE("8 x 8 bytes change rows and columns")
  {
    auto const page = support::noise(64, 3);
    bytes16 v[4];
    for (std::size_t i = 0; i < 4; ++i) load_register(page.data() + 16 * i, v[i]);
    transpose_bytes(v);
    std::byte out[64];
    for (std::size_t i = 0; i < 4; ++i) store_register(out + 16 * i, v[i]);
    for (std::size_t r = 0; r < 8; ++r)
      for (std::size_t c = 0; c < 8; ++c) CHECK(out[8 * c + r] == page[8 * r + c]);
  }

  TEST_CASE("8 x 8 bits change rows and columns in each half")
  {
    auto const page = support::noise(16, 4);
    bytes16 v;
    load_register(page.data(), v);
    transpose_bits(v);
    for (std::size_t half = 0; half < 16; half += 8)
      for (std::size_t r = 0; r < 8; ++r)
        for (std::size_t c = 0; c < 8; ++c)
          CHECK((v[half + c] >> r & 1) == static_cast<int>(page[half + r] >> c & std::byte{1}));
  }

  TEST_CASE("halves come from and go to different places")
  {
    auto const page = support::noise(40, 5);
    std::byte out[40] = {};
    bytes16 v;
    load_halves(page.data() + 3, page.data() + 21, v);
    store_halves(out + 30, out + 1, v);
    CHECK(std::memcmp(out + 30, page.data() + 3, 8) == 0);
    CHECK(std::memcmp(out + 1, page.data() + 21, 8) == 0);
  }

  TEST_CASE("running sums within 16 bytes wrap like the element")
  {
    check_sums<std::uint8_t, 1>();
    check_sums<std::uint8_t, 4>();
    check_sums<std::uint16_t, 2>();
    check_sums<std::uint16_t, 8>();
    check_sums<std::uint32_t, 4>();
    check_sums<std::uint64_t, 8>();
  }
}
