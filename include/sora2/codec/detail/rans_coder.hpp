/// The coder under `rans` and `context`: 32 interleaved rANS states, one a lane, over one stream of 16-bit words.
/// States lie in [2^15, 2^31), so signed comparisons serve and a reciprocal product divides exactly.
/// Limits: frequencies of one table sum to 2^Bits, Bits <= 12, none above 4095.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2::detail {

inline constexpr std::int32_t rans_least_state = 1 << 15;

/// Decoder table entry of one slot: frequency (12 bits), offset of the slot in its symbol (12), symbol (8).
[[nodiscard]] SORA2_HD constexpr std::uint32_t rans_slot(std::uint32_t frequency,
                                                         std::uint32_t offset, std::uint32_t symbol)
{
  return frequency << 20 | offset << 8 | symbol;
}

/// Encoder table entry of one symbol: two words that replace the division by its frequency.
struct rans_symbol {
  std::uint32_t reciprocal;
  std::uint32_t step;  ///< shift (4 bits from bit 25), bias (13 from bit 12), frequency (12)
};
/// Marks symbols that are coded as an escape followed by the symbol itself.
inline constexpr std::uint32_t rans_escaped = 1u << 31;

template <int Bits>
[[nodiscard]] SORA2_HD constexpr rans_symbol make_rans_symbol(std::uint32_t start,
                                                              std::uint32_t frequency)
{
  // With x < 2^31: floor(x / f) = mul_hi(x, r) >> (s - 1) for s = ceil(log2 f), r = ceil(2^(31 + s) / f).
  // f = 1 would need r = 2^32: 2^32 - 1 gives x - 1 instead, which the bias makes good.
  if (frequency <= 1) return {0xFFFFFFFFu, frequency | (start + (1u << Bits) - 1) << 12};
  std::uint32_t const s = static_cast<std::uint32_t>(bit_width(frequency - 1));
  std::uint64_t const reciprocal = ((std::uint64_t{1} << (31 + s)) + frequency - 1) / frequency;
  return {static_cast<std::uint32_t>(reciprocal), frequency | start << 12 | (s - 1) << 25};
}

/// One symbol per lane out of the states. Gives the table entries: the symbol is the low byte.
SORA2_TWO_SIDED
template <int Bits, warp_context Warp>
SORA2_HD SORA2_INLINE void rans_advance(Warp const& w, lanes<std::uint32_t, Warp> const& entry,
                                        lanes<std::uint32_t, Warp>& x, word_source& words)
{
  x = (entry >> 20) * (x >> Bits) + ((entry >> 8) & 0xFFFu);
  auto const need = to_int(x) < rans_least_state;
  x = select(need, x << 16 | w.take_next(words, need), x);
}
/// The same for chosen lanes only.
SORA2_TWO_SIDED
template <int Bits, warp_context Warp>
SORA2_HD SORA2_INLINE void rans_advance(Warp const& w, lanes<std::uint32_t, Warp> const& entry,
                                        lanes<std::uint32_t, Warp>& x, word_source& words,
                                        lane_mask<Warp> const& chosen)
{
  x = select(chosen, (entry >> 20) * (x >> Bits) + ((entry >> 8) & 0xFFFu), x);
  auto const need = (to_int(x) < rans_least_state) & chosen;
  x = select(need, x << 16 | w.take_next(words, need), x);
}

/// One symbol per chosen lane into the states; the inverse of rans_advance, in reverse order.
SORA2_TWO_SIDED
template <int Bits, warp_context Warp>
SORA2_HD SORA2_INLINE void rans_push(Warp const& w, lanes<std::uint32_t, Warp> const& reciprocal,
                                     lanes<std::uint32_t, Warp> const& step,
                                     lanes<std::uint32_t, Warp>& x, word_sink& words,
                                     lane_mask<Warp> const& chosen)
{
  auto const frequency = step & 0xFFFu;
  auto const full = (to_int(x) >= to_int(frequency << (31 - Bits))) & chosen;
  w.put_before(words, x, full);
  auto const y = select(full, x >> 16, x);
  auto const quotient = mul_hi(y, reciprocal) >> ((step >> 25) & 15u);
  auto const next = y + ((step >> 12) & 0x1FFFu) + quotient * ((1u << Bits) - frequency);
  x = select(chosen, next, y);
}

}  // namespace sora2::detail
