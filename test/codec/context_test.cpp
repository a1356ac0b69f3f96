#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include <sora2/codec/bulk.hpp>
#include <sora2/codec/context.hpp>
#include <support/entropy_reference.hpp>
#include <support/warps.hpp>

using sora2::bfloat16;
using sora2::context;
using sora2::context_config;
using sora2::context_k;
using sora2::context_v;
using sora2::float16;
using sora2::isa;
using sora2::status;
using sora2::tile;
using sora2::view;
using support::bytes;

namespace {

using sharp = context<context_config{.step = 0.05f, .row_gain = 4, .mean_shift = 3}>;
using plain = context<context_k>;
using tall = context<context_config{.step = 2.0f, .row_gain = 1, .columns = 40}>;

std::vector<isa> sets()
{
  std::vector<isa> out;
  for (isa const set : {isa::portable, isa::avx2, isa::avx512})
    if (set <= sora2::best_isa()) out.push_back(set);
  return out;
}

/// Values with the habits of K and V: channels with means and sizes of their own, rows that differ in size.
struct page {
  std::uint32_t planes, rows, columns;
  std::vector<float> values;

  [[nodiscard]] tile<float const> view() const { return {values.data(), planes, rows, columns}; }
};

page make_page(std::uint32_t planes, std::uint32_t rows, std::uint32_t columns, std::uint64_t seed,
               float size = 1.0f)
{
  support::numbers g{seed};
  auto const unit = [&] {  // roughly normal
    float sum = 0;
    for (int i = 0; i < 6; ++i) sum += static_cast<float>(g.next() % 4096) / 4096.0f - 0.5f;
    return sum;
  };
  page out{planes, rows, columns, std::vector<float>(std::size_t{planes} * rows * columns)};
  for (std::uint32_t p = 0; p < planes; ++p) {
    std::vector<float> mean(columns), deviation(columns);
    for (std::uint32_t c = 0; c < columns; ++c) {
      mean[c] = unit() * 2;
      deviation[c] = std::exp2(unit() * 2);
    }
    for (std::uint32_t r = 0; r < rows; ++r) {
      float const loud = std::exp2(unit());
      for (std::uint32_t c = 0; c < columns; ++c)
        out.values[(std::size_t{p} * rows + r) * columns + c] =
            size * (mean[c] + deviation[c] * unit()) * loud;
    }
  }
  return out;
}

template <class T>
std::vector<T> as(page const& p)
{
  std::vector<T> out(p.values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = sora2::from_float<T>(p.values[i]);
  return out;
}

/// The sets that all warps are compared on, for two pairs of codec and type; the others run on host_warp alone, since
/// every instantiation takes seconds to compile.
template <class Codec, class T>
inline constexpr bool on_all_sets =
    (std::is_same_v<Codec, context<context_k>> && std::is_same_v<T, float16>) ||
    (std::is_same_v<Codec, context<context_v>> && std::is_same_v<T, float>);

template <class Codec, class T>
sora2::result<std::size_t> write_page(tile<T const> in, view<std::byte> out,
                                      isa set = isa::portable, sora2::context_model const& m = {})
{
  if constexpr (on_all_sets<Codec, T>)
    return sora2::encode<Codec>(in, out, m, set);
  else {
    typename Codec::template scratch<sora2::host_warp> s;
    return Codec::encode(sora2::host_warp{}, s, in, out, m);
  }
}
template <class Codec, class T>
status read_page(view<std::byte const> in, tile<T> out, isa set = isa::portable,
                 sora2::context_model const& m = {})
{
  if constexpr (on_all_sets<Codec, T>)
    return sora2::decode<Codec>(in, out, m, set);
  else {
    typename Codec::template scratch<sora2::host_warp> s;
    return Codec::decode(sora2::host_warp{}, s, in, out, m);
  }
}

template <class Codec, class T>
bytes pack(tile<T const> in, isa set = isa::portable, sora2::context_model const& m = {})
{
  bytes out(Codec::encoded_bound(in.size() * sizeof(T)));
  auto const n = write_page<Codec, T>(in, out, set, m);
  REQUIRE(n);
  REQUIRE(*n <= out.size());
  out.resize(*n);
  return out;
}

/// What a reader gets: each value rounded to the step of its row.
template <class Codec, class T>
void round_trip(page const& source)
{
  std::vector<T> const raw = as<T>(source);
  tile<T const> const in{raw.data(), source.planes, source.rows, source.columns};
  bytes const packed = pack<Codec>(in, isa::portable);
  std::vector<float> first;
  for (isa const set : sets()) {
    CHECK(pack<Codec>(in, set) == packed);
    std::vector<float> out(raw.size());
    REQUIRE(read_page<Codec>(packed, tile<float>{out.data(), in.planes, in.rows, in.columns},
                             set) == status::ok);
    if (first.empty()) first = out;
    CHECK((out.empty() || std::memcmp(out.data(), first.data(), out.size() * sizeof(float)) == 0));
    std::vector<T> same(raw.size());
    REQUIRE(read_page<Codec>(packed, tile<T>{same.data(), in.planes, in.rows, in.columns}, set) ==
            status::ok);
    bool rounded = true;
    for (std::size_t i = 0; i < same.size(); ++i) {
      T const expected = sora2::from_float<T>(first[i]);
      rounded = rounded && std::memcmp(&same[i], &expected, sizeof(T)) == 0;
    }
    CHECK(rounded);
  }

  // The step of a row is at most as far from the plane's as the quarters say, and half an octave of rounding.
  for (std::uint32_t p = 0; p < in.planes; ++p) {
    double plane = 0;
    for (std::uint32_t i = 0; i < in.rows * in.columns; ++i)
      plane +=
          std::abs(sora2::to_float(in.row(p, 0)[i])) / static_cast<double>(in.rows * in.columns);
    for (std::uint32_t r = 0; r < in.rows; ++r) {
      double own = 0, worst = 0;
      for (std::uint32_t c = 0; c < in.columns; ++c) {
        float const x = sora2::to_float(in.row(p, r)[c]);
        own += std::abs(static_cast<double>(x)) / in.columns;
        worst = std::max(worst, std::abs(static_cast<double>(x) -
                                         first[(std::size_t{p} * in.rows + r) * in.columns + c]));
      }
      double const blend =
          own == 0 ? plane : plane * std::pow(own / plane, Codec::config.row_gain / 4.0);
      CHECK(worst <= blend * Codec::config.step / 2 * (Codec::config.row_gain == 0 ? 1.005 : 1.45));
    }
  }
}

}  // namespace

TEST_SUITE("codec/context") {
  TEST_CASE("pages of many shapes and types come back within half a step, alike on all sets")
  {
    round_trip<context<context_k>, float16>(make_page(3, 64, 64, 1));
    round_trip<context<context_k>, float16>(make_page(1, 64, 256, 10));
    round_trip<context<context_k>, float16>(make_page(4, 64, 32, 6, 100.0f));
    round_trip<context<context_k>, float16>(make_page(7, 70, 33, 11));
    round_trip<context<context_v>, float>(make_page(2, 33, 80, 4, 1e-30f));
    round_trip<context<context_v>, float>(make_page(1, 60, 128, 3, 1e30f));
    round_trip<context<context_v>, float>(make_page(1, 1, 1, 7));
    round_trip<context<context_v>, float>(make_page(1, 200, 7, 8));
    round_trip<context<context_v>, float>(make_page(5, 3, 31, 9));
    round_trip<context<context_v>, bfloat16>(make_page(1, 64, 128, 3, 1e30f));
    round_trip<sharp, float>(make_page(2, 40, 96, 5));
    round_trip<tall, float>(make_page(7, 70, 33, 11));
  }

  TEST_CASE("planes apart from each other, and rows left out in front")
  {
    page const source = make_page(3, 64, 64, 12);
    tile<float const> const late = source.view().rows_from(4);
    bytes const packed = pack<context<context_v>>(late);
    page dense{3, 60, 64, {}};
    for (std::uint32_t p = 0; p < 3; ++p)
      dense.values.insert(dense.values.end(), late.row(p, 0), late.row(p, 0) + 60 * 64);
    CHECK(pack<context<context_v>>(dense.view()) == packed);
    page a = source, b = dense;
    REQUIRE(read_page<context<context_v>>(
                packed, tile<float>{a.values.data(), 3, 64, 64}.rows_from(4)) == status::ok);
    REQUIRE(read_page<context<context_v>>(packed, tile<float>{b.values.data(), 3, 60, 64}) ==
            status::ok);
    for (std::uint32_t p = 0; p < 3; ++p) {
      CHECK(std::memcmp(a.view().row(p, 4), b.view().row(p, 0), 60 * 64 * sizeof(float)) == 0);
      CHECK(std::memcmp(a.view().row(p, 0), source.view().row(p, 0), 4 * 64 * sizeof(float)) == 0);
    }
  }

  TEST_CASE("no values at all")
  {
    for (auto const& [planes, rows, columns] :
         {std::array{0u, 4u, 4u}, std::array{1u, 0u, 4u}, std::array{1u, 4u, 0u}}) {
      tile<float const> const none{nullptr, planes, rows, columns};
      bytes const packed = pack<plain>(none);
      CHECK(packed.empty());
      CHECK(read_page<plain>(packed, tile<float>{nullptr, planes, rows, columns}) == status::ok);
      CHECK(read_page<plain>(bytes(2), tile<float>{nullptr, planes, rows, columns}) ==
            status::corrupt_input);
    }
  }

  TEST_CASE("extreme values")
  {
    // Zeros, equal values, one loud value among quiet ones, the smallest and the largest there are.
    page zeros = make_page(2, 40, 40, 1, 0.0f);
    round_trip<context<context_k>, float16>(zeros);
    bytes const packed = pack<context<context_v>>(zeros.view());
    CHECK(packed.size() < 2 * 40 * 40 / 4);
    page equal = zeros;
    for (float& x : equal.values) x = -3.25f;
    round_trip<context<context_v>, bfloat16>(equal);
    page loud = make_page(1, 64, 64, 3);
    loud.values[777] = -4000.0f;
    loud.values[4000] = 60000.0f;
    round_trip<context<context_k>, float16>(loud);
    round_trip<context<context_v>, float>(loud);
    page tiny = make_page(1, 64, 64, 4, 1e-44f);
    std::vector<float> out(tiny.values.size());
    REQUIRE(read_page<plain>(pack<plain>(tiny.view()), tile<float>{out.data(), 1, 64, 64}) ==
            status::ok);
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::abs(out[i] - tiny.values[i]) < 1e-38f);

    // A largest value that would come back as infinity is refused.
    std::vector<float16> top(4096, float16{0x3C00});
    top[5] = float16{0x7BFF};
    bytes room(plain::encoded_bound(8192));
    auto const n = write_page<plain>(tile<float16 const>{top.data(), 1, 64, 64}, room);
    if (n) {
      std::vector<float16> back(4096);
      REQUIRE(read_page<plain>(view<std::byte const>{room.data(), *n},
                               tile<float16>{back.data(), 1, 64, 64}) == status::ok);
      CHECK(std::isfinite(sora2::to_float(back[5])));
    } else
      CHECK(n.error() == status::unsupported);
    std::vector<float> huge(4096, 3e38f);
    CHECK(write_page<plain>(tile<float const>{huge.data(), 1, 64, 64}, room).error() ==
          status::unsupported);
  }

  TEST_CASE("values that are not finite are refused")
  {
    bytes room(plain::encoded_bound(64 * 70 * 4));
    for (float const bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()})
      for (std::size_t at : {0u, 69u, 64u * 70 - 1})
        for (isa const set : sets()) {
          page p = make_page(1, 64, 70, 2);
          p.values[at] = bad;
          CHECK(write_page<plain>(p.view(), room, set).error() == status::non_finite);
          std::vector<float16> const half = as<float16>(p);
          CHECK(write_page<plain>(tile<float16 const>{half.data(), 1, 64, 70}, room, set).error() ==
                status::non_finite);
        }
  }

  TEST_CASE("more columns than configured are refused on both sides")
  {
    page const p = make_page(1, 4, 41, 1);
    bytes room(10000);
    CHECK(write_page<tall>(p.view(), room).error() == status::unsupported);
    std::vector<float> out(4 * 41);
    CHECK(read_page<tall>(pack<plain>(p.view()), tile<float>{out.data(), 1, 4, 41}) ==
          status::unsupported);
  }

  TEST_CASE("sizes on normal values are near their entropy")
  {
    // Normal values in steps of d deviations have log2(sqrt(2 pi e) / d) bits; the mean magnitude is 0.798 deviations.
    support::numbers g{5};
    page p{4, 64, 128, std::vector<float>(4 * 64 * 128)};
    for (float& x : p.values) {
      double const u = (g.next() % 1000000 + 0.5) / 1e6, v = g.next() % 1000000 / 1e6;
      x = static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(6.283185307 * v));
    }
    double const d = context_v.step * 0.7979, ideal = std::log2(4.1327 / d);
    double const bits =
        8.0 * static_cast<double>(pack<context<context_v>>(p.view()).size()) / (4 * 64 * 128);
    CHECK(bits > ideal);
    CHECK(bits < ideal + 0.2);
  }

  TEST_CASE("a stream cut anywhere, or too long, is refused")
  {
    page const p = make_page(2, 20, 40, 3);
    bytes const packed = pack<context<context_v>>(p.view());
    for (isa const set : sets()) {
      std::vector<float> out(p.values.size());
      tile<float> const to{out.data(), 2, 20, 40};
      for (std::size_t cut = 0; cut < packed.size(); ++cut) {
        std::unique_ptr<std::byte[]> const part(new std::byte[cut]);
        if (cut != 0) std::memcpy(part.get(), packed.data(), cut);
        CHECK(read_page<context<context_v>>(view<std::byte const>{part.get(), cut}, to, set) ==
              status::corrupt_input);
      }
      bytes more = packed;
      more.push_back(std::byte{0});
      CHECK(read_page<context<context_v>>(more, to, set) == status::corrupt_input);
      more.push_back(std::byte{0});
      CHECK(read_page<context<context_v>>(more, to, set) == status::corrupt_input);
    }
  }

  TEST_CASE("a damaged byte never leads outside the views")
  {
    page const p = make_page(2, 20, 40, 3);
    bytes const packed = pack<context<context_v>>(p.view());
    int refused = 0, tried = 0;
    for (isa const set : sets())
      for (std::size_t i = 0; i < packed.size(); ++i)
        for (int const flip : {1, 16, 128, 255}) {
          std::unique_ptr<std::byte[]> const bad(new std::byte[packed.size()]);
          std::memcpy(bad.get(), packed.data(), packed.size());
          bad[i] ^= static_cast<std::byte>(flip);
          std::unique_ptr<float[]> const out(new float[p.values.size()]);
          status const s =
              read_page<context<context_v>>(view<std::byte const>{bad.get(), packed.size()},
                                            tile<float>{out.get(), 2, 20, 40}, set);
          ++tried;
          refused += s != status::ok;
        }
    CHECK(refused > tried * 9 / 10);

    support::numbers g{17};
    for (int i = 0; i < 2000; ++i) {
      std::size_t const size = g.next() % 600;
      std::unique_ptr<std::byte[]> const noise(new std::byte[size]);
      for (std::size_t j = 0; j < size; ++j) noise[j] = static_cast<std::byte>(g.next());
      std::unique_ptr<float[]> const out(new float[400]);
      status const s = read_page<context<context_v>>(view<std::byte const>{noise.get(), size},
                                                     tile<float>{out.get(), 1, 10, 40});
      CHECK((s == status::ok || s == status::corrupt_input));
    }
  }

  TEST_CASE("room: the bound is enough, less gives a refusal and never a step outside")
  {
    page const p = make_page(2, 20, 40, 3);
    bytes const packed = pack<context<context_v>>(p.view());
    std::size_t const bound = context<context_v>::encoded_bound(p.values.size() * 2);
    for (std::size_t room = 0; room <= bound; room += 7) {
      std::unique_ptr<std::byte[]> const tight(new std::byte[room]);
      auto const n = write_page<context<context_v>>(p.view(), view<std::byte>{tight.get(), room});
      if (n)
        CHECK((*n == packed.size() && std::memcmp(tight.get(), packed.data(), *n) == 0));
      else
        CHECK((n.error() == status::output_too_small || n.error() == status::unsupported));
      if (room >= bound) CHECK(n);
    }
  }

  TEST_CASE("a warp that watches its memory finds nothing, and writes the same bytes")
  {
    page const p = make_page(2, 40, 40, 9);
    std::vector<float16> const half = as<float16>(p);
    tile<float16 const> const in{half.data(), 2, 40, 40};
    auto const run = [&]<class Codec>(Codec) {
      bytes const packed = pack<Codec>(in);
      std::vector<float16> expected(half.size());
      REQUIRE(read_page<Codec>(packed, tile<float16>{expected.data(), 2, 40, 40}) == status::ok);
      support::on_audit_warp([&](auto const& w) {
        auto const s = std::make_unique<typename Codec::template scratch<sora2::audit_warp>>();
        bytes out(Codec::encoded_bound(half.size() * 2));
        auto const n = Codec::encode(w, *s, in, view<std::byte>(out));
        REQUIRE(n);
        out.resize(*n);
        CHECK(out == packed);
        std::vector<float16> back(half.size());
        CHECK(Codec::decode(w, *s, view<std::byte const>(packed),
                            tile<float16>{back.data(), 2, 40, 40}) == status::ok);
        CHECK(back == expected);
      });
    };
    run(context<context_v>{});
  }

  TEST_CASE("streams at odd addresses")
  {
    page const p = make_page(1, 5, 37, 4);
    std::vector<float16> const half = as<float16>(p);
    tile<float16 const> const in{half.data(), 1, 5, 37};
    bytes const packed = pack<context<context_v>>(in);
    std::vector<float16> expected(half.size()), back(half.size());
    REQUIRE(read_page<context<context_v>>(packed, tile<float16>{expected.data(), 1, 5, 37}) ==
            status::ok);
    for (isa set : sets()) {
      bytes shifted(context<context_v>::encoded_bound(2 * half.size()) + 1);
      view<std::byte> const room = view<std::byte>(shifted).from(1);
      auto const n = sora2::encode<context<context_v>>(in, room, {}, set);
      REQUIRE(n);
      CHECK(bytes(room.data, room.data + *n) == packed);
      CHECK(sora2::decode<context<context_v>>(view<std::byte const>(room.data, *n),
                                              tile<float16>{back.data(), 1, 5, 37}, {},
                                              set) == status::ok);
      CHECK(back == expected);
    }
  }

  TEST_CASE("tables of its own kind make a page smaller, and are part of the agreement")
  {
    page const sample = make_page(3, 64, 64, 21), p = make_page(3, 64, 64, 22);
    sora2::context_trainer trainer;
    CHECK(trainer.add<context<context_v>>(sample.view()) == status::ok);
    sora2::context_table const table = trainer.table();
    CHECK(table.id != 0);
    auto const m = table.model();
    bytes const own = pack<context<context_v>>(p.view(), isa::portable, m),
                built_in = pack<context<context_v>>(p.view());
    CHECK(own.size() < built_in.size());
    std::vector<float> a(p.values.size()), b(p.values.size());
    REQUIRE(read_page<context<context_v>>(own, tile<float>{a.data(), 3, 64, 64}, isa::portable,
                                          m) == status::ok);
    REQUIRE(read_page<context<context_v>>(built_in, tile<float>{b.data(), 3, 64, 64}) ==
            status::ok);
    CHECK(a == b);
    CHECK(trainer.table().id == table.id);
    CHECK(trainer.add<context<context_k>>(p.view()) == status::ok);
    CHECK(trainer.table().id != table.id);
    page bad = p;
    bad.values[3] = std::numeric_limits<float>::infinity();
    CHECK(trainer.add<context<context_k>>(bad.view()) == status::non_finite);
  }

  TEST_CASE("the built-in tables are distributions")
  {
    auto const& t = sora2::builtin_context_table();
    CHECK(t.id == 0);
    for (std::uint32_t c = 0; c < t.classes; ++c) {
      std::uint32_t sum = 0;
      std::vector<std::uint32_t> f(256);
      for (std::uint32_t s = 0; s < 256; ++s) {
        auto const& symbol = t.symbols[256 * c + s];
        if ((symbol.step & sora2::detail::rans_escaped) == 0 || s == t.escape)
          f[s] = symbol.step & 0xFFFu;
        sum += f[s];
      }
      CHECK(sum == 512);
      CHECK(f[t.escape] > 0);
      bool falls = true, even = true;
      for (std::uint32_t r = 0; r < 127; ++r)
        falls = falls && f[r] + 1 >= f[r + 1];  // a share of rounding apart
      for (std::uint32_t r = 1; r < 127; ++r)
        even = even && f[r] <= f[256 - r] + 1 && f[256 - r] <= f[r] + 1;
      CHECK(falls);
      CHECK(even);
      // The mean magnitude of what a class expects lies near the class.
      double magnitude = 0;
      for (std::uint32_t s = 0; s < 256; ++s)
        if (s != t.escape)
          magnitude += f[s] * std::abs(static_cast<double>(static_cast<std::int8_t>(s))) / 512.0;
      double const middle = 0.25 * std::exp2(c / 2.0 + 0.25) + 0.3;
      CHECK(magnitude > middle * 0.75);
      CHECK(magnitude < middle * 1.1);
    }
  }

  TEST_CASE("integer exponentials are right")
  {
    for (std::uint64_t x = 0; x < 30 * 65536; x += 997) {
      double const exact = std::exp2(-static_cast<double>(x) / 65536 + 30);
      CHECK(std::abs(static_cast<double>(sora2::detail::exp2_negative(x)) - exact) <= 17.0);
    }
    CHECK(sora2::detail::exp2_negative(0) == 1u << 30);
    CHECK(sora2::detail::exp2_negative(~std::uint64_t{0}) == 0);
  }

  TEST_CASE("facts")
  {
    static_assert(std::is_trivially_copyable_v<sora2::context_model>);
    static_assert(std::is_trivially_copyable_v<sora2::context_table>);
    static_assert(context<context_k>::format() != context<context_v>::format());
    static_assert(context<>::format() == context<context_config{.columns = 64}>::format());
    static_assert(sizeof(plain::scratch<sora2::host_warp>) == 2048);
    CHECK(sora2::level_name(plain::tier) == std::string("L3"));
  }
}
