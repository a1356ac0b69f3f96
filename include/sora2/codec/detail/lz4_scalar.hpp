/// LZ4 blocks on one CPU core: the fast twin of lz4_lanes.hpp, with the same bytes and verdicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sora2/codec/detail/lz4_block.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/view.hpp>

namespace sora2::detail {

/// Not for more than 16 bytes: g++ keeps a larger copy in memory as well.
template <std::size_t Bytes>
SORA2_INLINE void lz4_copy(std::byte* to, std::byte const* from)
{
  std::byte block[Bytes];
  std::memcpy(block, from, Bytes);
  std::memcpy(to, block, Bytes);
}
/// Copies up to `end`, and up to 31 bytes more, from at least 16 bytes before.
SORA2_INLINE void lz4_copy_until(std::byte* end, std::byte* to, std::byte const* from)
{
  do {
    lz4_copy<16>(to, from);
    lz4_copy<16>(to + 16, from + 16);
    to += 32;
    from += 32;
  } while (to < end);
}

/// Adds the extension bytes at `ip`. False when they run into the end of the input.
SORA2_INLINE bool lz4_read_length(std::byte const*& ip, std::byte const* end, std::size_t& length)
{
  // A page that is all literals has 255 after 255.
  for (; end - ip >= 8 && load_le<std::uint64_t>(ip) == ~std::uint64_t{0}; ip += 8)
    length += std::size_t{8} * 255;
  std::uint32_t b;
  do {
    if (ip == end) return false;
    b = static_cast<std::uint32_t>(*ip++);
    length += b;
  } while (b == 255);
  return true;
}

// What the fast loop below may touch beyond its cursors: a token, 16 bytes of literals and an offset are read; a run of
// literals, of at most 14 bytes, and a match, of at most 18, are written in pieces of up to 16 bytes.
inline constexpr std::ptrdiff_t lz4_input_margin = 20, lz4_output_margin = 64;

/// For a period of n < 8 bytes: how to fill eight bytes with it, and how far whole periods reach in them.
struct lz4_period {
  std::uint64_t mask, factor;
  std::size_t reach;
};
inline constexpr lz4_period lz4_periods[8] = {
    {0, 0, 8},
    {0xFF, 0x0101010101010101, 8},
    {0xFFFF, 0x0001000100010001, 8},
    {0xFFFFFF, 0x0001000001000001, 6},
    {0xFFFFFFFF, 0x0000000100000001, 8},
    {0xFFFFFFFFFF, 0x0000010000000001, 5},
    {0xFFFFFFFFFFFF, 0x0001000000000001, 6},
    {0xFFFFFFFFFFFFFF, 0x0100000000000001, 7},
};

/// Repeats the `offset` bytes before `to`, 1..15, over `length` bytes; writes up to 16 more. No byte that is written
/// here is read again here: such reads wait until the writes have left the store buffer.
SORA2_INLINE void lz4_repeat_short(std::byte* to, std::size_t offset, std::size_t length)
{
  std::byte* const end = to + length;
  if (offset < 8) {
    lz4_period const& p = lz4_periods[offset];
    std::uint64_t const filled = (load_le<std::uint64_t>(to - offset) & p.mask) * p.factor;
    do {
      store_le(to, filled);
      store_le(to + p.reach, filled);
      to += 2 * p.reach;
    } while (to < end);
  } else {
    // Each piece is right for its first `offset` bytes, and the next one is written over the others.
    std::byte piece[16];
    std::memcpy(piece, to - offset, 16);
    do {
      std::memcpy(to, piece, 16);
      to += offset;
    } while (to < end);
  }
}

/// Repeats the `offset` bytes before `to`; writes `length` bytes and no more.
SORA2_INLINE void lz4_repeat_exactly(std::byte* to, std::size_t offset, std::size_t length)
{
  std::byte const* const from = to - offset;
  if (length < 32) {
    for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
    return;
  }
  while (length != 0) {
    std::size_t const n = least(static_cast<std::size_t>(to - from), length);
    std::memcpy(to, from, n);
    to += n;
    length -= n;
  }
}

/// clang would hold the token as a byte and widen it again on the way to the next one.
SORA2_INLINE void lz4_keep_wide([[maybe_unused]] std::size_t& x)
{
#if defined(__clang__)
  __asm__("" : "+r"(x));
#endif
}

/// Decodes and gives the number of bytes made. Bytes of `out` behind those may have been overwritten.
template <bool Primed>
[[gnu::noinline]] inline result<std::size_t>
lz4_decode_scalar(view<std::byte const> in, view<std::byte> out, view<std::byte const> dictionary,
                  lz4_stop stop)
{
  if (in.size == 0) return status::corrupt_input;
  dictionary = lz4_reachable(dictionary);
  std::byte const* ip = in.data;
  std::byte const* const in_end = in.data + in.size;
  std::byte* op = out.data;
  std::byte* const out_end = out.data + out.size;

  do {
    // Whole sequences with room to spare on both sides. Whatever is out of the ordinary goes, from its token on, to the
    // careful loop below, which alone reports errors and reads the dictionary. What limits the speed is the way from
    // one token to the next, so the next token is read as soon as its place is known.
    if (in_end - ip > lz4_input_margin && out_end - op > lz4_output_margin) {
      std::byte const* const in_fast = in_end - lz4_input_margin;
      std::byte* const out_fast = out_end - lz4_output_margin;
      std::size_t token = static_cast<std::size_t>(*ip);
      do {
        std::byte const* const sequence = ip;
        std::byte* const sequence_to = op;
        std::size_t literals = token >> 4;
        ++ip;
        if (literals != lz4_length_mask) [[likely]] {
          lz4_copy<16>(op, ip);
          op += literals;
          ip += literals;
        } else {
          std::size_t const more = static_cast<std::size_t>(*ip++);
          literals += more;
          bool const whole = more != 255 || lz4_read_length(ip, in_end, literals);
          std::size_t const left = static_cast<std::size_t>(in_end - ip);
          std::size_t const room = static_cast<std::size_t>(out_end - op);
          if (!whole || literals + 32 > left || literals + lz4_output_margin > room) {
            if (whole && literals == left && literals <= room) {
              std::memcpy(op, ip, literals);
              return static_cast<std::size_t>(op - out.data) + literals;
            }
            ip = sequence;
            break;
          }
          if (literals >= 256)
            std::memcpy(op, ip, literals);
          else
            lz4_copy_until(op + literals, op, ip);
          op += literals;
          ip += literals;
        }
        std::size_t const offset = load_le<std::uint16_t>(ip);
        std::size_t length = token & lz4_length_mask;
        if (offset - 1 >= static_cast<std::size_t>(op - out.data)) [[unlikely]] {
          ip = sequence;
          op = sequence_to;
          break;
        }
        std::byte* to = op;
        std::byte const* from = op - offset;
        if (length != lz4_length_mask) [[likely]] {
          token = static_cast<std::size_t>(ip[2]);
          lz4_keep_wide(token);
          ip += 2;
          length += lz4_least_match;
          op += length;
          if (offset >= 8) [[likely]] {
            lz4_copy<8>(to, from);
            lz4_copy<8>(to + 8, from + 8);
            lz4_copy<2>(to + 16, from + 16);
          } else
            lz4_repeat_short(to, offset, length);
          continue;
        }
        std::size_t const more = static_cast<std::size_t>(ip[2]);
        ip += 3;
        length += more + lz4_least_match;
        if ((more == 255 && !lz4_read_length(ip, in_end, length)) ||
            length + lz4_output_margin > static_cast<std::size_t>(out_end - op)) {
          ip = sequence;
          op = sequence_to;
          break;
        }
        op += length;
        if (offset >= 16) [[likely]]
          lz4_copy_until(op, to, from);
        else
          lz4_repeat_short(to, offset, length);
        if (ip >= in_fast) break;
        token = static_cast<std::size_t>(*ip);
      } while (ip < in_fast && op < out_fast);
    }

    for (;;) {
      if (ip == in_end) return status::corrupt_input;
      std::size_t const token = static_cast<std::size_t>(*ip++);
      std::size_t literals = token >> 4;
      if (literals == lz4_length_mask && !lz4_read_length(ip, in_end, literals))
        return status::corrupt_input;
      std::size_t const left = static_cast<std::size_t>(in_end - ip);
      std::size_t room = static_cast<std::size_t>(out_end - op);
      bool full = stop == lz4_stop::when_full && literals >= room;
      if (full) literals = room;
      if (literals > left) return status::corrupt_input;
      if (literals > room) return status::output_too_small;
      if (literals <= 16 && left >= 16 && room >= 16)
        lz4_copy<16>(op, ip);
      else if (literals != 0)
        std::memcpy(op, ip, literals);
      if (full) return out.size;
      ip += literals;
      op += literals;
      room -= literals;
      if (ip == in_end) return static_cast<std::size_t>(op - out.data);

      if (in_end - ip < 2) return status::corrupt_input;
      std::size_t const offset = load_le<std::uint16_t>(ip);
      ip += 2;
      std::size_t length = token & lz4_length_mask;
      if (length == lz4_length_mask && !lz4_read_length(ip, in_end, length))
        return status::corrupt_input;
      length += lz4_least_match;
      std::size_t const made = static_cast<std::size_t>(op - out.data);
      if (offset == 0 || offset > made + dictionary.size) return status::corrupt_input;
      full = stop == lz4_stop::when_full && length >= room;
      if (full) length = room;
      if (length > room) return status::output_too_small;
      if (offset > made) {
        std::size_t const n = least(offset - made, length);
        std::memcpy(op, dictionary.end() - (offset - made), n);
        op += n;
        length -= n;
        room -= n;
      }
      if (offset >= 8 && room >= length + 8) {
        std::byte const* from = op - offset;
        for (std::size_t i = 0; i < length; i += 8) lz4_copy<8>(op + i, from + i);
      } else
        lz4_repeat_exactly(op, offset, length);
      if (full) return out.size;
      op += length;
      if (Primed) break;
    }
  } while (Primed);
  return status::corrupt_input;  // not reached: the loop above only ends by a return
}

/// Length of the common start of a and b, at most `limit`.
SORA2_INLINE std::size_t lz4_common(std::byte const* a, std::byte const* b, std::size_t limit)
{
  auto const difference = [&](std::size_t n) {
    return load_le<std::uint64_t>(a + n) ^ load_le<std::uint64_t>(b + n);
  };
  std::size_t n = 0;
  for (; n + 16 <= limit; n += 16) {
    std::uint64_t const first = difference(n);
    if (first != 0) return n + static_cast<std::size_t>(__builtin_ctzll(first) >> 3);
    std::uint64_t const second = difference(n + 8);
    if (second != 0) return n + 8 + static_cast<std::size_t>(__builtin_ctzll(second) >> 3);
  }
  while (n < limit && a[n] == b[n]) ++n;
  return n;
}
/// Length of the common end of what lies before a and b, at most `limit`; `safe` bytes before both can be read.
SORA2_INLINE std::size_t lz4_common_end(std::byte const* a, std::byte const* b, std::size_t limit,
                                        std::size_t safe)
{
  std::size_t n = 0;
  for (; n + 8 <= safe; n += 8) {
    std::uint64_t const difference =
        load_le<std::uint64_t>(a - n - 8) ^ load_le<std::uint64_t>(b - n - 8);
    if (difference != 0)
      return least(n + static_cast<std::size_t>(__builtin_clzll(difference) >> 3), limit);
    if (n + 8 >= limit) return limit;
  }
  while (n < limit &&
         a[-1 - static_cast<std::ptrdiff_t>(n)] == b[-1 - static_cast<std::ptrdiff_t>(n)])
    ++n;
  return n;
}

/// Writes the extension bytes of a half token and gives the place behind them.
SORA2_INLINE std::byte* lz4_write_length(std::byte* op, std::size_t length)
{
  if (length < lz4_length_mask) return op;
  length -= lz4_length_mask;
  if (length >= 255) [[unlikely]] {
    std::memset(op, 255, length / 255);
    op += length / 255;
    length %= 255;
  }
  *op++ = static_cast<std::byte>(length);
  return op;
}

/// Enters the places of a dictionary; later ones replace earlier ones.
template <auto Config>
inline void lz4_index_dictionary(view<std::byte const> dictionary, std::uint16_t* table)
{
  std::memset(table, 0, sizeof(std::uint16_t) << Config.hash_bits);
  for (std::size_t at = 0; at + 8 <= dictionary.size; ++at)
    table[lz4_hash(load_le<std::uint64_t>(dictionary.data + at), Config.hash_bytes,
                   Config.hash_bits)] = static_cast<std::uint16_t>(at);
}

/// What the encoder knows about its input; it changes the speed, not the bytes.
enum class lz4_input : std::uint8_t {
  page,    ///< at most 65536 bytes: places fit the table
  any,     ///< places are known modulo 65536
  primed,  ///< behind a dictionary
};

/// Encodes `in` behind `dictionary` (at most lz4_reach bytes). The table holds the low 16 bits of the last place with
/// each hash, counted from the start of the dictionary, and comes filled for it.
template <auto Config, lz4_input Input>
[[gnu::noinline]] inline result<std::size_t>
lz4_encode_scalar(std::uint16_t* table, view<std::byte const> in, view<std::byte> out,
                  view<std::byte const> dictionary)
{
  constexpr bool primed = Input == lz4_input::primed;
  std::byte const* const begin = in.data;
  std::byte* op = out.data;
  std::byte* const out_end = out.data + out.size;
  std::size_t const before = primed ? dictionary.size : 0;
  auto const slot_of = [](std::uint64_t bytes) {
    return lz4_hash(bytes, Config.hash_bytes, Config.hash_bits);
  };
  std::size_t anchor = 0;

  if (in.size > lz4_last_start) {
    std::size_t const last_start = in.size - lz4_last_start,
                      match_end = in.size - lz4_last_literals;
    std::size_t at = primed ? 0 : 1;
    for (;;) {
      std::byte const* match = nullptr;
      std::size_t offset = 0;
      for (std::size_t probe = std::size_t{Config.acceleration} << Config.skip_bits;
           at <= last_start; at += probe++ >> Config.skip_bits) {
        std::uint64_t const bytes = load_le<std::uint64_t>(begin + at);
        std::uint16_t& slot = table[slot_of(bytes)];
        std::size_t const seen = slot;
        slot = static_cast<std::uint16_t>(at + before);
        std::byte const* candidate = begin + seen;
        if constexpr (Input != lz4_input::page) {
          offset = (at + before - seen) & lz4_reach;
          if (primed && offset > at) {
            if (offset - at < lz4_least_match)
              continue;  // would run from the dictionary into the input
            candidate = dictionary.end() - (offset - at);
          } else
            candidate = begin + (at - offset);
        }
        if (load_le<std::uint32_t>(candidate) != static_cast<std::uint32_t>(bytes)) [[likely]]
          continue;
        if (Input == lz4_input::page)
          offset = at - seen;
        else if (offset == 0)
          continue;
        match = candidate;
        break;
      }
      if (match == nullptr) break;

      bool const in_dictionary = primed && offset > at;
      std::size_t const safe =
          static_cast<std::size_t>(match - (in_dictionary ? dictionary.data : begin));
      std::size_t const back =
          at == anchor
              ? 0
              : lz4_common_end(begin + at, match, least(at - anchor, safe), least(at, safe));
      std::size_t length = lz4_least_match;
      if (in_dictionary) {
        std::size_t const rest = static_cast<std::size_t>(dictionary.end() - match);
        length +=
            lz4_common(begin + at + length, match + length, least(match_end - at, rest) - length);
        if (length == rest)
          length += lz4_common(begin + at + length, begin, match_end - at - length);
      } else
        length += lz4_common(begin + at + length, match + length, match_end - at - length);

      std::size_t const literals = at - back - anchor, code = back + length - lz4_least_match;
      std::size_t const room = static_cast<std::size_t>(out_end - op);
      std::byte const* const from = begin + anchor;
      at = anchor = at + length;
      if (literals < lz4_length_mask && code < lz4_length_mask && room >= 19) [[likely]] {
        *op++ = static_cast<std::byte>(literals << 4 | code);
        // No overrun of the input: 12 bytes follow the start of a match.
        lz4_copy<8>(op, from);
        if (literals > 8) lz4_copy<8>(op + 8, from + 8);
        op += literals;
        store_le(op, static_cast<std::uint16_t>(offset));
        op += 2;
      } else {
        if (room < 3 + lz4_extension(literals) + literals + lz4_extension(code))
          return status::output_too_small;
        *op++ = static_cast<std::byte>(least<std::size_t>(literals, lz4_length_mask) << 4 |
                                       least<std::size_t>(code, lz4_length_mask));
        op = lz4_write_length(op, literals);
        std::memcpy(op, from, literals);
        op += literals;
        store_le(op, static_cast<std::uint16_t>(offset));
        op = lz4_write_length(op + 2, code);
      }
      if (at > last_start) break;
      table[slot_of(load_le<std::uint64_t>(begin + at - 2))] =
          static_cast<std::uint16_t>(at - 2 + before);
    }
  }

  std::size_t const literals = in.size - anchor;
  if (static_cast<std::size_t>(out_end - op) < 1 + lz4_extension(literals) + literals)
    return status::output_too_small;
  *op++ = static_cast<std::byte>(least<std::size_t>(literals, lz4_length_mask) << 4);
  op = lz4_write_length(op, literals);
  if (literals != 0) std::memcpy(op, begin + anchor, literals);
  return static_cast<std::size_t>(op - out.data) + literals;
}

}  // namespace sora2::detail
