// Quantisation in kernels: the bytes and values of the host, whatever the shape, the type or the damage.
#include <sora2/codec/quantize.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "support/byte_pages.hpp"
#include "support/device_pages.cuh"

namespace {

using namespace sora2;
using support::byte_rows;
using support::shape;
using support::verdict;
using bytes = std::vector<std::byte>;

using int8_tokens = quantize<>;
using int8_zeros =
    quantize<quantize_config{.symmetric = false, .group = 128, .scale = scale_kind::float32}>;
using int4_channels =
    quantize<quantize_config{.bits = 4, .along = axis::channel, .symmetric = false}>;
using int4_rotated = quantize<quantize_config{.bits = 4, .symmetric = false, .rotate = true}>;
using int2_channels = quantize<quantize_config{
    .bits = 2, .along = axis::channel, .rotate = true, .group = 32, .scale = scale_kind::bfloat16}>;

constexpr shape shapes[] = {{1, 1, 1},    {8, 1, 16},  {3, 31, 1},     {1, 64, 96},
                            {8, 31, 16},  {1, 1, 128}, {1, 64, 64, 4}, {2, 33, 65, 3},
                            {1, 31, 128}, {8, 64, 64}, {1, 3, 320},    {0, 4, 4}};

/// Values of unlike columns with a few outliers.
template <class T>
bytes page(shape of, std::uint64_t seed)
{
  support::random_source next(seed);
  std::vector<T> numbers(of.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t const column = i % of.columns;
    float x = static_cast<float>(next.below(4001)) / 1000.0f - 2.0f;
    x = x * static_cast<float>(1 + column % 5) + static_cast<float>(column % 3);
    if (next.below(97) == 0) x *= 30.0f;
    numbers[i] = from_float<T>(x);
  }
  bytes raw(of.size() * sizeof(T));
  if (!raw.empty()) std::memcpy(raw.data(), numbers.data(), raw.size());
  return raw;
}
template <class T>
tile<T const> tile_of(bytes const& page, shape of)
{
  return of.of(reinterpret_cast<T const*>(page.data()));
}
template <class Codec>
std::size_t stream_size(shape of)
{
  return Codec::encoded_size(of.planes, of.rows - of.skip, of.columns);
}

/// Pages into as much room as they need, a byte less, and at a place that is not aligned; pages that are refused.
template <class Codec, class T>
void check_encode()
{
  byte_rows in(4), out(4), odd(1);
  std::vector<shape> of;
  std::vector<verdict> expected;
  std::vector<bytes> streams;
  auto const add = [&](bytes const& raw, shape s, std::size_t room) {
    streams.emplace_back(room);
    expected.emplace_back(support::encode_here<Codec>(tile_of<T>(raw, s), streams.back(), {}));
    in.add(raw);
    out.add(bytes(room));
    odd.add(bytes(room));
    of.push_back(s);
  };
  for (shape const s : shapes) {
    bytes const raw = page<T>(s, in.size());
    add(raw, s, stream_size<Codec>(s));
    CHECK(expected.back().what == status::ok);
    if (s.size() != 0) add(raw, s, stream_size<Codec>(s) - 1);
  }
  std::size_t const good = in.size();
  for (std::uint32_t const bits : {0x7F800000u, 0xFF800000u, 0x7FC00000u}) {
    bytes bad = page<T>({1, 4, 40}, 1);
    T const x{from_float<T>(bit_cast<float>(bits))};
    std::memcpy(bad.data() + 77 * sizeof(T), &x, sizeof x);
    add(bad, {1, 4, 40}, 1000);
    CHECK(expected.back().what == status::non_finite);
  }
  support::device_array<shape> const shapes_there(of);
  auto const said =
      support::run_there(support::encode_tiles<Codec, T>, in, out, shapes_there.data(), no_model{});
  for (std::size_t i = 0; i < in.size(); ++i) {
    CAPTURE(i);
    CHECK(said[i] == expected[i]);
    if (said[i].what == status::ok)
      CHECK(std::equal(streams[i].begin(), streams[i].end(), out[i].begin()));
  }
  auto const refused =
      support::run_there(support::encode_tiles<Codec, T>, in, odd, shapes_there.data(), no_model{});
  for (std::size_t i = 0; i < good; ++i)
    if (said[i].what == status::ok && of[i].size() != 0) CHECK(refused[i] == status::unsupported);
}

template <class T>
bool same_value(T a, T b)
{
  float const x = to_float(a), y = to_float(b);
  return std::memcmp(&a, &b, sizeof a) == 0 || (x != x && y != y);
}

/// Whole streams, damaged ones, and ones of a wrong size. Rows left out in front are left alone.
template <class Codec, class T>
void check_decode()
{
  byte_rows in(4), out(4);
  std::vector<shape> of;
  std::vector<verdict> expected;
  std::vector<bytes> pages;
  support::random_source next(3);
  auto const add = [&](bytes const& stream, shape s) {
    pages.emplace_back(s.size() * sizeof(T), std::byte{0x5A});
    expected.emplace_back(
        support::decode_here<Codec>(stream, s.of(reinterpret_cast<T*>(pages.back().data())), {}));
    in.add(stream);
    out.add(bytes(s.size() * sizeof(T), std::byte{0x5A}));
    of.push_back(s);
  };
  for (shape const s : shapes) {
    bytes const raw = page<float16>(s, 50 + in.size());
    bytes stream(stream_size<Codec>(s));
    REQUIRE(support::encode_here<Codec>(tile_of<float16>(raw, s), stream, {}));
    add(stream, s);
    if (s.size() > 3000) continue;
    for (int i = 0; i < 3 && s.size() != 0; ++i) {
      bytes bad = stream;
      for (int k = 0; k < 4; ++k)
        bad[next.below(static_cast<std::uint32_t>(bad.size()))] ^=
            static_cast<std::byte>(1 + next.below(255));
      add(bad, s);
      bad.resize(next.below(static_cast<std::uint32_t>(stream.size())));
      add(bad, s);
      CHECK(expected.back().what == status::corrupt_input);
    }
    stream.push_back(std::byte{0});
    add(stream, s);
    CHECK(expected.back().what == status::corrupt_input);
  }
  support::device_array<shape> const shapes_there(of);
  auto const said =
      support::run_there(support::decode_tiles<Codec, T>, in, out, shapes_there.data(), no_model{});
  for (std::size_t i = 0; i < in.size(); ++i) {
    CAPTURE(i);
    CHECK(said[i] == expected[i]);
    auto const* const here = reinterpret_cast<T const*>(pages[i].data());
    auto const* const there = reinterpret_cast<T const*>(out[i].data);
    bool same = true;
    for (std::size_t k = 0; k < of[i].size(); ++k) same = same && same_value(here[k], there[k]);
    CHECK(same);
  }
}

}  // namespace

TEST_SUITE("codec/quantize") {
  TEST_CASE("a kernel writes the streams that the host writes, in whatever room")
  {
    if (!support::have_device()) return;
    check_encode<int8_tokens, float16>();
    check_encode<int8_zeros, float>();
    check_encode<int4_channels, bfloat16>();
    check_encode<int4_rotated, float16>();
    check_encode<int2_channels, float>();
  }

  TEST_CASE("a kernel answers to streams, good and bad, as the host does")
  {
    if (!support::have_device()) return;
    check_decode<int8_tokens, float>();
    check_decode<int8_zeros, bfloat16>();
    check_decode<int4_channels, float16>();
    check_decode<int4_rotated, float>();
    check_decode<int2_channels, bfloat16>();
  }
}
