/// 32 x 32 bits, one row in each lane: rows and columns exchanged.
/// Smallest use: `x = transpose_bits(w, x);`: bit b of lane i becomes bit i of lane b. Its own inverse.
/// Limits: collective; five exchanges of lanes.
#pragma once

#include <cstdint>

#include <sora2/core/macros.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2 {

SORA2_TWO_SIDED
template <warp_context Warp>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<std::uint32_t, Warp>
transpose_bits(Warp const& w, lanes<std::uint32_t, Warp> x)
{
  auto const lane = w.lane();
  std::uint32_t low = 0x0000FFFFu;  // bits whose index lacks `half`
  for (int half = 16; half > 0; half >>= 1, low ^= low << half) {
    auto const other = w.shuffle_xor(x, half);
    auto const first = (lane & static_cast<std::uint32_t>(half)) == 0u;
    x = select(first, (x & low) | ((other & low) << half), (x & ~low) | ((other >> half) & low));
  }
  return x;
}

}  // namespace sora2
