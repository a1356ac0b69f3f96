// The context coder in kernels: the bytes and values of the host, and the host's answer to streams that are cut or damaged.
#include <sora2/codec/context.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "support/byte_pages.hpp"
#include "support/device_pages.cuh"

namespace {

using namespace sora2;
using support::byte_rows;
using support::shape;
using support::verdict;
using bytes = std::vector<std::byte>;

using keys = context<context_k>;
using values = context<context_v>;

/// Tables here and on the device.
struct shared_table {
  explicit shared_table(context_table const& t) : here(std::make_unique<context_table>(t)) {}
  std::unique_ptr<context_table> here;
  support::device_array<context_table> copy{std::vector<context_table>(1, *here)};

  [[nodiscard]] context_model model() const { return here->model(); }
  [[nodiscard]] context_model there() const
  {
    return {copy.data()->slots, copy.data()->symbols, here->id};
  }
};

constexpr shape shapes[] = {{1, 1, 1},    {8, 1, 16},  {3, 31, 1},     {1, 64, 96},
                            {8, 31, 16},  {1, 1, 128}, {1, 64, 64, 4}, {2, 33, 65, 3},
                            {1, 31, 128}, {8, 64, 64}, {1, 40, 256}};

/// Channels of unlike sizes in rows of unlike sizes, and a few values that are far off.
template <class T>
bytes page(shape of, std::uint64_t seed)
{
  support::random_source next(seed);
  std::vector<T> numbers(of.size());
  float loud = 1.0f;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t const column = i % of.columns;
    if (column == 0) loud = static_cast<float>(1u << next.below(4));
    float x = static_cast<float>(next.below(4001)) / 1000.0f - 2.0f;
    x = (x + static_cast<float>(column % 3)) * static_cast<float>(1 + column % 5) * loud;
    if (next.below(700) == 0) x *= 300.0f;
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

template <class Codec, class T>
bytes stream_of(bytes const& page, shape of, context_model const& m)
{
  bytes stream(Codec::encoded_bound(page.size()));
  auto const n = support::encode_here<Codec>(tile_of<T>(page, of), stream, m);
  REQUIRE(n);
  stream.resize(*n);
  return stream;
}

/// Pages into as much room as the bound says and into too little of it; pages that are refused.
template <class Codec, class T>
void check_encode(shared_table const& table)
{
  byte_rows in(4), out(4);
  std::vector<shape> of;
  std::vector<verdict> expected;
  std::vector<bytes> streams;
  auto const add = [&](bytes const& raw, shape s, std::size_t room) {
    streams.emplace_back(room);
    expected.emplace_back(
        support::encode_here<Codec>(tile_of<T>(raw, s), streams.back(), table.model()));
    in.add(raw);
    out.add(bytes(room));
    of.push_back(s);
  };
  for (shape const s : shapes) {
    bytes const raw = page<T>(s, in.size());
    add(raw, s, Codec::encoded_bound(raw.size()));
    CHECK(expected.back().what == status::ok);
    if (s.size() < 3000) {
      add(raw, s, s.size() * 2);
      add(raw, s, s.size());
    }
  }
  bytes bad = page<T>({1, 4, 40}, 1);
  T const nan{from_float<T>(bit_cast<float>(0x7F800001u))};
  std::memcpy(bad.data() + 77 * sizeof(T), &nan, sizeof nan);
  add(bad, {1, 4, 40}, 1000);
  CHECK(expected.back().what == status::non_finite);
  add(page<T>({1, 1, 257}, 1), {1, 1, 257}, 4000);
  CHECK(expected.back().what == status::unsupported);

  support::device_array<shape> const shapes_there(of);
  auto const said = support::run_there(support::encode_tiles<Codec, T>, in, out,
                                       shapes_there.data(), table.there());
  for (std::size_t i = 0; i < in.size(); ++i) {
    CAPTURE(i);
    CHECK(said[i] == expected[i]);
    if (said[i].what == status::ok)
      CHECK(std::equal(streams[i].begin(), streams[i].begin() + said[i].size, out[i].begin()));
  }
}

/// Whole streams, and ones that are damaged or too long. Rows left out in front are left alone.
template <class Codec, class T>
void check_decode(shared_table const& table)
{
  byte_rows in(4), out(4);
  std::vector<shape> of;
  std::vector<verdict> expected;
  std::vector<bytes> pages;
  support::random_source next(3);
  auto const add = [&](bytes const& stream, shape s) {
    pages.emplace_back(s.size() * sizeof(T), std::byte{0x5A});
    expected.emplace_back(support::decode_here<Codec>(
        stream, s.of(reinterpret_cast<T*>(pages.back().data())), table.model()));
    in.add(stream);
    out.add(bytes(s.size() * sizeof(T), std::byte{0x5A}));
    of.push_back(s);
  };
  for (shape const s : shapes) {
    bytes stream = stream_of<Codec, T>(page<T>(s, 50 + in.size()), s, table.model());
    add(stream, s);
    CHECK(expected.back().what == status::ok);
    if (s.size() > 3000) continue;
    for (int i = 0; i < 12; ++i) {
      bytes bad = stream;
      std::size_t const most = i < 8 ? 100 : bad.size();
      bad[next.below(static_cast<std::uint32_t>(least(most, bad.size())))] ^=
          static_cast<std::byte>(1 + next.below(255));
      add(bad, s);
    }
    stream.push_back(std::byte{0});
    add(stream, s);
    stream.push_back(std::byte{0});
    add(stream, s);
  }
  support::device_array<shape> const shapes_there(of);
  auto const said = support::run_there(support::decode_tiles<Codec, T>, in, out,
                                       shapes_there.data(), table.there());
  int good = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    CAPTURE(i);
    CHECK(said[i] == expected[i]);
    auto const as_here = [&](std::size_t first, std::size_t n) {
      return std::memcmp(pages[i].data() + first, out[i].data + first, n) == 0;
    };
    if (said[i].what == status::ok) {
      ++good;
      CHECK(as_here(0, pages[i].size()));
    }
    std::size_t const row = of[i].columns * sizeof(T), plane = of[i].rows * row;
    for (std::size_t p = 0; p < of[i].planes; ++p) CHECK(as_here(p * plane, of[i].skip * row));
  }
  CHECK(good < static_cast<int>(in.size()) / 2);
}

}  // namespace

TEST_SUITE("codec/context") {
  TEST_CASE("a kernel writes the streams that the host writes, in whatever room")
  {
    if (!support::have_device()) return;
    shared_table const table(builtin_context_table());
    check_encode<keys, float16>(table);
    check_encode<values, float>(table);
  }

  TEST_CASE("a kernel answers to streams, good and bad, as the host does")
  {
    if (!support::have_device()) return;
    std::vector<std::uint64_t> counts(context_table::classes * 255, 10);
    shared_table const built_in(builtin_context_table()), own(make_context_table(counts));
    check_decode<keys, float16>(built_in);
    check_decode<values, bfloat16>(own);
  }

  TEST_CASE("a stream that is cut anywhere is refused, and nothing behind the cut is read")
  {
    if (!support::have_device()) return;
    shared_table const table(builtin_context_table());
    shape const of{2, 9, 40};
    bytes const stream = stream_of<values, float>(page<float>(of, 7), of, table.model());
    support::device_array<std::byte> const out(bytes(of.size() * 2));
    support::device_array<verdict> const said(std::vector<verdict>(1));
    support::device_array<support::slice> const to({{0, of.size() * 2}});
    support::device_array<shape> const shape_there({of});
    for (std::size_t cut = 0; cut < stream.size(); cut += cut < 150 ? 1 : 23) {
      support::device_array<std::byte> const in(
          {stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(cut)});
      support::device_array<support::slice> const from({{0, cut}});
      support::decode_tiles<values, bfloat16><<<1, 32>>>(in.data(), from.data(), out.data(),
                                                         to.data(), shape_there.data(),
                                                         table.there(), said.data());
      verdict const v = said.back()[0];
      CHECK(v == verdict(status::corrupt_input));
    }
  }

  TEST_CASE("a kernel without tables is told so")
  {
    if (!support::have_device()) return;
    byte_rows in(4), out(4);
    in.add(bytes(100));
    out.add(bytes(64));
    support::device_array<shape> const of({{1, 1, 32}});
    auto const said = support::run_there(support::decode_tiles<values, bfloat16>, in, out,
                                         of.data(), context_model{});
    CHECK(said[0] == verdict(status::wrong_table));
  }
}
