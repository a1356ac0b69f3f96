#include <sora2/codec/quantize.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <sora2/codec/bulk.hpp>
#include <support/byte_pages.hpp>
#include <support/quantize_reference.hpp>
#include <support/warps.hpp>

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

using int8_tokens = quantize<quantize_config{}>;
using int8_channels =
    quantize<quantize_config{.along = axis::channel, .scale = scale_kind::bfloat16}>;
using int8_zeros =
    quantize<quantize_config{.symmetric = false, .group = 128, .scale = scale_kind::float32}>;
using int4_tokens = quantize<quantize_config{.bits = 4, .symmetric = false}>;
using int4_channels =
    quantize<quantize_config{.bits = 4, .along = axis::channel, .symmetric = false}>;
using int4_rotated = quantize<quantize_config{.bits = 4, .symmetric = false, .rotate = true}>;
using int4_signed = quantize<quantize_config{.bits = 4, .group = 16, .scale = scale_kind::float32}>;
using int2_tokens = quantize<quantize_config{.bits = 2, .symmetric = false, .group = 8}>;
using int2_channels =
    quantize<quantize_config{.bits = 2, .along = axis::channel, .rotate = true, .group = 32}>;

#define QUANTIZE_ALL                                                                             \
  int8_tokens, int8_channels, int8_zeros, int4_tokens, int4_channels, int4_rotated, int4_signed, \
      int2_tokens, int2_channels

/// One codec of each kind meets all value types; the others float16, since every pair costs seconds to compile.
#define QUANTIZE_ALL_TYPES int8_zeros, int4_channels, int4_rotated
template <class Codec>
inline constexpr bool all_types =
    std::is_same_v<Codec, int8_zeros> || std::is_same_v<Codec, int4_channels> ||
    std::is_same_v<Codec, int4_rotated>;

struct shape {
  std::uint32_t planes, rows, columns;
  [[nodiscard]] std::size_t size() const { return std::size_t{planes} * rows * columns; }
};

template <class Warp>
inline constexpr isa set_of = std::is_same_v<Warp, host_warp>   ? isa::portable
                              : std::is_same_v<Warp, avx2_warp> ? isa::avx2
                                                                : isa::avx512;

/// One encode and one decode for each codec and type, whatever test calls: the host warps through the entries that
/// users call, the warp that watches memory by hand.
template <class Codec, class Warp, class T>
[[gnu::noinline]] result<std::size_t> try_encode(Warp const& w, tile<T const> in,
                                                 view<std::byte> out)
{
  if constexpr (std::is_same_v<Warp, audit_warp>) {
    typename Codec::template scratch<Warp> s;
    return Codec::encode(w, s, in, out);
  } else {
    return encode<Codec>(in, out, {}, set_of<Warp>);
  }
}
template <class Codec, class Warp, class T>
[[gnu::noinline]] status try_decode(Warp const& w, view<std::byte const> in, tile<T> out)
{
  if constexpr (std::is_same_v<Warp, audit_warp>) {
    typename Codec::template scratch<Warp> s;
    return Codec::decode(w, s, in, out);
  } else {
    return decode<Codec>(in, out, {}, set_of<Warp>);
  }
}

template <class Codec, class Warp, class T>
bytes encoded(Warp const& w, std::vector<T> const& values, shape of)
{
  bytes out(Codec::encoded_size(of.planes, of.rows, of.columns));
  auto const n = try_encode<Codec>(w, tile<T const>(values.data(), of.planes, of.rows, of.columns),
                                   view<std::byte>(out));
  REQUIRE(n);
  CHECK(*n == out.size());
  return out;
}
template <class Codec, class T, class Warp>
std::vector<T> decoded(Warp const& w, bytes const& in, shape of)
{
  std::vector<T> out(of.size());
  CHECK(try_decode<Codec>(w, view<std::byte const>(in),
                          tile<T>(out.data(), of.planes, of.rows, of.columns)) == status::ok);
  return out;
}

template <class T>
std::vector<T> sample(shape of, std::uint64_t seed)
{
  return support::unlike_columns<T>(of.size(), of.columns, seed);
}

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b)
{
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class Codec, class T>
void check_against_reference(std::vector<T> const& values, shape of)
{
  CAPTURE(of.planes);
  CAPTURE(of.rows);
  CAPTURE(of.columns);
  auto const slow = support::slow_quantize(values, of.planes, of.rows, of.columns, Codec::config);
  std::vector<float16> halves;
  std::vector<bfloat16> brains;
  std::vector<float> floats;
  for (float x : slow.decoded) {
    halves.push_back(support::slow_output<float16>(x, Codec::config.rotate));
    brains.push_back(support::slow_output<bfloat16>(x, Codec::config.rotate));
    floats.push_back(support::slow_output<float>(x, Codec::config.rotate));
  }
  support::on_all_warps([&](auto const& w) {
    bytes const stream = encoded<Codec>(w, values, of);
    CHECK(stream == slow.bytes);
    if constexpr (all_types<Codec> || std::is_same_v<T, float16>)
      CHECK(same_bits(decoded<Codec, float16>(w, stream, of), halves));
    if constexpr (all_types<Codec> || std::is_same_v<T, bfloat16>)
      CHECK(same_bits(decoded<Codec, bfloat16>(w, stream, of), brains));
    if constexpr (all_types<Codec>) CHECK(same_bits(decoded<Codec, float>(w, stream, of), floats));
  });
}

std::vector<std::uint16_t> case_values(std::string const& name)
{
  bool found = false;
  bytes const raw = support::file_bytes(SORA2_TEST_DATA_DIR "/tensors/" + name, found);
  REQUIRE_MESSAGE(found, name);
  std::vector<std::uint16_t> values(raw.size() / 2);
  std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}
template <class T>
std::vector<T> case_tensor(std::string const& name)
{
  std::vector<T> values;
  for (std::uint16_t bits : case_values(name)) values.push_back(T{bits});
  return values;
}

/// Every value within half a step of its group, and the stream and all decodes as the reference has them.
template <class Codec, class T>
void check_case(std::string const& name, shape of)
{
  CAPTURE(name);
  auto const values = case_tensor<T>(name);
  REQUIRE(values.size() == of.size());
  check_against_reference<Codec>(values, of);
  auto const slow = support::slow_quantize(values, of.planes, of.rows, of.columns, Codec::config);
  auto const back = decoded<Codec, T>(host_warp{}, slow.bytes, of);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double const x = to_float(values[i]), y = to_float(back[i]), step = slow.of_value[i].scale;
    CAPTURE(i);
    CHECK(std::isfinite(y));
    double const rounding = std::ldexp(std::fabs(x) + step, std::is_same_v<T, float16> ? -11 : -8);
    CHECK(std::fabs(x - y) <= 0.5 * step + rounding + 0x1p-25);
  }
}

}  // namespace

TEST_SUITE("codec/quantize") {
  TEST_CASE_TEMPLATE("bytes and values are those of the format's page, on every warp", Codec,
                     QUANTIZE_ALL)
  {
    std::uint64_t seed = 1;
    for (shape of : {shape{1, 1, 1}, shape{2, 3, 7}, shape{1, 9, 80}, shape{1, 5, 96},
                     shape{2, 4, 128}, shape{1, 33, 65}, shape{1, 3, 320}})
      check_against_reference<Codec>(sample<float16>(of, ++seed), of);
    if constexpr (all_types<Codec>) {
      shape const of{1, 5, 100};
      check_against_reference<Codec>(sample<bfloat16>(of, 90), of);
      check_against_reference<Codec>(sample<float>(of, 91), of);
    }
  }
  TEST_CASE("pages of a cache")
  {
    shape const of{2, 64, 64}, last{1, 70, 64};
    check_against_reference<int4_channels>(sample<float16>(of, 5), of);
    check_against_reference<int4_channels>(sample<float16>(last, 6), last);
    check_against_reference<int4_rotated>(sample<float16>(of, 7), of);
    check_against_reference<int8_tokens>(sample<float16>(of, 8), of);
  }

  TEST_CASE_TEMPLATE("tiles without values have empty streams", Codec, QUANTIZE_ALL)
  {
    for (shape of : {shape{0, 4, 4}, shape{4, 0, 4}, shape{4, 4, 0}}) {
      std::vector<float16> const none;
      CHECK(Codec::encoded_size(of.planes, of.rows, of.columns) == 0);
      support::on_all_warps([&](auto const& w) {
        CHECK(encoded<Codec>(w, none, of).empty());
        CHECK(decoded<Codec, float16>(w, {}, of).empty());
      });
      float16 x;
      std::byte one{};
      CHECK(decode<Codec>(view<std::byte const>(&one, 1),
                          tile<float16>(&x, of.planes, of.rows, of.columns)) ==
            status::corrupt_input);
    }
  }

  TEST_CASE_TEMPLATE("the bound holds for any shape and type", Codec, QUANTIZE_ALL)
  {
    for (std::uint32_t columns : {1u, 2u, 7u, 63u, 64u, 65u, 256u})
      for (std::uint32_t rows : {1u, 2u, 63u, 65u}) {
        std::size_t const n = std::size_t{3} * rows * columns;
        CHECK(Codec::encoded_size(3, rows, columns) <= Codec::encoded_bound(n * 2));
        CHECK(Codec::encoded_size(3, rows, columns) <= Codec::encoded_bound(n * 4));
      }
  }

  TEST_CASE_TEMPLATE("values come back within half a step", Codec, QUANTIZE_ALL_TYPES)
  {
    if (Codec::config.rotate) return;
    shape const of{2, 70, 72};
    auto const values = sample<float>(of, 11);
    auto const slow = support::slow_quantize(values, of.planes, of.rows, of.columns, Codec::config);
    auto const back =
        decoded<Codec, float>(host_warp{}, encoded<Codec>(host_warp{}, values, of), of);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const step = slow.of_value[i].scale;
      CHECK(std::fabs(static_cast<double>(values[i]) - static_cast<double>(back[i])) <=
            step * 0.50001);
    }
  }

  TEST_CASE_TEMPLATE("room that is too small is refused and nothing beyond it is written", Codec,
                     QUANTIZE_ALL)
  {
    shape const of{1, 3, 70};
    auto const values = sample<float16>(of, 12);
    std::size_t const need = Codec::encoded_size(of.planes, of.rows, of.columns);
    support::on_all_warps([&](auto const& w) {
      for (std::size_t room : {std::size_t{0}, need / 2, need - 1}) {
        bytes out(room);
        auto const n = try_encode<Codec>(w, tile<float16 const>(values.data(), 1, 3, 70),
                                         view<std::byte>(out));
        CHECK(n.error() == status::output_too_small);
      }
    });
  }

  TEST_CASE_TEMPLATE("a stream cut or grown anywhere is refused", Codec, QUANTIZE_ALL)
  {
    shape const of{1, 3, 70};
    bytes const stream = encoded<Codec>(host_warp{}, sample<float16>(of, 13), of);
    std::vector<float16> out(of.size());
    tile<float16> const to(out.data(), of.planes, of.rows, of.columns);
    for (std::size_t cut = 0; cut < stream.size(); ++cut) {
      bytes const part(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(cut));
      CHECK(decode<Codec>(view<std::byte const>(part), to) == status::corrupt_input);
    }
    bytes longer = stream;
    longer.push_back(std::byte{0});
    CHECK(decode<Codec>(view<std::byte const>(longer), to) == status::corrupt_input);
  }

  TEST_CASE_TEMPLATE("any damaged byte decodes to something, the same on every warp", Codec,
                     QUANTIZE_ALL)
  {
    shape const of{1, 3, 70};
    bytes const stream = encoded<Codec>(host_warp{}, sample<float16>(of, 14), of);
    for (std::size_t at = 0; at < stream.size(); at += 5)
      for (std::byte flip : {std::byte{0xFF}, std::byte{0x40}}) {
        bytes damaged = stream;
        damaged[at] ^= flip;
        std::vector<float16> out(of.size()), first;
        tile<float16> const to(out.data(), of.planes, of.rows, of.columns);
        for (isa set : {isa::portable, isa::avx2, isa::avx512}) {
          if (set > best_isa()) continue;
          CHECK(decode<Codec>(view<std::byte const>(damaged), to, {}, set) == status::ok);
          if (set == isa::portable) first = out;
          // A damaged scale of a wide type may lead beyond what floats hold, on one way earlier than on another.
          if (Codec::config.scale != scale_kind::float16) continue;
          bool same = true;
          for (std::size_t i = 0; i < out.size(); ++i)
            same = same && (out[i] == first[i] ||
                            (std::isnan(to_float(out[i])) && std::isnan(to_float(first[i]))));
          CHECK(same);
        }
      }
  }

  TEST_CASE_TEMPLATE("streams at odd addresses", Codec, QUANTIZE_ALL)
  {
    shape const of{1, 3, 70};
    auto const values = sample<float16>(of, 15);
    bytes const stream = encoded<Codec>(host_warp{}, values, of);
    for (isa set : {isa::portable, isa::avx2, isa::avx512}) {
      if (set > best_isa()) continue;
      bytes shifted(stream.size() + 1);
      view<std::byte> const room = view<std::byte>(shifted).from(1);
      auto const n = encode<Codec>(tile<float16 const>(values.data(), 1, 3, 70), room, {}, set);
      REQUIRE(n);
      CHECK(std::memcmp(room.data, stream.data(), stream.size()) == 0);
      std::vector<float16> a(of.size()), b(of.size());
      CHECK(decode<Codec>(view<std::byte const>(room), tile<float16>(a.data(), 1, 3, 70), {},
                          set) == status::ok);
      CHECK(decode<Codec>(view<std::byte const>(stream), tile<float16>(b.data(), 1, 3, 70), {},
                          set) == status::ok);
      CHECK(same_bits(a, b));
    }
  }

  TEST_CASE_TEMPLATE("rows from the middle of planes, and nothing around them is touched", Codec,
                     int4_tokens, int4_channels, int4_rotated, int2_channels)
  {
    shape const of{3, 9, 40}, rest{3, 5, 40};
    auto const values = sample<float16>(of, 16);
    std::vector<float16> dense;
    for (std::uint32_t p = 0; p < 3; ++p)
      for (std::size_t i = 4 * 40; i < 9 * 40; ++i) dense.push_back(values[p * 9 * 40 + i]);
    tile<float16 const> const part = tile<float16 const>(values.data(), 3, 9, 40).rows_from(4);
    support::on_all_warps([&](auto const& w) {
      bytes const expected = encoded<Codec>(w, dense, rest);
      bytes out(expected.size());
      auto const n = try_encode<Codec>(w, part, view<std::byte>(out));
      REQUIRE(n);
      CHECK(out == expected);
      std::vector<float16> back(of.size(), float16{0x1234});
      CHECK(try_decode<Codec>(w, view<std::byte const>(out),
                              tile<float16>(back.data(), 3, 9, 40).rows_from(4)) == status::ok);
      auto const straight = decoded<Codec, float16>(w, out, rest);
      for (std::size_t p = 0; p < 3; ++p)
        for (std::size_t i = 0; i < 9 * 40; ++i) {
          float16 const y = back[p * 9 * 40 + i];
          CHECK(y == (i < 4 * 40 ? float16{0x1234} : straight[p * 5 * 40 + i - 4 * 40]));
        }
    });
  }

  TEST_CASE_TEMPLATE("NaN and infinity are refused wherever they stand", Codec, QUANTIZE_ALL)
  {
    shape const of{1, 3, 70};
    for (std::size_t at : {std::size_t{0}, std::size_t{69}, std::size_t{100}, of.size() - 1})
      for (unsigned bad : {0x7C00u, 0xFC00u, 0x7E00u, 0xFE01u, 0x7C01u}) {
        auto values = sample<float16>(of, 17);
        values[at] = float16{static_cast<std::uint16_t>(bad)};
        std::vector<float> wide;
        for (float16 v : values) wide.push_back(to_float(v));
        bytes out(Codec::encoded_size(1, 3, 70));
        for (isa set : {isa::portable, isa::avx2, isa::avx512}) {
          if (set > best_isa()) continue;
          CHECK(encode<Codec>(tile<float16 const>(values.data(), 1, 3, 70), view<std::byte>(out),
                              {}, set)
                    .error() == status::non_finite);
          if constexpr (all_types<Codec>)
            CHECK(encode<Codec>(tile<float const>(wide.data(), 1, 3, 70), view<std::byte>(out), {},
                                set)
                      .error() == status::non_finite);
        }
      }
  }

  TEST_CASE("ranges that the scale cannot hold are refused, and those at the edge are not")
  {
    bytes out(4096);
    std::vector<float> values(64, 0.0f);
    auto const answer = [&](auto codec) {
      return encode<decltype(codec)>(tile<float const>(values.data(), 1, 64, 1),
                                     view<std::byte>(out))
          .error();
    };
    values[3] = 1e30f;
    CHECK(answer(int4_channels{}) == status::unsupported);
    CHECK(answer(int8_zeros{}) == status::ok);
    values[4] = -std::numeric_limits<float>::max();
    values[3] = std::numeric_limits<float>::max();
    CHECK(answer(int8_zeros{}) == status::unsupported);
    values.assign(64, 0.0f);
    values[0] = 65504.0f;
    values[1] = -65504.0f;
    CHECK(answer(int4_channels{}) == status::ok);
  }

  TEST_CASE_TEMPLATE("groups of one value come back exactly", Codec, int8_tokens, int4_tokens,
                     int4_channels, int2_tokens)
  {
    shape const of{1, 6, 64};
    float const constants[] = {0.0f, 3.5f, -2.0f, 65504.0f, -65504.0f, 0x1p-24f};
    for (float c : constants) {
      std::vector<float16> const values(of.size(), to_float16(c));
      support::on_all_warps([&](auto const& w) {
        CHECK(same_bits(decoded<Codec, float16>(w, encoded<Codec>(w, values, of), of), values));
      });
    }
    std::vector<float16> const zeros(of.size(), float16{0x8000});
    for (float16 y :
         decoded<Codec, float16>(host_warp{}, encoded<Codec>(host_warp{}, zeros, of), of))
      CHECK(to_float(y) == 0.0f);
  }

  TEST_CASE("listed cases")
  {
    shape const page{1, 16, 64};  // [seq][head] as rows
    for (char const* name : {"constant_groups.f16.bin", "fp16_max_range.f16.bin",
                             "tiny_range.f16.bin", "denormals.f16.bin", "channel_outlier.f16.bin",
                             "many_ties.f16.bin", "negatives_only.f16.bin"}) {
      check_case<int4_tokens, float16>(name, page);
      check_case<int4_channels, float16>(name, page);
      check_case<int8_tokens, float16>(name, page);
    }
    check_case<int4_tokens, float16>("dim80.f16.bin", {1, 10, 80});
    check_case<int4_tokens, float16>("dim96.f16.bin", {1, 10, 96});
    check_case<int4_tokens, float16>("dim1_and_odd.f16.bin", {1, 6, 7});
    check_case<int8_channels, bfloat16>("bf16_huge.bf16.bin", page);
    check_case<
        quantize<quantize_config{.bits = 4, .symmetric = false, .scale = scale_kind::bfloat16}>,
        bfloat16>("bf16_huge.bf16.bin", page);

    // Values near 8 in groups of 64 and 32: a padded zero in a tail would stretch its range to 8 and more.
    auto const near_eight = case_tensor<float16>("dim96.f16.bin");
    auto const slow = support::slow_quantize(near_eight, 1, 10, 96, int4_tokens::config);
    for (std::size_t first = 0; first < near_eight.size(); first += first % 96 == 0 ? 64 : 32) {
      float low = to_float(near_eight[first]), high = low;
      for (std::size_t i = first; i < first + (first % 96 == 0 ? 64 : 32); ++i) {
        low = std::fmin(low, to_float(near_eight[i]));
        high = std::fmax(high, to_float(near_eight[i]));
      }
      CHECK(slow.of_value[first].scale * 15.0f == doctest::Approx(high - low).epsilon(0.002));
      CHECK(high - low < 8.0f);
    }

    auto const damaged = case_tensor<float16>("nan_inf.f16.bin");
    bytes out(int4_tokens::encoded_size(1, 16, 64));
    CHECK(encode<int4_tokens>(tile<float16 const>(damaged.data(), 1, 16, 64), view<std::byte>(out))
              .error() == status::non_finite);
  }

  TEST_CASE_TEMPLATE(
      "floats next to the end of their range come back alike and finite, or are refused", Codec,
      int4_signed,
      quantize<quantize_config{.bits = 4, .rotate = true, .scale = scale_kind::float32}>)
  {
    for (float const top : {0x1.FFFFFEp127f, 0x1.8p127f, 0x1p124f, 0x1p121f})
      for (bool const equal : {true, false}) {
        std::vector<float> values(64, top), first(64), back(64);
        if (!equal)
          for (std::size_t i = 0; i < 64; i += 3) values[i] = -top / static_cast<float>(i + 1);
        bytes stream(Codec::encoded_size(1, 1, 64));
        auto const n = encode<Codec>(tile<float const>(values.data(), 1, 1, 64),
                                     view<std::byte>(stream), {}, isa::portable);
        CHECK((n || n.error() == status::unsupported || n.error() == status::non_finite));
        if (top == 0x1p121f && !Codec::config.rotate) CHECK(n);
        if (!n) continue;
        for (isa set : {isa::portable, isa::avx2, isa::avx512}) {
          if (set > best_isa()) continue;
          REQUIRE(decode<Codec>(view<std::byte const>(stream), tile<float>(back.data(), 1, 1, 64),
                                {}, set) == status::ok);
          for (float const x : back) CHECK(std::isfinite(x));
          if (set == isa::portable) first = back;
          CHECK(same_bits(back, first));
        }
      }
  }

  TEST_CASE("all 256 bytes unpack as the table says, signed and unsigned")
  {
    bytes all(256);
    for (std::size_t i = 0; i < 256; ++i) all[i] = static_cast<std::byte>(i);
    using nibbles = quantize<quantize_config{.bits = 4, .group = 1024}>;
    using plain = quantize<quantize_config{.bits = 4, .symmetric = false, .group = 1024}>;
    bytes with_scale = all, with_zero = all;
    for (std::uint16_t x : {std::uint16_t{0x3C00}}) {  // 1
      with_scale.push_back(static_cast<std::byte>(x & 0xFF));
      with_scale.push_back(static_cast<std::byte>(x >> 8));
    }
    with_zero.insert(with_zero.end(), with_scale.end() - 2, with_scale.end());
    with_zero.resize(with_zero.size() + 2);
    shape const of{1, 1, 512};
    support::on_all_warps([&](auto const& w) {
      auto const s = decoded<nibbles, float16>(w, with_scale, of);
      auto const u = decoded<plain, float16>(w, with_zero, of);
      for (std::size_t i = 0; i < 512; ++i) {
        int const nibble = static_cast<int>(i / 2) >> (i % 2 * 4) & 15;
        CHECK(to_float(s[i]) == static_cast<float>(nibble < 8 ? nibble : nibble - 16));
        CHECK(to_float(u[i]) == static_cast<float>(nibble));
      }
    });
  }

  TEST_CASE("formats are told apart")
  {
    CHECK(int4_tokens::format() != int4_channels::format());
    CHECK(int4_tokens::format() != int4_rotated::format());
    CHECK(int8_tokens::format() != int4_tokens::format());
    CHECK(int8_tokens::format() == quantize<>::format());
  }
}
