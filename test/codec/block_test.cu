// Blocks of chains, delta and planes in kernels: the same bytes as on the host, and read there.
#include <sora2/codec/block.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include <sora2/codec/chain.hpp>
#include <sora2/codec/delta.hpp>
#include <sora2/codec/planes.hpp>
#include <sora2/codec/tiers.hpp>
#include <sora2/simt/cuda_warp.cuh>

#include "support/byte_pages.hpp"
#include "support/codecs.hpp"
#include "support/cuda.cuh"

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

struct verdict {
  status what = status::not_found;
  std::uint32_t size = 0;
};

template <class Codec>
__global__ void write(view<std::byte const> page, view<std::byte> room, verdict* out)
{
  __shared__ typename Codec::template scratch<cuda_warp> s;
  auto const n = encode_block<Codec>(cuda_warp{}, s, page, room);
  if (threadIdx.x == 0)
    *out = n ? verdict{status::ok, static_cast<std::uint32_t>(*n)} : verdict{n.error(), 0};
}
template <class Codec>
__global__ void read(view<std::byte const> block, view<std::byte> page, verdict* out)
{
  __shared__ typename Codec::template scratch<cuda_warp> s;
  status const what = decode_block<Codec>(cuda_warp{}, s, block, page);
  if (threadIdx.x == 0) *out = {what, 0};
}
template <class Levels>
__global__ void write_level(level l, tile<float16 const> page, view<std::byte> room, verdict* out)
{
  __shared__ typename Levels::template scratch<cuda_warp> s;
  auto const n = Levels::encode_block(cuda_warp{}, s, l, page, room, {.exact_rows = 2});
  if (threadIdx.x == 0)
    *out = n ? verdict{status::ok, static_cast<std::uint32_t>(*n)} : verdict{n.error(), 0};
}
template <class Levels>
__global__ void read_level(view<std::byte const> block, tile<float> page, verdict* out)
{
  __shared__ typename Levels::template scratch<cuda_warp> s;
  status const what = Levels::decode_block(cuda_warp{}, s, block, page);
  if (threadIdx.x == 0) *out = {what, 0};
}

template <class Codec>
void check(bytes const& page)
{
  bytes wanted(block_bound<Codec>(page.size()));
  auto const n = write_block<Codec>(view<std::byte const>(page), view<std::byte>(wanted));
  REQUIRE(n);
  wanted.resize(*n);

  support::device_array<std::byte> const from(page), room(bytes(block_bound<Codec>(page.size())));
  support::device_array<verdict> const said(std::vector<verdict>(1));
  write<Codec><<<1, 32>>>({from.data(), page.size()},
                          {room.data(), block_bound<Codec>(page.size())}, said.data());
  bytes block = room.back();
  CHECK(said.back()[0].what == status::ok);
  REQUIRE(said.back()[0].size == wanted.size());
  block.resize(wanted.size());
  CHECK(block == wanted);

  support::device_array<std::byte> const stored(wanted), to(bytes(page.size()));
  read<Codec><<<1, 32>>>({stored.data(), wanted.size()}, {to.data(), page.size()}, said.data());
  CHECK(said.back()[0].what == status::ok);
  CHECK(to.back() == page);

  bytes damaged = wanted;
  damaged.back() ^= std::byte{1};
  support::device_array<std::byte> const bad(damaged);
  read<Codec><<<1, 32>>>({bad.data(), damaged.size()}, {to.data(), page.size()}, said.data());
  CHECK(said.back()[0].what == status::checksum_mismatch);
}

template <class... Stages>
using small_chain = chain_of<chain_config{.page_bytes = 4096}, Stages...>;
template <int Element, std::uint32_t Distance, delta_kind Kind = delta_kind::integer>
using apart = delta<delta_config{.element = Element, .distance = Distance, .kind = Kind}>;
template <int Element, plane_kind Kind>
using split = planes<planes_config{.element = Element, .kind = Kind}>;

}  // namespace

TEST_SUITE("codec/block") {
  TEST_CASE("bytes through delta, planes and runs in a kernel")
  {
    if (!support::have_device()) return;
    for (std::size_t size : {0u, 1u, 300u, 1029u, 2048u}) {
      bytes const page = support::patches(size, size);
      check<small_chain<apart<1, 1>, support::runs>>(page);
      check<small_chain<apart<2, 5, delta_kind::real>, split<2, plane_kind::bit>, support::runs>>(
          page);
      check<small_chain<apart<4, 33>, split<4, plane_kind::byte>, support::runs>>(page);
      check<small_chain<apart<8, 1>, split<8, plane_kind::bit>, support::runs>>(page);
    }
    check<split<1, plane_kind::bit>>(support::noise(777, 1));
  }

  TEST_CASE("a tile through a level chosen in the kernel")
  {
    if (!support::have_device()) return;
    using levels =
        tiers<support::whole_numbers,
              small_chain<support::whole_numbers, apart<1, 40>, support::runs>, support::host_runs>;
    auto const values = support::wave<float16>(2 * 9 * 40, 3, 4.0f);
    tile<float16 const> const page(values.data(), 2, 9, 40);
    support::device_array<float16> const from(values);
    support::device_array<verdict> const said(std::vector<verdict>(1));
    for (level l : {level::registers, level::fast}) {
      bytes wanted(levels::block_bound(values.size() * 2));
      auto const n = write_block<levels>(l, page, view<std::byte>(wanted), {.exact_rows = 2});
      REQUIRE(n);
      support::device_array<std::byte> const room(bytes(wanted.size()));
      write_level<levels><<<1, 32>>>(l, tile<float16 const>(from.data(), 2, 9, 40),
                                     {room.data(), wanted.size()}, said.data());
      bytes block = room.back();
      REQUIRE(said.back()[0].size == *n);
      wanted.resize(*n);
      block.resize(*n);
      CHECK(block == wanted);

      std::vector<float> host(values.size());
      REQUIRE(read_block<levels>(wanted, tile<float>(host.data(), 2, 9, 40)) == status::ok);
      support::device_array<std::byte> const stored(wanted);
      support::device_array<float> const to(std::vector<float>(values.size()));
      read_level<levels>
          <<<1, 32>>>({stored.data(), *n}, tile<float>(to.data(), 2, 9, 40), said.data());
      CHECK(said.back()[0].what == status::ok);
      CHECK(to.back() == host);
    }
    support::device_array<std::byte> const room(bytes(4000));
    write_level<levels><<<1, 32>>>(level::store, tile<float16 const>(from.data(), 2, 9, 40),
                                   {room.data(), 4000}, said.data());
    CHECK(said.back()[0].what == status::not_resident);
  }
}
