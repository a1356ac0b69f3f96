#include <sora2/codec/lz4.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "support/byte_pages.hpp"
#include "support/device_pages.cuh"
#include "support/lz4_pages.hpp"

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

using support::byte_rows;
using support::slice;
using support::verdict;

/// decode_whole or decode_front, with or without a dictionary.
__global__ void decode_all(std::byte const* in, slice const* blocks, std::byte* out,
                           slice const* rooms, view<std::byte const> dictionary, bool front,
                           verdict* verdicts)
{
  slice const block = blocks[blockIdx.x], room = rooms[blockIdx.x];
  view<std::byte const> const from{in + block.first, block.size};
  view<std::byte> const to{out + room.first, room.size};
  cuda_warp const w;
  support::keep(verdicts + blockIdx.x, front ? lz4<>::decode_front(w, from, to, dictionary)
                                             : lz4<>::decode_whole(w, from, to, dictionary));
}

std::vector<bytes> some_pages()
{
  std::vector<bytes> pages;
  for (std::size_t n : {0u, 1u, 12u, 13u, 31u, 32u, 33u, 200u})
    pages.push_back(support::text(n, n));
  for (std::uint64_t seed = 0; seed < 12; ++seed) pages.push_back(support::mixture(1500, seed));
  for (std::size_t period : {1u, 2u, 7u, 31u, 32u, 33u, 100u})
    pages.push_back(support::repeated(2000, period));
  pages.push_back(support::noise(4096, 1));
  pages.push_back(bytes(20000));
  pages.push_back(support::text(5000, 3));
  return pages;
}
bytes host_block(bytes const& page)
{
  auto const s = std::make_unique<lz4<>::scratch<host_warp>>();
  bytes block(lz4<>::encoded_bound(page.size()));
  auto const n = lz4<>::encode(host_warp{}, *s, view<std::byte const>(page), block);
  REQUIRE(n);
  block.resize(*n);
  return block;
}

}  // namespace

TEST_SUITE("codec/lz4") {
  TEST_CASE("a kernel writes the blocks that the host writes")
  {
    if (!support::have_device()) return;
    auto const pages = some_pages();
    bytes const sample = support::text(3000, 9);
    auto const owner = std::make_unique<lz4_dictionary<>>(view<std::byte const>(sample));
    lz4_prefix const prefix = owner->reader();
    support::device_array<std::byte> const sample_there(sample);
    support::device_array<std::uint16_t> const table_there(
        std::vector<std::uint16_t>(prefix.table, prefix.table + (1u << lz4<>::config.hash_bits)));
    for (bool primed : {false, true}) {
      CAPTURE(primed);
      byte_rows in(1), out(1);
      std::vector<bytes> expected;
      for (std::size_t i = 0; i < pages.size(); ++i) {
        in.add(pages[i]);
        bytes block(lz4<>::encoded_bound(pages[i].size()));
        auto const s = std::make_unique<lz4<>::scratch<host_warp>>();
        view<std::byte const> const page(pages[i]);
        auto const n =
            primed ? lz4_primed<>::encode(host_warp{}, *s, page, view<std::byte>(block), prefix)
                   : lz4<>::encode(host_warp{}, *s, page, view<std::byte>(block));
        REQUIRE(n);
        block.resize(*n);
        out.add(bytes(i % 3 == 0 ? *n : i % 3 == 1 ? lz4<>::encoded_bound(page.size) : *n - 1));
        expected.push_back(block);
      }
      auto const said = primed
                            ? support::run_there(support::encode_pages<lz4_primed<>>, in, out,
                                                 lz4_prefix{{sample_there.data(), sample.size()},
                                                            table_there.data()})
                            : support::run_there(support::encode_pages<lz4<>>, in, out, no_model{});
      for (std::size_t i = 0; i < pages.size(); ++i) {
        CAPTURE(i);
        if (i % 3 == 2) {
          CHECK(said[i].what == status::output_too_small);
          continue;
        }
        REQUIRE(said[i].what == status::ok);
        REQUIRE(said[i].size == expected[i].size());
        CHECK(std::equal(expected[i].begin(), expected[i].end(), out[i].begin()));
      }
    }
  }

  TEST_CASE("a kernel decodes blocks, damaged and cut ones and their fronts, as the host does")
  {
    if (!support::have_device()) return;
    bytes const dictionary = support::text(500, 1);
    support::device_array<std::byte> const dictionary_there(dictionary);
    for (bool front : {false, true})
      for (bool primed : {false, true}) {
        CAPTURE(front);
        CAPTURE(primed);
        support::random_source next(5);
        view<std::byte const> const words =
            primed ? view<std::byte const>(dictionary) : view<std::byte const>{};
        byte_rows in(1), out(1);
        std::vector<verdict> expected;
        std::vector<bytes> bytes_expected;
        auto const add = [&](bytes const& block, std::size_t room) {
          bytes left(room);
          auto const n = front ? lz4<>::decode_front(host_warp{}, block, left, words)
                               : lz4<>::decode_whole(host_warp{}, block, left, words);
          expected.emplace_back(n);
          left.resize(n ? *n : 0);
          bytes_expected.push_back(left);
          in.add(block);
          out.add(bytes(room));
        };
        for (bytes const& page : some_pages()) {
          bytes block = host_block(page);
          add(block, page.size());
          add(block, page.size() / 2);
          for (int i = 0; i < 4; ++i) {
            block[next.below(static_cast<std::uint32_t>(block.size()))] =
                static_cast<std::byte>(next());
            add(block, page.size() + next.below(300));
          }
          add({block.begin(), block.begin() + static_cast<std::ptrdiff_t>(block.size() / 2)},
              page.size());
        }
        auto const said = support::run_there(
            decode_all, in, out,
            primed ? view<std::byte const>{dictionary_there.data(), dictionary.size()}
                   : view<std::byte const>{},
            front);
        std::size_t good = 0;
        for (std::size_t i = 0; i < in.size(); ++i) {
          CAPTURE(i);
          REQUIRE(said[i] == expected[i]);
          CHECK(std::equal(bytes_expected[i].begin(), bytes_expected[i].end(), out[i].begin()));
          good += said[i].what == status::ok;
        }
        CHECK(good > in.size() / 8);
        CHECK(good < in.size());
      }
  }
}
