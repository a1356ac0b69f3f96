#include <sora2/codec/block.hpp>
#include <sora2/codec/chain.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <support/byte_pages.hpp>
#include <support/codecs.hpp>
#include <support/warps.hpp>

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;
using support::keyed;
using support::runs;
using support::whole_numbers;
using chained = chain<keyed, runs>;

template <class Codec>
bytes block_of(bytes const& page, block_options options = {}, model_t<Codec> const& m = {})
{
  bytes out(block_bound<Codec>(page.size()));
  auto const n = write_block<Codec>(view<std::byte const>(page), out, options, m);
  REQUIRE(n);
  out.resize(*n);
  return out;
}
template <class Codec, class T>
bytes block_of(tile<T> page, block_options options = {})
{
  bytes out(block_bound<Codec>(page.size() * sizeof(T)));
  auto const n = write_block<Codec>(page, out, options);
  REQUIRE(n);
  out.resize(*n);
  return out;
}
block_header header_of(bytes const& block)
{
  auto const h = read_header(block);
  REQUIRE(h);
  return *h;
}
/// The checksum as the format's page defines it, bit by bit.
std::uint32_t slow_crc(bytes const& block)
{
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (i >= 28 && i < 32) continue;
    crc ^= static_cast<std::uint32_t>(block[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82F63B78u : 0u);
  }
  return ~crc;
}
/// The block with other header bytes and a checksum that fits them.
bytes forged(bytes block, std::size_t at, std::uint32_t value, std::size_t count)
{
  std::memcpy(block.data() + at, &value, count);
  std::uint32_t const crc = slow_crc(block);
  std::memcpy(block.data() + 28, &crc, 4);
  return block;
}
template <class Codec>
status read_bytes(bytes const& block, bytes& page, block_options options = {})
{
  return read_block<Codec>(view<std::byte const>(block), view<std::byte>(page), options);
}

}  // namespace

TEST_SUITE("codec/block") {
  TEST_CASE("bytes come back, and the header says what was stored")
  {
    for (std::size_t size : {1u, 31u, 32u, 1000u, 5000u}) {
      bytes const page = support::patches(size, size);
      bytes const block = block_of<runs>(page, {.table_id = 7});
      block_header const h = header_of(block);
      CHECK(h.raw_bytes == size);
      CHECK(h.stored_bytes + 32 == block.size());
      CHECK(h.family == runs::family);
      CHECK(h.format == runs::format());
      CHECK(h.values == value_type::bytes);
      CHECK(h.table_id == 7);
      CHECK(h.is_raw() == (size == 1));  // two bytes for one are no gain
      CHECK(h.stored_level == (size == 1 ? level::raw : level::fast));
      CHECK(h.crc == slow_crc(block));
      bytes back(size);
      CHECK(read_bytes<runs>(block, back) == status::ok);
      CHECK(back == page);
    }
  }

  TEST_CASE("a page that does not get smaller is stored as it came")
  {
    bytes const page = support::noise(777, 3);
    bytes const block = block_of<runs>(page);
    CHECK(block.size() == 32 + page.size());
    CHECK(header_of(block).is_raw());
    CHECK(std::memcmp(block.data() + 32, page.data(), page.size()) == 0);
    bytes back(page.size());
    CHECK(read_bytes<runs>(block, back) == status::ok);
    CHECK(back == page);
  }

  TEST_CASE("an empty page is a header")
  {
    bytes const block = block_of<runs>({});
    CHECK(block.size() == 32);
    bytes back;
    CHECK(read_bytes<runs>(block, back) == status::ok);
    CHECK(read_block<runs>(block, view<std::byte>{}) == status::ok);
    bytes const values =
        block_of<whole_numbers>(tile<float16>(nullptr, 2, 0, 64), {.exact_rows = 4});
    CHECK(values.size() == 32);
    CHECK(read_block<whole_numbers>(values, tile<float16>(nullptr, 2, 0, 64)) == status::ok);
  }

  TEST_CASE("a little less room than the block takes is reported, and nothing is written behind it")
  {
    for (bytes const& page : {support::patches(600, 1), support::noise(600, 1), bytes{}}) {
      bytes const block = block_of<runs>(page);
      bytes guarded(block.size() + 8, std::byte{0xA5});
      for (std::size_t room = 0; room < block.size(); ++room) {
        auto const n = write_block<runs>(page, view<std::byte>(guarded.data(), room));
        CHECK(n.error() == status::output_too_small);
        CHECK(guarded[room] == std::byte{0xA5});
        std::fill(guarded.begin(), guarded.end(), std::byte{0xA5});
      }
    }
  }

  TEST_CASE("every cut of a block is refused")
  {
    bytes const page = support::patches(300, 5);
    bytes const block = block_of<runs>(page);
    bytes back(page.size(), std::byte{0x5C}), longer = block;
    for (std::size_t cut = 0; cut < block.size(); ++cut) {
      support::exact_copy const shorter(view<std::byte const>(block.data(), cut));
      CHECK(read_block<runs>(shorter, view<std::byte>(back)) == status::corrupt_input);
    }
    longer.push_back({});
    CHECK(read_bytes<runs>(longer, back) == status::corrupt_input);
    CHECK(back == bytes(page.size(), std::byte{0x5C}));
  }

  TEST_CASE("every flipped bit of a block is reported, and none reaches the output")
  {
    for (bytes const& page : {support::patches(200, 6), support::noise(100, 6)}) {
      bytes const block = block_of<runs>(page);
      bytes back(page.size(), std::byte{0x5C});
      for (std::size_t bit = 0; bit < 8 * block.size(); ++bit) {
        bytes damaged = block;
        damaged[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        CHECK(read_bytes<runs>(damaged, back) != status::ok);
      }
      CHECK(back == bytes(page.size(), std::byte{0x5C}));
    }
  }

  TEST_CASE("what is wrong with a block has a name")
  {
    bytes const page = support::patches(300, 7);
    bytes const block = block_of<runs>(page, {.table_id = 9});
    bytes back(page.size());
    CHECK(read_bytes<runs>(forged(block, 0, 0x3254, 2), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 2, SORA2_FORMAT_VERSION + 1, 1), back) ==
          status::wrong_version);
    CHECK(read_bytes<runs>(forged(block, 6, 0x8001, 2), back) == status::wrong_format);
    CHECK(read_bytes<runs>(forged(block, 8, 1, 4), back) == status::wrong_format);
    CHECK(read_bytes<support::host_runs>(block, back) == status::wrong_format);
    CHECK(read_bytes<runs>(block, back, {.table_id = 8}) == status::wrong_table);
    CHECK(read_bytes<runs>(block, back, {.table_id = 9}) == status::ok);
    bytes other(page.size() - 1);
    CHECK(read_bytes<runs>(block, other) == status::wrong_shape);
    // A header that contradicts itself, with a fitting checksum.
    std::uint32_t const stored = header_of(block).stored_bytes;
    CHECK(read_bytes<runs>(forged(block, 3, 0, 1), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 3, 5, 1), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 4, 1, 1), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 4, 2, 1), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 5, 4, 1), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 16, stored - 1, 4), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 12, stored, 4), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 20, 1, 2), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 22, 1, 1), back) == status::corrupt_input);
    CHECK(read_bytes<runs>(forged(block, 23, 1, 1), back) == status::corrupt_input);
    // A right header over a payload that its codec refuses.
    CHECK(read_bytes<runs>(forged(block, 32, 0, 1), back) == status::corrupt_input);
    bytes damaged = block;
    damaged[40] ^= std::byte{1};
    CHECK(read_bytes<runs>(damaged, back) == status::checksum_mismatch);
  }

  TEST_CASE("nobody allocates on the word of a header")
  {
    bytes const block = block_of<runs>(support::patches(300, 8));
    bytes const huge = forged(block, 12, 0xFFFFFFFFu, 4);
    CHECK(read_header(huge).has_value());  // whole, as far as the header can tell
    CHECK(read_header(huge, 1 << 20).error() == status::input_too_large);
    bytes back(300);
    CHECK(read_bytes<runs>(huge, back) == status::wrong_shape);
  }

  TEST_CASE_TEMPLATE("tiles come back in their shape", T, float16, bfloat16, float)
  {
    auto const values = support::wave<T>(3 * 7 * 40, 1);
    tile<T const> const page(values.data(), 3, 7, 40);
    bytes const block = block_of<whole_numbers>(page);
    block_header const h = header_of(block);
    CHECK(h.values == value_type_of<T>);
    CHECK(h.planes == 3);
    CHECK(h.columns == 40);
    CHECK(h.rows() == 7);
    CHECK(h.stored_bytes == 3 * 7 * 40);
    std::vector<T> back(values.size());
    CHECK(read_block<whole_numbers>(block, tile<T>(back.data(), 3, 7, 40)) == status::ok);
    for (std::size_t i = 0; i < back.size(); ++i)
      CHECK(to_float(back[i]) == std::nearbyint(to_float(values[i])));
    CHECK(read_block<whole_numbers>(block, tile<T>(back.data(), 7, 3, 40)) == status::wrong_shape);
    CHECK(read_block<whole_numbers>(block, tile<T>(back.data(), 3, 8, 35)) == status::wrong_shape);
    CHECK(read_block<whole_numbers>(block, tile<T>(back.data(), 3, 6, 40)) == status::wrong_shape);
    std::vector<std::byte> as_bytes(values.size() * sizeof(T));
    CHECK(read_block<runs>(block, view<std::byte>(as_bytes)) == status::wrong_format);
  }

  TEST_CASE("the first rows of every plane stay exact, and odd shapes keep the payload aligned")
  {
    for (std::uint32_t columns : {7u, 64u, 80u})
      for (std::uint32_t rows : {0u, 1u, 4u, 5u, 64u})
        for (std::uint32_t exact : {0u, 1u, 4u, 300u}) {
          auto const values = support::wave<float16>(2 * rows * columns, 2);
          tile<float16 const> const page(values.data(), 2, rows, columns);
          bytes const block = block_of<whole_numbers>(page, {.exact_rows = exact});
          block_header const h = header_of(block);
          std::vector<float16> back(values.size());
          REQUIRE(read_block<whole_numbers>(block, tile<float16>(back.data(), 2, rows, columns)) ==
                  status::ok);
          std::uint32_t const kept = h.is_raw() ? rows : h.exact_rows;
          CHECK(kept >= least(exact, rows));
          if (!h.is_raw()) CHECK(h.stored_bytes == h.exact_bytes() + 2 * (rows - exact) * columns);
          CHECK(h.exact_bytes() % 16 == 0);
          for (std::uint32_t p = 0; p < 2; ++p)
            for (std::uint32_t r = 0; r < rows; ++r)
              for (std::uint32_t c = 0; c < columns; ++c) {
                std::size_t const i = (p * rows + r) * columns + c;
                float const wanted =
                    r < kept ? to_float(values[i]) : std::nearbyint(to_float(values[i]));
                CHECK(to_float(back[i]) == wanted);
              }
        }
  }

  TEST_CASE("a tile whose planes lie apart is the same page")
  {
    auto const values = support::wave<float>(2 * 10 * 16, 4);
    tile<float const> apart(values.data(), 2, 10, 16);
    apart = apart.rows_from(2);  // two planes of 8 rows, 160 values from one to the next
    CHECK(!apart.dense());
    std::vector<float> dense;
    for (std::uint32_t p = 0; p < 2; ++p)
      dense.insert(dense.end(), apart.row(p, 0), apart.row(p, 0) + 8 * 16);
    bytes const block = block_of<whole_numbers>(apart, {.exact_rows = 1});
    CHECK(block ==
          block_of<whole_numbers>(tile<float const>(dense.data(), 2, 8, 16), {.exact_rows = 1}));
    std::vector<float> back(values.size(), -1.0f), back_dense(dense.size());
    tile<float> to(back.data(), 2, 10, 16);
    CHECK(read_block<whole_numbers>(block, to.rows_from(2)) == status::ok);
    CHECK(read_block<whole_numbers>(block, tile<float>(back_dense.data(), 2, 8, 16)) == status::ok);
    for (std::uint32_t p = 0; p < 2; ++p) {
      CHECK(std::memcmp(to.rows_from(2).row(p, 0), back_dense.data() + p * 128, 512) == 0);
      CHECK(to.row(p, 1)[15] == -1.0f);
    }
    bytes room(block_bound<runs>(apart.size() * 4));
    CHECK(write_block<runs>(apart, room).error() == status::wrong_shape);
  }

  TEST_CASE("a byte codec packs the bytes of a tile")
  {
    std::vector<float16> values(4 * 64, float16{0x3C00});
    values[100] = float16{0x7C00};  // infinity is only bytes to it
    for (std::size_t i = 0; i < values.size(); i += 2) values[i] = float16{0};
    for (auto& v : values) v.bits = static_cast<std::uint16_t>(v.bits & 0xFF00u ? 0x3C3Cu : 0u);
    bytes const block =
        block_of<runs>(tile<float16 const>(values.data(), 1, 4, 64), {.exact_rows = 2});
    CHECK(header_of(block).exact_rows == 0);  // nothing is lost anyway
    std::vector<float16> back(values.size());
    CHECK(read_block<runs>(block, tile<float16>(back.data(), 1, 4, 64)) == status::ok);
    CHECK(back == values);
    std::vector<float> wide(values.size());
    CHECK(read_block<runs>(block, tile<float>(wide.data(), 1, 4, 64)) == status::wrong_shape);
    bytes as_bytes(values.size() * 2);
    CHECK(read_bytes<runs>(block, as_bytes) == status::ok);
    CHECK(std::memcmp(as_bytes.data(), values.data(), as_bytes.size()) == 0);
  }

  TEST_CASE("values that the codec refuses are stored raw, bit for bit")
  {
    for (float odd : {std::numeric_limits<float>::infinity(), std::nanf("12"), -INFINITY}) {
      auto values = support::wave<float>(64, 9);
      values[33] = odd;
      bytes const block = block_of<whole_numbers>(tile<float const>(values.data(), 1, 2, 32));
      CHECK(header_of(block).is_raw());
      std::vector<float> back(64);
      CHECK(read_block<whole_numbers>(block, tile<float>(back.data(), 1, 2, 32)) == status::ok);
      CHECK(std::memcmp(back.data(), values.data(), 256) == 0);
      // In the exact rows it harms nobody.
      CHECK(!header_of(
                 block_of<whole_numbers>(tile<float const>(values.data(), 1, 2, 32).rows_from(0),
                                         {.exact_rows = 0}))
                 .exact_rows);
      std::swap(values[33], values[1]);
      bytes const kept =
          block_of<whole_numbers>(tile<float const>(values.data(), 1, 2, 32), {.exact_rows = 1});
      CHECK(!header_of(kept).is_raw());
      CHECK(header_of(kept).exact_rows == 1);
    }
  }

  TEST_CASE("a page is read as another type than it was written")
  {
    auto const values = support::wave<float16>(2 * 33 * 40, 11);
    tile<float16 const> const page(values.data(), 2, 33, 40);
    auto infinite = values;
    infinite[5] = float16{0x7C00};
    for (auto const& [source, exact] : {std::pair{values, 4u}, std::pair{infinite, 0u}}) {
      bytes const block = block_of<whole_numbers>(tile<float16 const>(source.data(), 2, 33, 40),
                                                  {.exact_rows = exact});
      std::vector<float16> same(values.size());
      std::vector<float> wide(values.size());
      std::vector<bfloat16> brain(values.size());
      REQUIRE(read_block<whole_numbers>(block, tile<float16>(same.data(), 2, 33, 40)) ==
              status::ok);
      REQUIRE(read_block<whole_numbers>(block, tile<float>(wide.data(), 2, 33, 40)) == status::ok);
      REQUIRE(read_block<whole_numbers>(block, tile<bfloat16>(brain.data(), 2, 33, 40)) ==
              status::ok);
      for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK(wide[i] == to_float(same[i]));
        CHECK(brain[i] == to_bfloat16(to_float(same[i])));
      }
      bytes shifted(block.size() + 1);
      std::copy(block.begin(), block.end(), shifted.begin() + 1);
      view<std::byte const> const odd(shifted.data() + 1, block.size());
      CHECK(read_block<whole_numbers>(odd, tile<float16>(same.data(), 2, 33, 40)) == status::ok);
      std::vector<float> again(values.size());
      CHECK(read_block<whole_numbers>(odd, tile<float>(again.data(), 2, 33, 40)) == status::ok);
      CHECK(again == wide);
    }
  }

  TEST_CASE("shapes beyond the header's fields are refused")
  {
    bytes out(400'000);
    std::vector<float> values(70'000);
    CHECK(write_block<whole_numbers>(tile<float const>(values.data(), 256, 1, 1), out).error() ==
          status::input_too_large);
    CHECK(write_block<whole_numbers>(tile<float const>(values.data(), 1, 1, 65'536), out).error() ==
          status::input_too_large);
    CHECK(write_block<whole_numbers>(tile<float const>(values.data(), 255, 1, 2), out).has_value());
    // A view of 4 GiB that is never touched.
    view<std::byte const> const reserved(reinterpret_cast<std::byte const*>(values.data()),
                                         0x100000000u);
    CHECK(write_block<runs>(reserved, out).error() == status::input_too_large);
  }

  TEST_CASE("the model names its table in the header, and another one is refused")
  {
    bytes const page = support::patches(300, 7);
    bytes out(block_bound<chained>(page.size()));
    auto const n = write_block<chained>(view<std::byte const>(page), out, {}, keyed::model{3});
    REQUIRE(n);
    out.resize(*n);
    CHECK(header_of(out).table_id == 0x103);
    bytes back(page.size());
    CHECK(read_block<chained>(out, view<std::byte>(back), {}, keyed::model{4}) ==
          status::wrong_table);
    CHECK(read_block<chained>(out, view<std::byte>(back), {.table_id = 0x103}, keyed::model{4}) ==
          status::ok);  // the caller knows better
    CHECK(back != page);
    CHECK(read_block<chained>(out, view<std::byte>(back), {}, keyed::model{3}) == status::ok);
    CHECK(back == page);
  }

  TEST_CASE("blocks are the same from every warp, and read by every warp")
  {
    auto const values = support::wave<float16>(2 * 9 * 70, 12);
    tile<float16 const> const page(values.data(), 2, 9, 70);
    bytes const raw = support::patches(300, 12), noise = support::noise(300, 12);
    bytes const of_values = block_of<whole_numbers>(page, {.exact_rows = 3});
    support::on_all_warps([&](auto const& w) {
      using warp = std::remove_cvref_t<decltype(w)>;
      whole_numbers::scratch<warp> s;
      bytes out(of_values.size() + 1500);
      auto const n =
          encode_block<whole_numbers>(w, s, page, view<std::byte>(out), {.exact_rows = 3});
      REQUIRE(n);
      out.resize(*n);
      CHECK(out == of_values);
      std::vector<float16> back(values.size()), wanted(values.size());
      CHECK(decode_block<whole_numbers>(w, s, out, tile<float16>(back.data(), 2, 9, 70)) ==
            status::ok);
      CHECK(read_block<whole_numbers>(out, tile<float16>(wanted.data(), 2, 9, 70)) == status::ok);
      CHECK(back == wanted);
      std::vector<float> wide(values.size());
      CHECK(decode_block<whole_numbers>(w, s, out, tile<float>(wide.data(), 2, 9, 70)) ==
            status::ok);
      CHECK(wide[700] == to_float(back[700]));

      runs::scratch<warp> t;
      for (bytes const& given : {raw, noise}) {
        bytes block(block_bound<runs>(300)), again(300);
        auto const m =
            encode_block<runs>(w, t, view<std::byte const>(given), view<std::byte>(block));
        REQUIRE(m);
        block.resize(*m);
        CHECK(block == block_of<runs>(given));
        CHECK(decode_block<runs>(w, t, block, view<std::byte>(again)) == status::ok);
        CHECK(again == given);
      }
    });
  }
}
