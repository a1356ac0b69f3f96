#include <doctest/doctest.h>

#if SORA2_HAS_ZSTD

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sora2/codec/block.hpp>
#include <sora2/codec/bulk.hpp>
#include <sora2/codec/chain.hpp>
#include <sora2/codec/delta.hpp>
#include <sora2/codec/planes.hpp>
#include <sora2/codec/zstd.hpp>
#include <support/byte_pages.hpp>
#include <support/warps.hpp>

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

bytes case_file(std::string const& name)
{
  bool found = false;
  bytes const content = support::file_bytes(SORA2_TEST_DATA_DIR "/zstd/" + name, found);
  REQUIRE_MESSAGE(found, name);
  return content;
}
std::vector<std::vector<std::string>> cases()
{
  bytes const text = case_file("manifest.tsv");
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  for (std::byte b : text) {
    char const c = static_cast<char>(b);
    if (c == '\n')
      rows.emplace_back(1);
    else if (c == '\t')
      rows.back().emplace_back();
    else
      rows.back().back() += c;
  }
  rows.pop_back();
  rows.erase(rows.begin());
  return rows;
}

template <class Codec>
bytes packed(bytes const& page, model_t<Codec> const& m = {})
{
  bytes out(Codec::encoded_bound(page.size()));
  auto const n = encode<Codec>(view<std::byte const>(page), view<std::byte>(out), m);
  REQUIRE(n);
  out.resize(*n);
  return out;
}
template <class Codec>
void check(bytes const& page, model_t<Codec> const& m = {})
{
  bytes const stream = packed<Codec>(page, m);
  bytes back(page.size());
  CHECK(decode<Codec>(support::exact_copy(stream), view<std::byte>(back), m) == status::ok);
  CHECK(back == page);
}

}  // namespace

TEST_SUITE("codec/zstd") {
  TEST_CASE("every case of the list has its right outcome")
  {
    auto const rows = cases();
    CHECK(rows.size() == 41);
    for (auto const& row : rows) {
      REQUIRE(row.size() == 6);
      std::string const &expect = row[2], &what = row[5];
      INFO(row[0] << " " << row[1] << ": " << what);
      bytes const dictionary = row[1] == "-" ? bytes{} : case_file(row[1]);
      zstd_dictionary const m =
          row[1] == "-" ? zstd_dictionary{} : zstd_dictionary{view<std::byte const>(dictionary)};
      support::exact_copy const in(view<std::byte const>(case_file(row[0])));
      bool const sized = row[3] != "-";
      std::size_t const size = sized ? std::stoul(row[3]) : 8192;
      std::uint64_t const fnv = row[4] == "-" ? 0 : std::strtoull(row[4].c_str(), nullptr, 16);

      bytes exact(size), longer(size + 100, std::byte{0xA5});
      status const s = decode<zstd<>>(in, view<std::byte>(exact), m);
      auto const n = zstd<>::decode_up_to(in, view<std::byte>(longer.data(), size + 99), m);
      if (expect == "accept" || (expect == "either" && sized && s == status::ok)) {
        CHECK(s == status::ok);
        CHECK(support::fnv1a(exact) == fnv);
        REQUIRE(n);
        CHECK(*n == size);
        CHECK(support::fnv1a({longer.data(), *n}) == fnv);
        bytes shorter(size - (size > 0));
        if (size > 0)
          CHECK(decode<zstd<>>(in, view<std::byte>(shorter), m) == status::output_too_small);
      } else if (expect == "reject") {
        CHECK(s != status::ok);
        CHECK(!n);
      } else if (expect == "either")
        CHECK((n ? *n <= size + 99 : true));
      CHECK(longer.back() == std::byte{0xA5});
    }
  }

  TEST_CASE("what is wrong has a name")
  {
    auto const outcome = [](char const* file, std::size_t size, char const* dictionary = nullptr) {
      bytes const given = dictionary != nullptr ? case_file(dictionary) : bytes{};
      zstd_dictionary const m =
          dictionary != nullptr ? zstd_dictionary{view<std::byte const>(given)} : zstd_dictionary{};
      bytes out(size);
      return decode<zstd<>>(case_file(file), view<std::byte>(out), m);
    };
    CHECK(outcome("bad_checksum.zst", 5000) == status::checksum_mismatch);
    CHECK(outcome("with_dict.zst", 700) == status::wrong_table);
    CHECK(outcome("with_dict.zst", 700, "dict_2222.zdict") == status::wrong_table);
    CHECK(outcome("rawdict_crc.zst", 705, "rawdict_b.bin") == status::checksum_mismatch);
    CHECK(outcome("bomb_64mib.zst", 1 << 20) == status::output_too_small);
    CHECK(outcome("claims_1tib.zst", 1 << 20) == status::corrupt_input);
    CHECK(outcome("garbage_after.zst", 5000) == status::corrupt_input);
    CHECK(outcome("ok_checksum.zst", 5001) == status::wrong_shape);
    CHECK(outcome("ok_checksum.zst", 4999) == status::output_too_small);
  }

  TEST_CASE("a size of nothing, an unknown size and no frame are three things")
  {
    CHECK(zstd_content_bytes(case_file("empty_frame.zst")).value_or(1) == 0);
    CHECK(zstd_content_bytes(case_file("no_content_size.zst")).error() == status::not_found);
    CHECK(zstd_content_bytes(case_file("cut_header.zst")).error() == status::corrupt_input);
    CHECK(zstd_content_bytes(case_file("lz4_magic.bin")).error() == status::corrupt_input);
    CHECK(zstd_content_bytes(case_file("two_frames.zst")).value_or(0) == 5026);
    CHECK(zstd_content_bytes(case_file("skip_only.zst")).value_or(1) == 0);
    CHECK(zstd_content_bytes({}).error() == status::corrupt_input);
  }

  TEST_CASE("an empty page without an address, and one with")
  {
    bytes const stream = packed<zstd<>>({});
    bytes one(1);
    CHECK(decode<zstd<>>(stream, view<std::byte>{}) == status::ok);
    CHECK(decode<zstd<>>(stream, view<std::byte>(one.data() + 1, 0)) == status::ok);
    CHECK(decode<zstd<>>({}, view<std::byte>{}) == status::corrupt_input);
  }

  TEST_CASE("a long frame to skip is skipped, and refused when it is cut")
  {
    bytes const page = support::patches(500, 1), frame = packed<zstd<>>(page);
    bytes stream(8 + 300'000, std::byte{7});
    store_le(stream.data(), std::uint32_t{0x184D2A53});
    store_le(stream.data() + 4, std::uint32_t{300'000});
    CHECK(zstd_content_bytes(stream).value_or(1) == 0);
    bytes whole = stream, back(500);
    whole.insert(whole.end(), frame.begin(), frame.end());
    CHECK(decode<zstd<>>(whole, view<std::byte>(back)) == status::ok);
    CHECK(back == page);
    stream.pop_back();
    CHECK(decode<zstd<>>(stream, view<std::byte>{}) == status::corrupt_input);
  }

  TEST_CASE("every cut and every flipped bit is an error or the page itself")
  {
    bytes const page = support::patches(700, 2), stream = packed<zstd<>>(page);
    bytes back(page.size());
    for (std::size_t cut = 0; cut < stream.size(); ++cut)
      CHECK(decode<zstd<>>(support::exact_copy({stream.data(), cut}), view<std::byte>(back)) !=
            status::ok);
    for (std::size_t bit = 0; bit < 8 * stream.size(); ++bit) {
      bytes damaged = stream;
      damaged[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      if (decode<zstd<>>(support::exact_copy(damaged), view<std::byte>(back)) == status::ok)
        CHECK(back == page);
    }
  }

  TEST_CASE("every level, with and without a dictionary, all lengths")
  {
    bytes const content = case_file("dict_1111.zdict"), raw = case_file("rawdict_a.bin");
    auto const every = [&]<int... Level>(std::integer_sequence<int, Level...>) {
      for (std::size_t size : {0u, 1u, 13u, 300u, 5000u, 30'000u}) {
        bytes const page = support::patches(size, size);
        (check<zstd<zstd_config{.level = Level + 1}>>(page), ...);
        (check<zstd<zstd_config{.level = Level + 1}>>(
             page, zstd_dictionary{view<std::byte const>(content)}),
         ...);
        (check<zstd<zstd_config{.level = Level + 1}>>(page,
                                                      zstd_dictionary{view<std::byte const>(raw)}),
         ...);
      }
    };
    every(std::make_integer_sequence<int, 22>{});
    check<zstd<zstd_config{.level = -5, .checksum = false}>>(support::patches(5000, 1));
  }

  TEST_CASE("a dictionary helps what looks like it, and takes turns with others in one thread")
  {
    bytes const raw = case_file("rawdict_a.bin"), other = case_file("rawdict_b.bin");
    zstd_dictionary const a{view<std::byte const>(raw)}, b{view<std::byte const>(other)};
    bytes const page(raw.begin() + 100, raw.begin() + 800);
    bytes const plain = packed<zstd<>>(page), with = packed<zstd<>>(page, a);
    CHECK(with.size() * 4 < plain.size());
    bytes back(page.size());
    for (int round = 0; round < 3; ++round) {
      CHECK(packed<zstd<>>(page) == plain);
      CHECK(packed<zstd<>>(page, a) == with);
      CHECK(decode<zstd<>>(with, view<std::byte>(back), a) == status::ok);
      CHECK(decode<zstd<>>(with, view<std::byte>(back), b) != status::ok);
      CHECK(decode<zstd<>>(plain, view<std::byte>(back)) == status::ok);
    }
  }

  TEST_CASE("a block keeps the dictionary's id, where the frame has none")
  {
    using codec = zstd<zstd_config{.checksum = false}>;
    bytes const raw = case_file("rawdict_a.bin"), other = case_file("rawdict_b.bin");
    zstd_dictionary const a{view<std::byte const>(raw)}, b{view<std::byte const>(other)};
    bytes const page(raw.begin() + 100, raw.begin() + 800);
    bytes block(block_bound<codec>(page.size())), back(page.size());
    auto const n = write_block<codec>(view<std::byte const>(page), view<std::byte>(block), {}, a);
    REQUIRE(n);
    block.resize(*n);
    CHECK(read_block<codec>(block, view<std::byte>(back), {}, a) == status::ok);
    CHECK(back == page);
    CHECK(read_block<codec>(block, view<std::byte>(back), {}, b) == status::wrong_table);
    CHECK(read_block<codec>(block, view<std::byte>(back)) == status::wrong_table);
  }

  TEST_CASE("64 MiB of zeros shrink more than 2048 times and come back")
  {
    bytes const page(64 << 20);
    bytes const stream = packed<zstd<zstd_config{.level = 1}>>(page);
    CHECK(stream.size() < page.size() / 2048);
    bytes back(page.size(), std::byte{1});
    CHECK(decode<zstd<>>(stream, view<std::byte>(back)) == status::ok);
    CHECK(back == page);
  }

  TEST_CASE("claims of windows and sizes move no memory")
  {
    // The decoder of this thread is in use by now; what it holds must not follow the frames' words.
    bytes out(100);
    for (char const* file : {"window_2gib.zst", "window_128mib.zst", "claims_1tib.zst"})
      static_cast<void>(zstd<>::decode_up_to(case_file(file), view<std::byte>(out)));
    detail::zstd_decoder fresh;
    bytes const stream = case_file("window_2gib.zst");
    static_cast<void>(
        ZSTD_decompressDCtx(fresh.context, out.data(), 1, stream.data(), stream.size()));
    CHECK(ZSTD_sizeof_DCtx(fresh.context) < 1 << 20);
  }

  TEST_CASE("threads do not share contexts")
  {
    std::vector<std::thread> threads;
    std::vector<int> good(4);
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < 50; ++i) {
          bytes const page = support::patches(100 * i, t);
          bytes out(zstd<>::encoded_bound(page.size())), back(page.size());
          auto const n = encode<zstd<>>(view<std::byte const>(page), view<std::byte>(out));
          good[t] += n && decode<zstd<>>({out.data(), *n}, view<std::byte>(back)) == status::ok &&
                     back == page;
        }
      });
    for (auto& t : threads) t.join();
    CHECK(good == std::vector<int>(4, 50));
  }

  TEST_CASE("room and bound")
  {
    for (std::size_t size : {0u, 1u, 1000u, 131'071u, 131'072u, 1'000'000u})
      CHECK(zstd<>::encoded_bound(size) >= ZSTD_compressBound(size));
    bytes const page = support::noise(1000, 1);
    bytes out(zstd<>::encoded_bound(1000), std::byte{0xA5});
    for (std::size_t room : {0u, 10u, 500u, 1000u}) {
      CHECK(
          encode<zstd<>>(view<std::byte const>(page), view<std::byte>(out.data(), room)).error() ==
          status::output_too_small);
      CHECK(out[room] == std::byte{0xA5});
    }
  }

  TEST_CASE("a warp that is not the host's has no zstd")
  {
    support::kernel_like_warp const w;
    zstd<>::scratch<support::kernel_like_warp> s;
    bytes const page = support::patches(500, 4);
    bytes block(block_bound<zstd<>>(500)), back(500);
    auto const n = write_block<zstd<>>(view<std::byte const>(page), view<std::byte>(block));
    REQUIRE(n);
    CHECK(decode_block<zstd<>>(w, s, view<std::byte const>(block.data(), *n),
                               view<std::byte>(back)) == status::not_resident);
  }

  TEST_CASE("delta, planes and zstd as one codec")
  {
    using packer =
        chain<delta<delta_config{.element = 2, .distance = 64, .kind = delta_kind::real}>,
              planes<planes_config{.element = 2}>, zstd<>>;
    static_assert(packer::tier == level::store && is_host_only<packer>);
    auto const values = support::wave<float16>(64 * 64, 5);
    bytes const page(as_bytes(view<float16 const>(values)).begin(),
                     as_bytes(view<float16 const>(values)).end());
    bytes const stream = packed<packer>(page), plain = packed<zstd<>>(page);
    bytes back(page.size());
    CHECK(decode<packer>(stream, view<std::byte>(back)) == status::ok);
    CHECK(back == page);
    CHECK(stream.size() < page.size());
  }
}

#else

TEST_SUITE("codec/zstd") {
  TEST_CASE("skipped: libzstd is not here") { MESSAGE("codec/zstd was not built"); }
}

#endif
