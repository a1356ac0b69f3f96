// Quantisation of many tiles in kernels, compared with the host: bytes, values, and what is said of damaged streams.
// Smallest use: `support::quantize_there<quantize<>, float16>(); support::dequantize_there<quantize<>, float16, float>();`.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include <sora2/codec/quantize.hpp>

#include "byte_pages.hpp"
#include "device_pages.cuh"

namespace support {

inline constexpr shape quantize_shapes[] = {
    {1, 1, 1},      {8, 1, 16},     {3, 31, 1},   {1, 64, 96}, {8, 31, 16}, {1, 1, 128},
    {1, 64, 64, 4}, {2, 33, 65, 3}, {1, 31, 128}, {8, 64, 64}, {1, 3, 320}, {0, 4, 4}};

template <class T>
std::vector<std::byte> quantize_page(shape of, std::uint64_t seed)
{
  auto const numbers = unlike_columns<T>(of.size(), of.columns, seed);
  std::vector<std::byte> raw(of.size() * sizeof(T));
  if (!raw.empty()) std::memcpy(raw.data(), numbers.data(), raw.size());
  return raw;
}
template <class T>
sora2::tile<T const> tile_of(std::vector<std::byte> const& page, shape of)
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
void quantize_there()
{
  byte_rows in(4), out(4), odd(1);
  std::vector<shape> of;
  std::vector<verdict> expected;
  std::vector<std::vector<std::byte>> streams;
  auto const add = [&](std::vector<std::byte> const& raw, shape s, std::size_t room) {
    streams.emplace_back(room);
    expected.emplace_back(encode_here<Codec>(tile_of<T>(raw, s), streams.back(), {}));
    in.add(raw);
    out.add(std::vector<std::byte>(room));
    odd.add(std::vector<std::byte>(room));
    of.push_back(s);
  };
  for (shape const s : quantize_shapes) {
    std::vector<std::byte> const raw = quantize_page<T>(s, in.size());
    add(raw, s, stream_size<Codec>(s));
    CHECK(expected.back().what == sora2::status::ok);
    if (s.size() != 0) add(raw, s, stream_size<Codec>(s) - 1);
  }
  std::size_t const good = in.size();
  for (std::uint32_t const bits : {0x7F800000u, 0xFF800000u, 0x7FC00000u}) {
    std::vector<std::byte> bad = quantize_page<T>({1, 4, 40}, 1);
    T const x{sora2::from_float<T>(sora2::bit_cast<float>(bits))};
    std::memcpy(bad.data() + 77 * sizeof(T), &x, sizeof x);
    add(bad, {1, 4, 40}, 1000);
    CHECK(expected.back().what == sora2::status::non_finite);
  }
  device_array<shape> const shapes_there(of);
  auto const said =
      run_there(encode_tiles<Codec, T>, in, out, shapes_there.data(), sora2::no_model{});
  for (std::size_t i = 0; i < in.size(); ++i) {
    CAPTURE(i);
    CHECK(said[i] == expected[i]);
    if (said[i].what == sora2::status::ok)
      CHECK(std::equal(streams[i].begin(), streams[i].end(), out[i].begin()));
  }
  auto const refused =
      run_there(encode_tiles<Codec, T>, in, odd, shapes_there.data(), sora2::no_model{});
  for (std::size_t i = 0; i < good; ++i)
    if (said[i].what == sora2::status::ok && of[i].size() != 0)
      CHECK(refused[i] == sora2::status::unsupported);
}

template <class T>
bool same_value(T a, T b)
{
  float const x = sora2::to_float(a), y = sora2::to_float(b);
  return std::memcmp(&a, &b, sizeof a) == 0 || (x != x && y != y);
}

/// Whole streams of values of type From, damaged ones, and ones of a wrong size. Rows left out in front are left alone.
template <class Codec, class From, class T>
void dequantize_there()
{
  byte_rows in(4), out(4);
  std::vector<shape> of;
  std::vector<verdict> expected;
  std::vector<std::vector<std::byte>> pages;
  random_source next(3);
  auto const add = [&](std::vector<std::byte> const& stream, shape s) {
    pages.emplace_back(s.size() * sizeof(T), std::byte{0x5A});
    expected.emplace_back(
        decode_here<Codec>(stream, s.of(reinterpret_cast<T*>(pages.back().data())), {}));
    in.add(stream);
    out.add(std::vector<std::byte>(s.size() * sizeof(T), std::byte{0x5A}));
    of.push_back(s);
  };
  for (shape const s : quantize_shapes) {
    std::vector<std::byte> const raw = quantize_page<From>(s, 50 + in.size());
    std::vector<std::byte> stream(stream_size<Codec>(s));
    REQUIRE(encode_here<Codec>(tile_of<From>(raw, s), stream, {}));
    add(stream, s);
    if (s.size() > 3000) continue;
    for (int i = 0; i < 3 && s.size() != 0; ++i) {
      std::vector<std::byte> bad = stream;
      for (int k = 0; k < 4; ++k)
        bad[next.below(static_cast<std::uint32_t>(bad.size()))] ^=
            static_cast<std::byte>(1 + next.below(255));
      add(bad, s);
      bad.resize(next.below(static_cast<std::uint32_t>(stream.size())));
      add(bad, s);
      CHECK(expected.back().what == sora2::status::corrupt_input);
    }
    stream.push_back(std::byte{0});
    add(stream, s);
    CHECK(expected.back().what == sora2::status::corrupt_input);
  }
  device_array<shape> const shapes_there(of);
  auto const said =
      run_there(decode_tiles<Codec, T>, in, out, shapes_there.data(), sora2::no_model{});
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

}  // namespace support
