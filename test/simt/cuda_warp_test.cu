#include <sora2/simt/cuda_warp.cuh>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <sora2/simt/crc32c.hpp>
#include <sora2/simt/host_warp.hpp>

#include "support/cuda.cuh"
#include "support/warp_exercise.hpp"

using sora2::bfloat16;
using sora2::float16;
using sora2::view;

static_assert(sora2::warp_context<sora2::cuda_warp> && !sora2::host_context<sora2::cuda_warp>);
static_assert(sizeof(sora2::lanes<float, sora2::cuda_warp>) == 4);

namespace {

constexpr unsigned warps_in_block = 2;  // lanes are those of the warp, not of the block

__global__ void run_exercise(support::exercise_input const* in, std::uint32_t* rows)
{
  __shared__ support::exercise_scratch<sora2::cuda_warp> scratch[warps_in_block];
  sora2::cuda_warp const w;
  unsigned const slot = threadIdx.x / 32, number = blockIdx.x * warps_in_block + slot;
  support::exercise(w, scratch[slot], in[number], rows + number * 32 * support::exercise_rows);
}

__global__ void convert(float16 const* halves, bfloat16 const* brains, float* from_half,
                        float* from_brain)
{
  sora2::cuda_warp const w;
  unsigned const first = 32 * (blockIdx.x * warps_in_block + threadIdx.x / 32);
  w.store(from_half + first, w.load<float>(halves + first));
  w.store(from_brain + first, w.load<float>(brains + first));
}
__global__ void round_off(float const* reals, float16* halves, bfloat16* brains)
{
  sora2::cuda_warp const w;
  unsigned const first = 32 * (blockIdx.x * warps_in_block + threadIdx.x / 32);
  auto const x = w.load<float>(reals + first);
  w.store(halves + first, x);
  w.store(brains + first, x);
}

/// What one step on a stream gave.
struct step {
  std::uint32_t taken[32];
  std::uint32_t moved_bytes, overrun;
};
// Block b has bytes 512 * b to 512 * b + b of the room, from an odd address when b is a multiple of three.
__host__ __device__ constexpr unsigned skew_of(unsigned b) { return b % 3 == 0 ? 1 : 0; }

__global__ void take(std::byte const* streams, std::uint32_t mask, step* steps)
{
  sora2::cuda_warp const w;
  std::byte const* const from = streams + 512 * blockIdx.x + skew_of(blockIdx.x);
  sora2::word_source source{view<std::byte const>{from, blockIdx.x}};
  step& out = steps[blockIdx.x];
  w.store(out.taken, w.take_next(source, ((w.lane() * 0u + mask) >> w.lane() & 1u) == 1u));
  w.store_one(&out.moved_bytes, static_cast<std::uint32_t>(source.next - from));
  w.store_one(&out.overrun, source.overrun ? 1u : 0u);
}
__global__ void put(std::byte* rooms, std::uint32_t mask, step* steps)
{
  sora2::cuda_warp const w;
  std::byte* const room = rooms + 512 * blockIdx.x + skew_of(blockIdx.x);
  sora2::word_sink sink{view<std::byte>{room, blockIdx.x}};
  step& out = steps[blockIdx.x];
  w.put_before(sink, w.lane() * 0x01010101u, ((w.lane() * 0u + mask) >> w.lane() & 1u) == 1u);
  w.store_one(&out.moved_bytes, static_cast<std::uint32_t>(room + blockIdx.x - sink.next));
  w.store_one(&out.overrun, sink.overrun ? 1u : 0u);
}

__global__ void checksum(std::byte const* bytes, std::size_t const* first, std::size_t const* size,
                         std::uint32_t* values)
{
  sora2::cuda_warp const w;
  w.store_one(
      values + blockIdx.x,
      sora2::crc32c(w, view<std::byte const>{bytes + first[blockIdx.x], size[blockIdx.x]}, 9));
}

__global__ void move(std::byte const* from, std::byte* to, std::size_t bytes, unsigned skew)
{
  sora2::cuda_warp{}.copy(to + skew, from, bytes);
}

std::vector<std::byte> noise(std::size_t n)
{
  std::vector<std::byte> v(n);
  std::uint32_t state = 1;
  for (auto& b : v) b = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
  return v;
}

}  // namespace

TEST_SUITE("simt/cuda_warp") {
  TEST_CASE("every operation gives what plain loops give")
  {
    if (!support::have_device()) return;
    constexpr unsigned blocks = 6;
    std::vector<support::exercise_input> in;
    for (std::uint32_t seed = 0; seed < blocks * warps_in_block; ++seed)
      in.push_back(support::exercise_data(seed, seed % 2 == 1));
    support::device_array<support::exercise_input> const inputs(in);
    support::device_array<std::uint32_t> const rows(
        std::vector<std::uint32_t>(in.size() * 32 * support::exercise_rows, 0xDEADBEEFu));
    run_exercise<<<blocks, 32 * warps_in_block>>>(inputs.data(), rows.data());
    auto const all = rows.back();
    for (std::size_t number = 0; number < in.size(); ++number) {
      auto const expected = support::expected_rows(in[number]);
      std::uint32_t const* const mine = all.data() + number * 32 * support::exercise_rows;
      for (std::size_t r = 0; r < expected.size(); ++r)
        for (std::size_t i = 0; i < 32; ++i) {
          if (mine[32 * r + i] == expected[r].value[i]) continue;
          FAIL_CHECK("seed " << number << ", row " << r << " (" << expected[r].name << "), lane "
                             << i << ": " << mine[32 * r + i] << " instead of "
                             << expected[r].value[i]);
        }
      CHECK(mine[32 * expected.size()] == 0xDEADBEEFu);
    }
  }

  TEST_CASE("all 16-bit floats, and floats around every place where rounding changes")
  {
    if (!support::have_device()) return;
    std::vector<float16> halves(65536);
    std::vector<bfloat16> brains(65536);
    std::vector<float> reals;
    for (std::uint32_t i = 0; i < 65536; ++i) {
      halves[i].bits = brains[i].bits = static_cast<std::uint16_t>(i);
      for (std::uint32_t lower : {0u, 1u, 0x0FFFu, 0x1000u, 0x1001u, 0x3000u, 0x7FFFu, 0x8000u})
        reals.push_back(sora2::bit_cast<float>(i << 16 | lower));
    }
    support::device_array<float16> const half_in(halves),
        half_out{std::vector<float16>(reals.size())};
    support::device_array<bfloat16> const brain_in(brains),
        brain_out{std::vector<bfloat16>(reals.size())};
    support::device_array<float> const real_in(reals), from_half{std::vector<float>(65536)},
        from_brain{std::vector<float>(65536)};
    convert<<<65536 / 64, 64>>>(half_in.data(), brain_in.data(), from_half.data(),
                                from_brain.data());
    round_off<<<static_cast<unsigned>(reals.size() / 64), 64>>>(real_in.data(), half_out.data(),
                                                                brain_out.data());
    auto const a = from_half.back(), b = from_brain.back();
    for (std::size_t i = 0; i < 65536; ++i) {
      REQUIRE(support::row_list::exact(a[i]) == support::row_list::exact(to_float(halves[i])));
      REQUIRE(support::row_list::exact(b[i]) == support::row_list::exact(to_float(brains[i])));
    }
    auto const c = half_out.back();
    auto const d = brain_out.back();
    for (std::size_t i = 0; i < reals.size(); ++i) {
      REQUIRE(c[i] == sora2::to_float16(reals[i]));
      REQUIRE(d[i] == sora2::to_bfloat16(reals[i]));
    }
  }

  TEST_CASE("streams are read and written as on the host at every length of what is left")
  {
    if (!support::have_device()) return;
    constexpr unsigned lengths = 150;
    auto const bytes = noise(512 * lengths);
    support::device_array<std::byte> const streams(bytes);
    for (std::uint32_t const mask : {0xFFFFFFFFu, 0u, 0x80000001u, 0x00FF0F35u, 0xFFFF0000u}) {
      support::device_array<step> const taken{std::vector<step>(lengths)},
          written{std::vector<step>(lengths)};
      support::device_array<std::byte> const rooms(bytes);
      take<<<lengths, 32>>>(streams.data(), mask, taken.data());
      put<<<lengths, 32>>>(rooms.data(), mask, written.data());
      auto const t = taken.back(), p = written.back();
      auto const room = rooms.back();
      auto expected_room = bytes;
      for (unsigned n = 0; n < lengths; ++n) {
        std::byte const* const from = bytes.data() + 512 * n + skew_of(n);
        sora2::word_source source{view<std::byte const>{from, n}};
        std::byte* const to = expected_room.data() + 512 * n + skew_of(n);
        sora2::word_sink sink{view<std::byte>{to, n}};
        sora2::host_warp const w;
        std::uint32_t expected[32];
        auto const chosen = ((w.lane() * 0u + mask) >> w.lane() & 1u) == 1u;
        w.store(expected, w.take_next(source, chosen));
        w.put_before(sink, w.lane() * 0x01010101u, chosen);
        for (std::size_t i = 0; i < 32; ++i) REQUIRE(t[n].taken[i] == expected[i]);
        REQUIRE(t[n].moved_bytes == source.next - from);
        REQUIRE(t[n].overrun == (source.overrun ? 1 : 0));
        REQUIRE(p[n].moved_bytes == to + n - sink.next);
        REQUIRE(p[n].overrun == (sink.overrun ? 1 : 0));
      }
      CHECK(room == expected_room);
    }
  }

  TEST_CASE("CRC-32C and copies at lengths and addresses of all kinds")
  {
    if (!support::have_device()) return;
    auto const bytes = noise(9000);
    std::vector<std::size_t> first, size;
    for (std::size_t n = 0; n < 300; n += n < 20 ? 1 : 7)
      for (std::size_t skew : {0u, 1u, 4u}) first.push_back(skew), size.push_back(n);
    first.push_back(8), size.push_back(8192);
    support::device_array<std::byte> const device_bytes(bytes);
    support::device_array<std::size_t> const device_first(first), device_size(size);
    support::device_array<std::uint32_t> const values{std::vector<std::uint32_t>(size.size())};
    checksum<<<static_cast<unsigned>(size.size()), 32>>>(device_bytes.data(), device_first.data(),
                                                         device_size.data(), values.data());
    auto const v = values.back();
    for (std::size_t i = 0; i < v.size(); ++i)
      REQUIRE(v[i] == sora2::crc32c(view<std::byte const>{bytes.data() + first[i], size[i]}, 9));

    for (unsigned skew : {0u, 16u, 3u})
      for (std::size_t n : {0u, 1u, 15u, 16u, 33u, 600u, 1024u}) {
        support::device_array<std::byte> const to(std::vector<std::byte>(1100, std::byte{0}));
        move<<<1, 32>>>(device_bytes.data(), to.data(), n, skew);
        std::vector<std::byte> expected(1100, std::byte{0});
        std::copy_n(bytes.begin(), n, expected.begin() + skew);
        REQUIRE(to.back() == expected);
      }
  }
}
