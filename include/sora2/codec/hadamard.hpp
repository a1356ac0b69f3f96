/// Walsh-Hadamard rotation of rows: spreads an outlier over its neighbours before quantisation, without any table.
/// Smallest use: `rotate_run(w, row, columns, scratch, hadamard_width(columns), rotation::forward)`.
/// Limits: widths 1, 2, 4, ..., 256. Both directions scale by powers of two only, so forward then inverse is the
/// identity up to the rounding of the sums. The order of operations is fixed: equal bits on every warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2 {

enum class rotation : std::uint8_t { forward, inverse };

/// The largest power of two, at most 256, that divides `columns`; 0 for 0.
[[nodiscard]] SORA2_HD constexpr std::uint32_t hadamard_width(std::uint32_t columns)
{
  return least(columns & (~columns + 1), 256u);
}

/// What each sum is multiplied by: 2^-floor(log2(width) / 2) forward, 2^-ceil(log2(width) / 2) back.
[[nodiscard]] SORA2_HD constexpr float hadamard_scale(std::uint32_t width, rotation direction)
{
  std::uint32_t const log2 = static_cast<std::uint32_t>(bit_width(width)) - 1, low = log2 / 2;
  return 1.0f / static_cast<float>(1u << (direction == rotation::forward ? low : log2 - low));
}

/// Transforms aligned runs of `width` values in 32 * Parts consecutive ones, value 32 * k + i in lane i of x[k].
/// Unscaled. `width` is a power of two up to 32 for Parts = 1, else 32 * Parts.
SORA2_TWO_SIDED
template <std::uint32_t Parts, warp_context Warp>
SORA2_HD SORA2_INLINE void hadamard(Warp const& w, lanes<float, Warp> (&x)[Parts],
                                    std::uint32_t width)
{
  SORA2_UNROLL_ON_HOST
  for (std::uint32_t i = 0; i < Parts; ++i) {
    if (width > 1) x[i] = w.butterfly(x[i], 1);
    if (width > 2) x[i] = w.butterfly(x[i], 2);
    if (width > 4) x[i] = w.butterfly(x[i], 4);
    if (width > 8) x[i] = w.butterfly(x[i], 8);
    if (width > 16) x[i] = w.butterfly(x[i], 16);
  }
  SORA2_UNROLL_ON_HOST
  for (std::uint32_t apart = 1; apart < Parts; apart *= 2) {
    SORA2_UNROLL_ON_HOST
    for (std::uint32_t i = 0; i < Parts; ++i) {
      if ((i & apart) != 0) continue;
      lanes<float, Warp> const low = x[i], high = x[i + apart];
      x[i] = low + high;
      x[i + apart] = low - high;
    }
  }
}

namespace detail {

/// The greatest finite value of a storage type.
template <class T>
[[nodiscard]] SORA2_HD constexpr float greatest_finite()
{
  return std::is_same_v<T, float16>    ? 65504.0f
         : std::is_same_v<T, bfloat16> ? 0x1.FEp127f
                                       : 0x1.FFFFFEp127f;
}

SORA2_TWO_SIDED
template <std::uint32_t Parts, class Warp, class From, class To>
SORA2_HD SORA2_INLINE void rotate_parts(Warp const& w, From const* from, To* to,
                                        std::uint32_t count, std::uint32_t width, float scale)
{
  for (std::uint32_t at = 0; at < count; at += 32 * Parts) {
    lanes<float, Warp> x[Parts];
    SORA2_UNROLL_ON_HOST
    for (std::uint32_t i = 0; i < Parts; ++i) {
      if constexpr (Parts == 1)
        x[i] = w.template load_n<float>(from + at, count - at, 0.0f) * scale;
      else
        x[i] = w.template load<float>(from + at + 32 * i) * scale;
    }
    hadamard(w, x, width);
    SORA2_UNROLL_ON_HOST
    for (std::uint32_t i = 0; i < Parts; ++i) {
      if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>)
        x[i] = greatest(least(x[i], greatest_finite<To>()), -greatest_finite<To>());
      if constexpr (Parts == 1)
        w.store_n(to + at, count - at, x[i]);
      else
        w.store(to + at + 32 * i, x[i]);
    }
  }
}

}  // namespace detail

/// Rotates each aligned run of `width` values out of `count`, a multiple of `width`. `from` and `to` are the same or
/// disjoint memory (or scratch) of float16, bfloat16 or float. Results beyond a 16-bit type become its greatest
/// finite value. Collective; the caller syncs before (where other lanes wrote `from`) and after.
SORA2_TWO_SIDED
template <warp_context Warp, class From, class To>
SORA2_HD SORA2_INLINE void rotate_run(Warp const& w, From const* from, To* to, std::uint32_t count,
                                      std::uint32_t width, rotation direction)
{
  float const scale = hadamard_scale(width, direction);
  if (width <= 32)
    detail::rotate_parts<1>(w, from, to, count, width, scale);
  else if (width == 64)
    detail::rotate_parts<2>(w, from, to, count, width, scale);
  else if (width == 128)
    detail::rotate_parts<4>(w, from, to, count, width, scale);
  else
    detail::rotate_parts<8>(w, from, to, count, width, scale);
}

}  // namespace sora2
