/// The coder under `rans` and `context`: 32 interleaved rANS states, one a lane, over one stream of 16-bit words.
/// States lie in [2^15, 2^31), so signed comparisons serve and a reciprocal product divides exactly.
/// Limits: frequencies of one table sum to 2^Bits, Bits <= 12, none above 4095.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2::detail {

inline constexpr std::int32_t rans_least_state = 1 << 15;
inline constexpr std::uint32_t rans_states_least = 76;  ///< bytes of 32 states in a stream
inline constexpr std::uint32_t rans_states_most = 136;

/// Decoder table entry of one slot: frequency (12 bits), symbol (8), offset of the slot in its symbol (12).
[[nodiscard]] SORA2_HD constexpr std::uint32_t rans_slot(std::uint32_t frequency,
                                                         std::uint32_t offset, std::uint32_t symbol)
{
  return frequency << 20 | symbol << 12 | offset;
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

/// Bits below the leading one of each state.
SORA2_TWO_SIDED
template <class Warp>
SORA2_HD SORA2_INLINE lanes<std::uint32_t, Warp> state_bits(lanes<std::uint32_t, Warp> const& x)
{
  // 24 bits are a float without rounding; its exponent is the position of the leading one.
  return (bits_of(to_lanes_float(to_int(x >> 7))) >> 23) - (127u - 7u);
}
/// Bytes that write_states will take.
SORA2_TWO_SIDED
template <class Warp>
SORA2_HD SORA2_INLINE std::uint32_t states_bytes(Warp const& w, lanes<std::uint32_t, Warp> const& x)
{
  return 16 + (w.sum(state_bits<Warp>(x)) + 15) / 16 * 2;
}

/// Writes 32 states: for each 4 bits of how far it lies above 2^15 in octaves, then the bits below the leading one, lane
/// after lane. A state of 32 bits takes 26.5 on average. At most rans_states_most bytes.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE void write_states(Warp const& w, lanes<std::uint32_t, Warp> const& x,
                                        std::byte* to)
{
  std::uint32_t size = 16, nibbles = 0;
  std::uint64_t held = 0;
  int bits = 0;
  for (int i = 0; i < 32; ++i) {
    std::uint32_t const state = w.broadcast(x, i);
    int const length = bit_width(state) - 1;
    nibbles = nibbles >> 4 | static_cast<std::uint32_t>(length - 15) << 4;
    if (i % 2 != 0) w.store_one(to + i / 2, nibbles);
    held |= static_cast<std::uint64_t>(state ^ 1u << length) << bits;
    for (bits += length; bits >= 8; bits -= 8, held >>= 8)
      w.store_one(to + size++, static_cast<std::uint32_t>(held & 0xFFu));
  }
  if (bits > 0) w.store_one(to + size++, static_cast<std::uint32_t>(held));
  if (size % 2 != 0) w.store_one(to + size, 0u);
}

/// Reads what write_states wrote and gives its bytes; 0 when the stream is too short.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE std::uint32_t read_states(Warp const& w, view<std::byte const> in,
                                                lanes<std::uint32_t, Warp>& x)
{
  if (in.size < rans_states_least) return 0;
  auto const nibbles = w.template gather<std::uint32_t>(in.data, w.lane() >> 1);
  auto const length = ((nibbles >> ((w.lane() & 1u) << 2)) & 15u) + 15u;
  auto const before = w.prefix_sum(length);
  std::uint32_t const total = w.sum(length);
  std::uint32_t const bytes = 16 + (total + 15) / 16 * 2;
  if (in.size < bytes) return 0;
  auto const at = (before >> 3) + 16u;
  auto const skip = before & 7u;
  auto const part = [&](std::uint32_t i) {
    return w.template gather<std::uint32_t>(in.data, least(at + i, bytes - 1));
  };
  auto const low = part(0) | part(1) << 8 | part(2) << 16 | part(3) << 24;
  // Shifted in two steps, since a shift by 32 is none.
  auto const below = low >> skip | (part(4) << 1) << (lanes<std::uint32_t, Warp>(31u) - skip);
  auto const one = lanes<std::uint32_t, Warp>(1u) << length;
  x = one | (below & (one - 1u));
  return bytes;
}

/// The symbol of an entry in the low byte; bits above it are of no use.
SORA2_TWO_SIDED
template <class Warp>
SORA2_HD SORA2_INLINE lanes<std::uint32_t, Warp>
rans_symbols(lanes<std::uint32_t, Warp> const& entry)
{
  return entry >> 12;
}

/// One symbol per lane out of the states, by the table entries of their low bits.
SORA2_TWO_SIDED
template <int Bits, warp_context Warp>
SORA2_HD SORA2_INLINE void rans_advance(Warp const& w, lanes<std::uint32_t, Warp> const& entry,
                                        lanes<std::uint32_t, Warp>& x, word_source& words)
{
  x = (entry >> 20) * (x >> Bits) + (entry & 0xFFFu);
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
  x = select(chosen, (entry >> 20) * (x >> Bits) + (entry & 0xFFFu), x);
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

/// Moves bytes towards the start of a buffer; the places may overlap. Collective; bytes is even.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE void move_down(Warp const& w, std::byte* to, std::byte const* from,
                                     std::size_t bytes)
{
  if constexpr (unchecked_host_context<Warp>) {
    if (bytes != 0) std::memmove(to, from, bytes);
  } else {
    for (std::size_t i = 0; i < bytes; i += 64) {
      auto const n = static_cast<std::uint32_t>(least<std::size_t>(32, (bytes - i) / 2));
      auto const x =
          w.template load_n<std::uint32_t>(reinterpret_cast<std::uint16_t const*>(from + i), n, 0u);
      w.sync();
      w.store_n(reinterpret_cast<std::uint16_t*>(to + i), n, x);
      w.sync();
    }
  }
}

}  // namespace sora2::detail
