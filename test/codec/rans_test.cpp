#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include <sora2/codec/bulk.hpp>
#include <sora2/codec/rans.hpp>
#include <support/byte_pages.hpp>
#include <support/entropy_reference.hpp>
#include <support/warps.hpp>

using sora2::isa;
using sora2::result;
using sora2::status;
using sora2::view;
using support::bytes;

namespace {

using narrow = sora2::rans<sora2::rans_config{.table_bits = 9}>;
using shared_whole =
    sora2::rans<sora2::rans_config{.tables = sora2::rans_tables::shared, .parts = 1}>;

std::vector<isa> sets()
{
  std::vector<isa> out;
  for (isa const set : {isa::portable, isa::avx2, isa::avx512})
    if (set <= sora2::best_isa()) out.push_back(set);
  return out;
}

/// Exactly sized heap memory, so that a checker sees every step outside.
struct block {
  explicit block(std::size_t n) : data(new std::byte[n]), size(n) {}
  explicit block(bytes const& b) : block(b.size())
  {
    if (size != 0) std::memcpy(data.get(), b.data(), size);
  }
  operator view<std::byte>() const { return {data.get(), size}; }
  operator view<std::byte const>() const { return {data.get(), size}; }
  std::unique_ptr<std::byte[]> data;
  std::size_t size;
};

template <class Codec>
bytes pack(bytes const& raw, sora2::model_t<Codec> const& m = {}, isa set = sora2::best_isa())
{
  bytes out(Codec::encoded_bound(raw.size()));
  auto const n = sora2::encode<Codec>(raw, out, m, set);
  REQUIRE(n);
  REQUIRE(*n <= out.size());
  out.resize(*n);
  return out;
}

template <class Codec>
void round_trip(bytes const& raw, sora2::model_t<Codec> const& m = {})
{
  bytes const packed = pack<Codec>(raw, m, isa::portable);
  for (isa const set : sets()) {
    CHECK(pack<Codec>(raw, m, set) == packed);
    block const out(raw.size());
    CHECK(sora2::decode<Codec>(block(packed), out, m, set) == status::ok);
    CHECK((raw.empty() || std::memcmp(out.data.get(), raw.data(), raw.size()) == 0));
  }
}

struct sample {
  char const* name;
  bytes data;
};

bytes fill(std::size_t n, int value) { return bytes(n, static_cast<std::byte>(value)); }

std::vector<sample> samples()
{
  std::string const folder = std::string(SORA2_TEST_DATA_DIR) + "/entropy/";
  std::vector<sample> out;
  out.push_back({"empty", {}});
  out.push_back({"one", fill(1, 'A')});
  out.push_back({"same_4k", fill(4096, 0)});
  out.push_back({"same_255", fill(255, 255)});
  bytes skew = fill(65536, 0);
  skew.back() = std::byte{1};
  out.push_back({"two_skew", skew});
  bytes rare = fill(20001, 0);
  rare.front() = std::byte{1};
  out.push_back({"rare_first", rare});
  bytes each(256);
  for (std::size_t i = 0; i < 256; ++i) each[i] = static_cast<std::byte>(i);
  out.push_back({"all256_once", each});
  out.push_back({"uniform_8k", support::read_bytes(folder + "uniform_8k.bin")});
  bytes runs;
  for (int i = 0; i < 80; ++i) {
    runs.insert(runs.end(), 97, std::byte{255});
    runs.push_back(std::byte{254});
  }
  out.push_back({"ff_runs", runs});
  bytes alternating(8000);
  for (std::size_t i = 1; i < 8000; i += 2) alternating[i] = std::byte{255};
  out.push_back({"alternating", alternating});
  out.push_back({"geometric", support::read_bytes(folder + "geometric.bin")});
  out.push_back({"walk", support::read_bytes(folder + "walk.bin")});
  bytes singletons(each.begin() + 1, each.end());
  singletons.resize(60255);
  out.push_back({"singletons", singletons});
  out.push_back({"u16_4096", support::read_bytes(folder + "u16_4096.bin")});
  return out;
}

/// Bits of the whole page with its own frequencies of 12 bits.
double code_length(bytes const& in)
{
  auto const counts = support::count_bytes(in);
  std::vector<std::uint32_t> f(256);
  REQUIRE(sora2::detail::normalise(view<std::uint32_t const>(counts), view<std::uint32_t>(f), 12));
  double bits = 0;
  for (std::size_t s = 0; s < 256; ++s)
    if (counts[s] != 0) bits -= counts[s] * std::log2(f[s] / 4096.0);
  return bits;
}

/// A page of three values with one byte that a table of the rest has never seen.
bytes little_page()
{
  bytes raw = support::geometric_bytes(200, 60, 5);
  raw[70] = std::byte{200};
  return raw;
}

}  // namespace

TEST_SUITE("codec/rans") {
  TEST_CASE("frequencies sum to the power of two and keep every used symbol")
  {
    std::vector<std::vector<std::uint32_t>> cases;
    cases.push_back(std::vector<std::uint32_t>(256, 0));
    cases.push_back(std::vector<std::uint32_t>(256, 0));
    cases.back()[0] = 7;
    cases.push_back(std::vector<std::uint32_t>(256, 0));
    cases.back()[0] = 2147483647;
    cases.back()[1] = 1;
    cases.push_back(std::vector<std::uint32_t>(256, 1));
    cases.push_back(std::vector<std::uint32_t>(256, 1));
    cases.back()[0] = 1000000;
    cases.push_back(std::vector<std::uint32_t>(256, 4294967295u));
    cases.push_back(std::vector<std::uint32_t>(256, 0));
    cases.back()[0] = cases.back()[2] = cases.back()[4] = 3;
    cases.push_back(std::vector<std::uint32_t>(4096, 1));
    cases.push_back(std::vector<std::uint32_t>(4096, 5));
    cases.back()[17] = 4000000000u;
    support::numbers g{3};
    for (int i = 0; i < 200; ++i) {
      std::vector<std::uint32_t> c(1 + g.next() % 300);
      for (auto& x : c) x = g.next() % 3 == 0 ? 0 : g.next() >> (g.next() % 31);
      cases.push_back(c);
    }
    bytes const wide =
        support::read_bytes(std::string(SORA2_TEST_DATA_DIR) + "/entropy/u16_4096.bin");
    REQUIRE(wide.size() == 12000);
    cases.push_back(std::vector<std::uint32_t>(4096, 0));
    for (std::size_t i = 0; i < wide.size(); i += 2)
      ++cases.back().at(static_cast<std::size_t>(wide[i]) | static_cast<std::size_t>(wide[i + 1])
                                                                << 8);

    for (auto const& counts : cases) {
      auto const used = static_cast<std::uint32_t>(
          std::count_if(counts.begin(), counts.end(), [](std::uint32_t c) { return c != 0; }));
      for (int bits = 1; bits <= 16; ++bits) {
        std::vector<std::uint32_t> f(counts.size(), 99);
        auto const n = sora2::detail::normalise(view<std::uint32_t const>(counts),
                                                view<std::uint32_t>(f), bits);
        if (used > 1u << bits) {
          CHECK(n.error() == status::unsupported);
          continue;
        }
        REQUIRE(n);
        CHECK(*n == used);
        CHECK(std::accumulate(f.begin(), f.end(), std::uint64_t{0}) ==
              (used == 0 ? 0u : 1u << bits));
        bool kept = true;
        for (std::size_t i = 0; i < f.size(); ++i) kept = kept && (counts[i] != 0) == (f[i] != 0);
        CHECK(kept);
      }
    }
  }

  TEST_CASE("frequencies cost little more than the best there are")
  {
    auto const excess = [](bytes const& in) { return code_length(in) / support::entropy_bits(in); };
    CHECK(excess(support::geometric_bytes(100000, 200, 1)) < 1.001);
    CHECK(excess(support::geometric_bytes(5000, 245, 2)) < 1.002);
    CHECK(excess(support::read_bytes(std::string(SORA2_TEST_DATA_DIR) + "/entropy/walk.bin")) <
          1.002);
  }

  TEST_CASE("reciprocals divide exactly")
  {
    support::numbers g{11};
    for (std::uint32_t f = 1; f < 4096; ++f) {
      auto const s = sora2::detail::make_rans_symbol<12>(0, f);
      auto const next = [&](std::uint64_t x) {
        std::uint64_t const q = (x * s.reciprocal >> 32) >> (s.step >> 25 & 15u);
        return x + (s.step >> 12 & 0x1FFFu) + q * (4096 - (s.step & 0xFFFu));
      };
      std::uint64_t const top = std::uint64_t{f} << 19;  // states below this are pushed
      bool right = true;
      for (std::uint64_t x :
           {std::uint64_t{1}, std::uint64_t{32768}, top - 1, top - 2, top / 2, top - f})
        right = right && next(x) == x / f * 4096 + x % f;
      for (int i = 0; i < 100; ++i) {
        std::uint64_t const multiple = g.next() % (top / f) * f;
        right = right && next(multiple + f - 1) == multiple / f * 4096 + f - 1;
        if (multiple != 0) right = right && next(multiple) == multiple / f * 4096;
      }
      CHECK_MESSAGE(right, f);
    }
  }

  TEST_CASE("pages of every kind come back, the same bytes from every instruction set")
  {
    for (auto const& [name, raw] : samples()) {
      CAPTURE(name);
      round_trip<sora2::rans<>>(raw);
      round_trip<narrow>(raw);
      auto const own = sora2::make_rans_table(support::count_bytes(raw));
      REQUIRE(own);
      round_trip<sora2::rans_shared>(raw, own->model());
      auto const foreign =
          sora2::make_rans_table(support::count_bytes(support::geometric_bytes(5000, 200, 9)));
      REQUIRE(foreign);
      round_trip<sora2::rans_shared>(raw, foreign->model());

      // What frequencies of 12 bits can reach, the table, the states, and what the last 64 bytes may lose.
      if (raw.size() > 64) {
        auto const limit = [&](double side) {
          return std::min(static_cast<double>(raw.size()) + 4, code_length(raw) / 8 * 1.005 + side);
        };
        auto const size = [](bytes const& packed) { return static_cast<double>(packed.size()); };
        CHECK(size(pack<sora2::rans<>>(raw)) <= limit(4 + 525 + 128 + 64));
        CHECK(size(pack<sora2::rans_shared>(raw, own->model())) <= limit(4 + 128 + 64));
      }
    }
  }

  TEST_CASE("every length")
  {
    bytes const long_page = support::geometric_bytes(400, 150, 4);
    auto const table =
        sora2::make_rans_table(support::count_bytes(support::geometric_bytes(400, 150, 77)));
    REQUIRE(table);
    for (std::size_t n = 0; n <= long_page.size(); n += n < 200 ? 1 : 7) {
      bytes const raw(long_page.begin(), long_page.begin() + static_cast<std::ptrdiff_t>(n));
      round_trip<sora2::rans_shared>(raw, table->model());
      if (n % 5 == 0) round_trip<sora2::rans<>>(raw);
    }
  }

  TEST_CASE("many random short pages with skewed tables")
  {
    support::numbers g{8};
    for (int i = 0; i < 3000; ++i) {
      bytes const raw = support::geometric_bytes(65 + g.next() % 200, g.next() % 255, g.next());
      auto const table = sora2::make_rans_table(support::count_bytes(
          support::geometric_bytes(1 + g.next() % 500, g.next() % 250, g.next())));
      REQUIRE(table);
      bytes const packed = pack<sora2::rans_shared>(raw, table->model());
      bytes out(raw.size());
      REQUIRE(sora2::decode<sora2::rans_shared>(packed, view<std::byte>(out), table->model()) ==
              status::ok);
      REQUIRE(out == raw);
    }
  }

  TEST_CASE("the stream is what the slow coder of the format writes")
  {
    bytes const raw = support::geometric_bytes(1000, 180, 21);
    auto const counts = support::count_bytes(raw);
    std::vector<std::uint32_t> f(256);
    REQUIRE(
        sora2::detail::normalise(view<std::uint32_t const>(counts), view<std::uint32_t>(f), 12));
    bytes const packed = pack<sora2::rans<>>(raw);
    REQUIRE(packed[0] == std::byte{2});
    std::size_t const table =
        static_cast<std::size_t>(packed[2]) | static_cast<std::size_t>(packed[3]) << 8;
    CHECK(bytes(packed.begin() + 4 + static_cast<std::ptrdiff_t>(table), packed.end()) ==
          support::reference_rans(raw, f, 12));

    // With a table of another page: unknown bytes are escaped.
    auto other = support::count_bytes(support::geometric_bytes(1000, 140, 22));
    auto const shared = sora2::make_rans_table(other);
    REQUIRE(shared);
    REQUIRE(shared->escape < 256);
    other[shared->escape] = 1;
    REQUIRE(sora2::detail::normalise(view<std::uint32_t const>(other), view<std::uint32_t>(f), 12));
    bytes const escaped = pack<sora2::rans_shared>(raw, shared->model());
    CHECK(escaped[0] == std::byte{3});
    CHECK(bytes(escaped.begin() + 4, escaped.end()) ==
          support::reference_rans(raw, f, 12, shared->escape));
  }

  TEST_CASE("from 16 KiB on a page is its two halves, each as a page of its own would be coded")
  {
    bytes const all = support::geometric_bytes(17000, 180, 31);
    auto const table = sora2::make_rans_table(support::count_bytes(all));
    REQUIRE(table);
    auto const m = table->model();
    for (std::size_t n : {16383u, 16384u, 16385u, 16415u, 16447u, 16448u, 16999u}) {
      CAPTURE(n);
      bytes const raw(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
      round_trip<sora2::rans<>>(raw);
      round_trip<sora2::rans_shared>(raw, m);
      round_trip<shared_whole>(raw, m);
      bytes const packed = pack<sora2::rans_shared>(raw, m), whole = pack<shared_whole>(raw, m);
      if (n < 16384) {
        CHECK(packed == whole);
        continue;
      }
      auto const middle = raw.begin() + static_cast<std::ptrdiff_t>(n / 64 * 32);
      bytes const first = pack<shared_whole>(bytes(raw.begin(), middle), m),
                  second = pack<shared_whole>(bytes(middle, raw.end()), m);
      bytes expected(first.begin(), first.begin() + 4);
      std::size_t const length = first.size() - 4;
      for (int i = 0; i < 4; ++i) expected.push_back(static_cast<std::byte>(length >> (8 * i)));
      expected.insert(expected.end(), first.begin() + 4, first.end());
      expected.insert(expected.end(), second.begin() + 4, second.end());
      CHECK(packed == expected);

      // Every length of the first half but the right one is refused, and so is every cut.
      for (std::uint32_t wrong :
           {0u, 1u, 75u, 76u, 77u, 1u << 31, ~0u, static_cast<std::uint32_t>(length - 2),
            static_cast<std::uint32_t>(length + 1), static_cast<std::uint32_t>(length + 2),
            static_cast<std::uint32_t>(packed.size() - 8)}) {
        bytes bad = packed;
        for (std::size_t i = 0; i < 4; ++i) bad[4 + i] = static_cast<std::byte>(wrong >> (8 * i));
        for (isa const set : sets())
          CHECK(sora2::decode<sora2::rans_shared>(block(bad), block(n), m, set) ==
                status::corrupt_input);
      }
      for (std::size_t cut = 0; cut < packed.size(); cut += cut < 12 ? 1 : 397) {
        bytes const part(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(cut));
        for (isa const set : sets())
          CHECK(sora2::decode<sora2::rans_shared>(block(part), block(n), m, set) ==
                status::corrupt_input);
      }
      for (std::size_t room : {packed.size() - 1, packed.size() - 2, packed.size() / 2}) {
        bytes out(room);
        CHECK(sora2::encode<sora2::rans_shared>(raw, out, m).error() == status::output_too_small);
      }
    }
  }

  TEST_CASE("halves of unlike content, with escapes in one of them")
  {
    auto const table =
        sora2::make_rans_table(support::count_bytes(support::geometric_bytes(9000, 120, 6)));
    REQUIRE(table);
    bytes const easy(20000, std::byte{0}), hard = support::geometric_bytes(20000, 250, 3);
    for (int order = 0; order < 2; ++order) {
      bytes raw = order == 0 ? easy : hard;
      bytes const& rest = order == 0 ? hard : easy;
      raw.insert(raw.end(), rest.begin(), rest.end());
      round_trip<sora2::rans_shared>(raw, table->model());
      round_trip<sora2::rans<>>(raw);
    }
  }

  TEST_CASE("a model trained on nothing still codes everything")
  {
    auto const table = sora2::make_rans_table(view<std::uint32_t const>{});
    REQUIRE(table);
    CHECK(table->escape == 256);
    round_trip<sora2::rans_shared>(support::geometric_bytes(1000, 200, 1), table->model());
    std::vector<std::uint32_t> const many(257, 1);
    CHECK(sora2::make_rans_table(many).error() == status::unsupported);
  }

  TEST_CASE("tables are part of the agreement")
  {
    bytes const raw = support::geometric_bytes(500, 120, 2);
    auto const a = sora2::make_rans_table(support::count_bytes(raw));
    auto const b =
        sora2::make_rans_table(support::count_bytes(support::geometric_bytes(500, 130, 3)));
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a->id != b->id);
    CHECK(a->id == sora2::make_rans_table(support::count_bytes(raw))->id);
    bytes packed = pack<sora2::rans_shared>(raw, a->model());
    bytes out(raw.size());
    CHECK(sora2::decode<sora2::rans_shared>(packed, view<std::byte>(out), b->model()) ==
          status::wrong_table);
    CHECK(sora2::decode<sora2::rans_shared>(packed, view<std::byte>(out)) == status::wrong_table);
    CHECK(sora2::encode<sora2::rans_shared>(raw, packed).error() == status::wrong_table);
    auto const narrow_table = sora2::make_rans_table<10>(support::count_bytes(raw));
    REQUIRE(narrow_table);
    CHECK(sora2::decode<sora2::rans_shared>(packed, view<std::byte>(out), narrow_table->model()) ==
          status::wrong_table);
  }

  TEST_CASE("room: the exact size is enough, one byte less is not")
  {
    auto const table = sora2::make_rans_table(support::count_bytes(little_page()));
    REQUIRE(table);
    for (std::size_t n : {1u, 40u, 64u, 65u, 96u, 97u, 200u})
      for (bool const flat : {false, true}) {
        bytes in = flat ? fill(n, 7) : little_page();
        in.resize(n);
        bytes const packed = pack<sora2::rans_shared>(in, table->model());
        for (isa const set : sets()) {
          block const exact(packed.size());
          auto const size = sora2::encode<sora2::rans_shared>(in, exact, table->model(), set);
          REQUIRE(size);
          CHECK(*size == packed.size());
          CHECK(std::memcmp(exact.data.get(), packed.data(), packed.size()) == 0);
          for (std::size_t room = 0; room < packed.size(); ++room) {
            block const tight(room);
            CHECK(sora2::encode<sora2::rans_shared>(in, tight, table->model(), set).error() ==
                  status::output_too_small);
          }
        }
        bytes const own = pack<sora2::rans<>>(in);
        for (std::size_t room = 0; room < own.size(); ++room) {
          block const tight(room);
          CHECK(sora2::encode<sora2::rans<>>(in, tight).error() == status::output_too_small);
        }
      }
  }

  TEST_CASE("a stream cut anywhere, or too long, is refused")
  {
    bytes const raw = support::geometric_bytes(1500, 150, 6);
    auto const table =
        sora2::make_rans_table(support::count_bytes(support::geometric_bytes(900, 120, 6)));
    REQUIRE(table);
    auto const cut_all = [&]<class Codec>(Codec, sora2::model_t<Codec> const& m) {
      for (std::size_t size : {0u, 1u, 50u, 1500u}) {
        bytes const page(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(size));
        bytes const packed = pack<Codec>(page, m);
        for (isa const set : sets()) {
          block const out(page.size());
          for (std::size_t cut = 0; cut < packed.size(); ++cut) {
            block const part(
                bytes(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(cut)));
            CHECK(sora2::decode<Codec>(part, out, m, set) == status::corrupt_input);
          }
          bytes more = packed;
          more.push_back(std::byte{0});
          CHECK(sora2::decode<Codec>(block(more), out, m, set) == status::corrupt_input);
          more.push_back(std::byte{0});
          CHECK(sora2::decode<Codec>(block(more), out, m, set) == status::corrupt_input);
          if (page.size() > 1) {  // a page of equal bytes fits every size
            CHECK(sora2::decode<Codec>(block(packed), block(size - 1), m, set) ==
                  status::corrupt_input);
            CHECK(sora2::decode<Codec>(block(packed), block(size + 1), m, set) ==
                  status::corrupt_input);
          }
        }
      }
    };
    cut_all(sora2::rans<>{}, {});
    cut_all(sora2::rans_shared{}, table->model());
  }

  TEST_CASE("a damaged byte never leads outside the views, and is found or changes bytes only")
  {
    bytes const raw = support::geometric_bytes(700, 150, 6);
    auto const table =
        sora2::make_rans_table(support::count_bytes(support::geometric_bytes(900, 120, 6)));
    REQUIRE(table);
    auto const damage_all = [&]<class Codec>(Codec, sora2::model_t<Codec> const& m) {
      bytes const packed = pack<Codec>(raw, m);
      int refused = 0, tried = 0;
      for (isa const set : sets())
        for (std::size_t i = 0; i < packed.size(); ++i)
          for (int const flip : {1, 16, 128, 255}) {
            bytes bad = packed;
            bad[i] ^= static_cast<std::byte>(flip);
            block const out(raw.size());
            status const s = sora2::decode<Codec>(block(bad), out, m, set);
            ++tried;
            refused += s != status::ok;
          }
      // The words that ended up in the last 64 bytes carry no check of their own: the block around has one.
      CHECK(refused > tried * 8 / 10);
    };
    damage_all(sora2::rans<>{}, {});
    damage_all(narrow{}, {});
    damage_all(sora2::rans_shared{}, table->model());
  }

  TEST_CASE("noise is refused or decodes to noise, inside its views")
  {
    auto const table =
        sora2::make_rans_table(support::count_bytes(support::geometric_bytes(900, 120, 6)));
    REQUIRE(table);
    support::numbers g{99};
    for (int i = 0; i < 4000; ++i) {
      bytes noise(g.next() % 700);
      for (auto& b : noise) b = static_cast<std::byte>(g.next());
      if (noise.size() > 4) {
        noise[0] = static_cast<std::byte>(g.next() % 5);
        if (g.next() % 2 == 0)
          noise[3] = std::byte{0}, noise[2] = static_cast<std::byte>(g.next() % 64 * 4);
        else
          std::memcpy(&noise[2], &table->id, 2);
      }
      block const out(g.next() % 900), in(noise);
      status const a = sora2::decode<sora2::rans<>>(in, out);
      status const b = sora2::decode<sora2::rans_shared>(in, out, table->model());
      CHECK((a == status::ok || a == status::corrupt_input));
      CHECK((b == status::ok || b == status::corrupt_input || b == status::wrong_table));
    }
  }

  TEST_CASE("malformed tables are refused")
  {
    auto const read = [](bytes const& table) {
      std::uint32_t f[256];
      sora2::rans<>::scratch<sora2::host_warp> s;
      static_cast<void>(s);
      return sora2::detail::read_frequencies<12>(sora2::host_warp{}, view<std::byte const>(table),
                                                 f);
    };
    auto const write = [](std::vector<std::uint32_t> f) {
      f.resize(256);
      bytes out(sora2::detail::rans_table_most + 3);
      out.resize(sora2::detail::write_frequencies(sora2::host_warp{}, f.data(), out.data()));
      return out;
    };
    CHECK(read(write({4095, 1})));
    CHECK(read(write(std::vector<std::uint32_t>(256, 16))));
    CHECK(read(write({1, 0, 2, 4000, 0, 0, 0, 93})));
    CHECK_FALSE(read(write({4095, 2})));                              // sum one too many
    CHECK_FALSE(read(write({4094, 1})));                              // one too few
    CHECK_FALSE(read(write({4095, 4095})));                           // far too many
    CHECK_FALSE(read(write(std::vector<std::uint32_t>(256, 4095))));  // as many as can be written
    CHECK_FALSE(read(write({})));                                     // none
    CHECK_FALSE(read(write({4096})));                                 // a frequency beyond 12 bits
    bytes const good = write({4095, 1});
    for (std::size_t cut = 0; cut < good.size(); ++cut)
      CHECK_FALSE(read(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(cut))));
    bytes more = good;
    more.resize(good.size() + 4);
    CHECK_FALSE(read(more));
    bytes empty_group = good;
    empty_group[0] = std::byte{3};  // a second group, whose mask is then the first frequency's bits
    CHECK_FALSE(read(empty_group));
  }

  TEST_CASE("a warp that watches its memory finds nothing, and writes the same bytes")
  {
    auto const table =
        sora2::make_rans_table(support::count_bytes(support::geometric_bytes(900, 120, 6)));
    REQUIRE(table);
    auto const run = [&]<class Codec>(Codec, bytes const& raw, sora2::model_t<Codec> const& m) {
      bytes const packed = pack<Codec>(raw, m);
      support::on_audit_warp([&](auto const& w) {
        auto const s = std::make_unique<typename Codec::template scratch<sora2::audit_warp>>();
        bytes out(Codec::encoded_bound(raw.size())), back(raw.size());
        auto const n =
            sora2::encode_with<Codec>(w, *s, view<std::byte const>(raw), view<std::byte>(out), m);
        REQUIRE(n);
        out.resize(*n);
        CHECK(out == packed);
        CHECK(sora2::decode_with<Codec>(w, *s, view<std::byte const>(packed), view<std::byte>(back),
                                        m) == status::ok);
        CHECK(back == raw);
      });
    };
    for (std::size_t n : {0u, 64u, 300u, 2000u, 16500u}) {
      bytes const raw = support::geometric_bytes(n, 150, 3);
      run(sora2::rans<>{}, raw, {});
      run(narrow{}, raw, {});
      run(sora2::rans_shared{}, raw, table->model());
    }
    run(sora2::rans<>{}, fill(500, 3), {});
    run(sora2::rans<>{}, support::geometric_bytes(3000, 40, 3), {});
    // Pages that turn out not to shrink are written over the words that showed it.
    run(sora2::rans<>{}, support::noise(1500, 1), {});
    run(narrow{}, support::noise(1500, 1), {});
    run(sora2::rans_shared{}, support::noise(300, 2), table->model());
  }

  TEST_CASE("facts")
  {
    static_assert(std::is_trivially_copyable_v<sora2::rans_model>);
    static_assert(std::is_trivially_copyable_v<sora2::rans_table<>>);
    static_assert(sizeof(sora2::rans_table<>) == 4 * 4096 + 8 * 256 + 8);
    static_assert(sora2::rans<>::format() != narrow::format());
    static_assert(sora2::rans<>::format() != sora2::rans_shared::format());
    static_assert(sora2::rans<>::tier == sora2::level::entropy);
    CHECK(sora2::rans<>::encoded_bound(0) == 4);
  }
}
