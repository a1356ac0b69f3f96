#include <sora2/codec/lz4.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include <sora2/simt/cuda_warp.cuh>
#include <sora2/simt/host_warp.hpp>

#include "support/byte_pages.hpp"
#include "support/cuda.cuh"
#include "support/lz4_pages.hpp"

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

/// Bytes of one page, or of its block, in a row of all of them.
struct slice {
  std::size_t first, size;
};
/// What a kernel says of one page.
struct verdict {
  status what = status::not_found;
  std::uint32_t size = 0;
};

__device__ void keep(verdict* out, result<std::size_t> const& n)
{
  if (threadIdx.x != 0) return;
  *out = n ? verdict{status::ok, static_cast<std::uint32_t>(*n)} : verdict{n.error(), 0};
}

__global__ void encode_all(std::byte const* in, slice const* pages, std::byte* out,
                           slice const* rooms, verdict* verdicts)
{
  __shared__ lz4<>::scratch<cuda_warp> s;
  slice const page = pages[blockIdx.x], room = rooms[blockIdx.x];
  keep(verdicts + blockIdx.x,
       lz4<>::encode(cuda_warp{}, s, view<std::byte const>{in + page.first, page.size},
                     view<std::byte>{out + room.first, room.size}));
}
__global__ void encode_primed(std::byte const* in, slice const* pages, std::byte* out,
                              slice const* rooms, lz4_prefix prefix, verdict* verdicts)
{
  __shared__ lz4_primed<>::scratch<cuda_warp> s;
  slice const page = pages[blockIdx.x], room = rooms[blockIdx.x];
  keep(verdicts + blockIdx.x,
       lz4_primed<>::encode(cuda_warp{}, s, view<std::byte const>{in + page.first, page.size},
                            view<std::byte>{out + room.first, room.size}, prefix));
}
__global__ void decode_all(std::byte const* in, slice const* blocks, std::byte* out,
                           slice const* rooms, view<std::byte const> dictionary, bool front,
                           verdict* verdicts)
{
  slice const block = blocks[blockIdx.x], room = rooms[blockIdx.x];
  view<std::byte const> const from{in + block.first, block.size};
  view<std::byte> const to{out + room.first, room.size};
  cuda_warp const w;
  keep(verdicts + blockIdx.x, front ? lz4<>::decode_front(w, from, to, dictionary)
                                    : lz4<>::decode_whole(w, from, to, dictionary));
}

/// Many rows of bytes in one, each at an odd place.
struct packed_rows {
  bytes all;
  std::vector<slice> slices;

  void add(view<std::byte const> row)
  {
    all.resize(all.size() + 1 + all.size() % 2);
    slices.push_back({all.size(), row.size});
    all.insert(all.end(), row.begin(), row.end());
  }
};
packed_rows rooms_for(std::vector<std::size_t> const& sizes)
{
  packed_rows rooms;
  for (std::size_t n : sizes) rooms.add(bytes(n));
  return rooms;
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
      packed_rows in;
      std::vector<bytes> expected;
      std::vector<std::size_t> sizes;
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
        sizes.push_back(i % 3 == 0 ? *n : i % 3 == 1 ? lz4<>::encoded_bound(page.size) : *n - 1);
        expected.push_back(block);
      }
      packed_rows const out = rooms_for(sizes);
      support::device_array<std::byte> const from(in.all), to(out.all);
      support::device_array<slice> const in_slices(in.slices), out_slices(out.slices);
      support::device_array<verdict> const verdicts{std::vector<verdict>(pages.size())};
      auto const count = static_cast<unsigned>(pages.size());
      if (primed)
        encode_primed<<<count, 32>>>(from.data(), in_slices.data(), to.data(), out_slices.data(),
                                     {{sample_there.data(), sample.size()}, table_there.data()},
                                     verdicts.data());
      else
        encode_all<<<count, 32>>>(from.data(), in_slices.data(), to.data(), out_slices.data(),
                                  verdicts.data());
      bytes const made = to.back();
      auto const said = verdicts.back();
      for (std::size_t i = 0; i < pages.size(); ++i) {
        CAPTURE(i);
        if (i % 3 == 2) {
          CHECK(said[i].what == status::output_too_small);
          continue;
        }
        REQUIRE(said[i].what == status::ok);
        REQUIRE(said[i].size == expected[i].size());
        CHECK(std::equal(expected[i].begin(), expected[i].end(),
                         made.begin() + static_cast<std::ptrdiff_t>(out.slices[i].first)));
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
        packed_rows in;
        std::vector<std::size_t> sizes;
        std::vector<verdict> expected;
        std::vector<bytes> bytes_expected;
        auto const add = [&](bytes const& block, std::size_t room) {
          bytes out(room);
          auto const n = front ? lz4<>::decode_front(host_warp{}, block, out, words)
                               : lz4<>::decode_whole(host_warp{}, block, out, words);
          expected.push_back(n ? verdict{status::ok, static_cast<std::uint32_t>(*n)}
                               : verdict{n.error(), 0});
          out.resize(n ? *n : 0);
          bytes_expected.push_back(out);
          in.add(block);
          sizes.push_back(room);
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
        packed_rows const out = rooms_for(sizes);
        support::device_array<std::byte> const from(in.all), to(out.all);
        support::device_array<slice> const in_slices(in.slices), out_slices(out.slices);
        support::device_array<verdict> const verdicts{std::vector<verdict>(sizes.size())};
        decode_all<<<static_cast<unsigned>(sizes.size()), 32>>>(
            from.data(), in_slices.data(), to.data(), out_slices.data(),
            primed ? view<std::byte const>{dictionary_there.data(), dictionary.size()}
                   : view<std::byte const>{},
            front, verdicts.data());
        bytes const made = to.back();
        auto const said = verdicts.back();
        std::size_t good = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          CAPTURE(i);
          REQUIRE(said[i].what == expected[i].what);
          REQUIRE(said[i].size == expected[i].size);
          CHECK(std::equal(bytes_expected[i].begin(), bytes_expected[i].end(),
                           made.begin() + static_cast<std::ptrdiff_t>(out.slices[i].first)));
          good += said[i].what == status::ok;
        }
        CHECK(good > sizes.size() / 8);
        CHECK(good < sizes.size());
      }
  }
}
