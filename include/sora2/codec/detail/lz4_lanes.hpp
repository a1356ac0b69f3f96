/// LZ4 blocks by a warp: tokens are parsed by all lanes alike, bytes are hashed, compared and moved by lane.
/// The encoder probes 32 positions of one fixed course at a time, so that its bytes are those of lz4_scalar.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sora2/codec/detail/lz4_block.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2::detail {

SORA2_HD SORA2_INLINE std::uint32_t lz4_up_to_32(std::size_t n)
{
  return static_cast<std::uint32_t>(least<std::size_t>(n, 32));
}

/// Adds the extension bytes from `at` on. False when they run into the end of the input.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE bool lz4_read_length(Warp const& w, view<std::byte const> in, std::size_t& at,
                                           std::size_t& length)
{
  while (at < in.size) {
    std::uint32_t const n = lz4_up_to_32(in.size - at);
    auto const bytes = w.template load_n<std::uint32_t>(in.data + at, n, 255u);
    std::uint32_t const last = w.ballot(bytes != 255u);
    if (last != 0) {
      int const i = lowest_bit(last);
      length += 255u * static_cast<std::uint32_t>(i) + w.broadcast(bytes, i);
      at += static_cast<std::uint32_t>(i) + 1;
      return true;
    }
    length += 255u * std::size_t{n};
    at += n;
  }
  return false;
}

/// Repeats the `offset` bytes before `to` over `length` bytes.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE void lz4_repeat(Warp const& w, std::byte* to, std::uint32_t offset,
                                      std::size_t length)
{
  if (length == 0) return;
  std::byte const* const from = to - offset;
  if (offset < 32 || length <= 32) {
    // Lane i takes byte i % offset; the quotient is exact for lanes and offsets below 32.
    auto const lane = w.lane();
    std::uint32_t const reciprocal = offset < 32 ? 65536u / offset + 1u : 0u;
    auto const place = lane - ((lane * reciprocal) >> 16) * offset;
    auto const bytes = w.template gather<std::uint32_t>(from, place);
    std::uint32_t const stride = offset < 32 ? 32u - 32u % offset : 32u;
    while (length != 0) {
      std::uint32_t const n = static_cast<std::uint32_t>(least<std::size_t>(length, stride));
      w.store_n(to, n, bytes);
      to += n;
      length -= n;
    }
    return;
  }
  // What is there already doubles with every copy.
  for (;;) {
    std::size_t const n = least(static_cast<std::size_t>(to - from), length);
    w.copy(to, from, n);
    to += n;
    length -= n;
    if (length == 0) return;
    w.sync();
  }
}

/// Decodes and gives the number of bytes made.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE result<std::size_t>
lz4_decode_lanes(Warp const& w, view<std::byte const> in, view<std::byte> out,
                 view<std::byte const> dictionary, lz4_stop stop)
{
  dictionary = lz4_reachable(dictionary);
  std::size_t at = 0, made = 0;
  while (at < in.size) {
    // One read brings the token and, where the literals are few, all of them and the offset.
    auto const head =
        w.template load_n<std::uint32_t>(in.data + at, lz4_up_to_32(in.size - at), 0u);
    std::uint32_t const token = w.broadcast(head, 0);
    std::size_t literals = token >> 4;
    bool const few = literals != lz4_length_mask;
    ++at;
    if (!few && !lz4_read_length(w, in, at, literals)) return status::corrupt_input;
    std::size_t room = out.size - made;
    bool full = stop == lz4_stop::when_full && literals >= room;
    if (full) literals = room;
    if (literals > in.size - at) return status::corrupt_input;
    if (literals > room) return status::output_too_small;
    if (few)
      w.store_n(out.data + made, static_cast<std::uint32_t>(literals),
                w.shuffle(head, (w.lane() + 1u) & 31u));
    else
      w.copy(out.data + made, in.data + at, literals);
    w.sync();
    if (full) return out.size;
    at += literals;
    made += literals;
    if (at == in.size) return made;

    if (in.size - at < 2) return status::corrupt_input;
    std::uint32_t offset;
    if (few) {
      int const i = static_cast<int>(literals) + 1;
      offset = w.broadcast(head, i) | w.broadcast(head, i + 1) << 8;
    } else {
      auto const pair = w.template load_n<std::uint32_t>(in.data + at, 2, 0u);
      offset = w.broadcast(pair, 0) | w.broadcast(pair, 1) << 8;
    }
    at += 2;
    std::size_t length = token & lz4_length_mask;
    if (length == lz4_length_mask && !lz4_read_length(w, in, at, length))
      return status::corrupt_input;
    length += lz4_least_match;
    if (offset == 0 || offset > made + dictionary.size) return status::corrupt_input;
    room -= literals;
    full = stop == lz4_stop::when_full && length >= room;
    if (full) length = room;
    if (length > room) return status::output_too_small;
    if (offset > made) {
      std::size_t const n = least(offset - made, length);
      w.copy(out.data + made, dictionary.end() - (offset - made), n);
      w.sync();
      made += n;
      length -= n;
    }
    lz4_repeat(w, out.data + made, offset, length);
    w.sync();
    made += length;
    if (full) return out.size;
  }
  return status::corrupt_input;
}

/// What an encoder may find matches in: the input, or a dictionary and the input behind it, as one row of bytes.
template <bool Primed>
struct lz4_source {
  view<std::byte const> dictionary, in;

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE lanes<std::uint32_t, Warp> byte_at(Warp const& w,
                                                           lanes<std::uint32_t, Warp> const& place,
                                                           lane_mask<Warp> const& chosen) const
  {
    if constexpr (Primed) {
      std::uint32_t const before = static_cast<std::uint32_t>(dictionary.size);
      auto const late = place >= before;
      return w.template gather<std::uint32_t>(in.data, place - before, chosen & late, 0u) |
             w.template gather<std::uint32_t>(dictionary.data, place, chosen & ~late, 0u);
    } else
      return w.template gather<std::uint32_t>(in.data, place, chosen, 0u);
  }
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE lanes<std::uint32_t, Warp> four_at(Warp const& w,
                                                           lanes<std::uint32_t, Warp> const& place,
                                                           lane_mask<Warp> const& chosen) const
  {
    lanes<std::uint32_t, Warp> four(0u);
    SORA2_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i)
      four = four | byte_at(w, place + i, chosen) << static_cast<int>(8 * i);
    return four;
  }
};

/// Slots in the table for the bytes at 32 places, of which `four` are given: lz4_hash in 32-bit arithmetic.
SORA2_TWO_SIDED
template <auto Config, bool Primed, warp_context Warp>
SORA2_HD SORA2_INLINE lanes<std::uint32_t, Warp>
lz4_slots(Warp const& w, lz4_source<Primed> const& source, lanes<std::uint32_t, Warp> const& place,
          lanes<std::uint32_t, Warp> const& four, lane_mask<Warp> const& chosen)
{
  using uints = lanes<std::uint32_t, Warp>;
  static_assert(Config.hash_bytes == 4 || Config.hash_bytes == 5);
  uints high = four * uints(lz4_hash_factor);
  if constexpr (Config.hash_bytes == 5)
    high = mul_hi(four << 24, uints(lz4_hash_factor)) +
           ((four >> 8) | source.byte_at(w, place + 4u, chosen) << 24) * uints(lz4_hash_factor);
  return high >> (32 - Config.hash_bits);
}

/// Writes the extension bytes of a half token and gives the place behind them.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE std::byte* lz4_write_length(Warp const& w, std::byte* to, std::size_t length)
{
  if (length < lz4_length_mask) return to;
  length -= lz4_length_mask;
  for (; length >= 255 * 32; length -= 255 * 32, to += 32)
    w.store(to, lanes<std::uint32_t, Warp>(255u));
  std::uint32_t const whole = static_cast<std::uint32_t>(length) / 255;
  auto const last = static_cast<std::uint32_t>(length) % 255;
  w.store_n(to, whole + 1,
            select(w.lane() == whole, lanes<std::uint32_t, Warp>(last),
                   lanes<std::uint32_t, Warp>(255u)));
  return to + whole + 1;
}

/// Encodes as lz4_encode_scalar does.
SORA2_TWO_SIDED
template <auto Config, bool Primed, warp_context Warp, class Slot>
SORA2_HD SORA2_INLINE result<std::size_t>
lz4_encode_lanes(Warp const& w, Slot* table, view<std::byte const> in, view<std::byte> out,
                 view<std::byte const> dictionary)
{
  static_assert(Config.skip_bits >= 5, "all lanes of a batch are one step apart");
  using uints = lanes<std::uint32_t, Warp>;
  auto const lane = w.lane();
  lz4_source<Primed> const source{dictionary, in};
  // Places count from the start of the dictionary; the input begins at place `before`.
  std::uint32_t const before = Primed ? static_cast<std::uint32_t>(dictionary.size) : 0;
  std::uint32_t const end = before + static_cast<std::uint32_t>(in.size);
  std::uint32_t anchor = before;
  std::byte* to = out.data;
  std::byte* const out_end = out.data + out.size;

  if (in.size > lz4_last_start) {
    std::uint32_t const last_start = end - lz4_last_start, match_end = end - lz4_last_literals;
    std::uint32_t at = Primed ? before : before + 1;
    for (;;) {
      std::uint32_t hits = 0, match = 0;
      for (std::uint32_t probe = Config.acceleration << Config.skip_bits; at <= last_start;
           probe += 32) {
        std::uint32_t const step = probe >> Config.skip_bits;
        uints const place = at + lane * step;
        auto const inside = place <= last_start;
        uints const bytes = source.four_at(w, place, inside);
        uints const slot = lz4_slots<Config>(w, source, place, bytes, inside);
        uints const twin = w.previous_equal(select(inside, slot, lane + (1u << Config.hash_bits)));
        uints const stored = w.template gather<std::uint32_t>(table, slot, inside, 0u);
        uints const last_seen = select(twin < 32u, at + twin * step, stored);
        uints const offset = (place - last_seen) & lz4_reach;
        uints const candidate = place - offset;
        auto ok = inside & (offset != 0u);
        if constexpr (Primed)
          ok = ok & ((candidate >= before) | (candidate + lz4_least_match <= before));
        ok = ok & (source.four_at(w, candidate, ok) == bytes);
        hits = w.ballot(ok);
        std::uint32_t const first = static_cast<std::uint32_t>(lowest_bit(hits));
        w.sync();
        w.scatter(table, slot, place, inside & (lane <= first));
        w.sync();
        if (hits != 0) {
          match = w.broadcast(candidate, static_cast<int>(first));
          at += first * step;
          break;
        }
        at += 32 * step;
      }
      if (hits == 0) break;

      std::uint32_t const floor = Primed && match < before ? 0 : before;
      std::uint32_t const offset = at - match;
      std::uint32_t start = at;
      for (;;) {
        std::uint32_t const reach = least(start - anchor, match - floor);
        auto const open = lane < reach;
        auto const same = source.byte_at(w, start - 1u - lane, open) ==
                          source.byte_at(w, match - 1u - lane, open);
        std::uint32_t const n = static_cast<std::uint32_t>(lowest_bit(w.ballot(~(open & same))));
        start -= n;
        match -= n;
        if (n < 32) break;
      }
      std::uint32_t length = at - start + lz4_least_match;
      for (;;) {
        auto const open = lane < match_end - start - length;
        auto const same = source.byte_at(w, start + length + lane, open) ==
                          source.byte_at(w, match + length + lane, open);
        std::uint32_t const n = static_cast<std::uint32_t>(lowest_bit(w.ballot(~(open & same))));
        length += n;
        if (n < 32) break;
      }

      std::size_t const literals = start - anchor, code = length - lz4_least_match;
      if (static_cast<std::size_t>(out_end - to) <
          3 + lz4_extension(literals) + literals + lz4_extension(code))
        return status::output_too_small;
      w.store_one(to, static_cast<std::byte>(least<std::size_t>(literals, lz4_length_mask) << 4 |
                                             least<std::size_t>(code, lz4_length_mask)));
      to = lz4_write_length(w, to + 1, literals);
      w.copy(to, in.data + (anchor - before), literals);
      to += literals;
      w.store_n(to, 2, uints(offset) >> ((lane & 1u) << 3));
      to = lz4_write_length(w, to + 2, code);
      at = anchor = start + length;
      if (at > last_start) break;
      // The place two before the next probe; one lane does it.
      auto const one = lane == 0u;
      uints const place = uints(at - 2);
      w.scatter(table, lz4_slots<Config>(w, source, place, source.four_at(w, place, one), one),
                place, one);
      w.sync();
    }
  }

  std::size_t const literals = end - anchor;
  if (static_cast<std::size_t>(out_end - to) < 1 + lz4_extension(literals) + literals)
    return status::output_too_small;
  w.store_one(to, static_cast<std::byte>(least<std::size_t>(literals, lz4_length_mask) << 4));
  to = lz4_write_length(w, to + 1, literals);
  w.copy(to, in.data + (anchor - before), literals);
  w.sync();
  return static_cast<std::size_t>(to - out.data) + literals;
}

}  // namespace sora2::detail
