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

template <std::size_t Bytes>
SORA2_INLINE void lz4_copy(std::byte* to, std::byte const* from)
{
  std::byte block[Bytes];
  std::memcpy(block, from, Bytes);
  std::memcpy(to, block, Bytes);
}

/// Adds the extension bytes at `ip`. False when they run into the end of the input.
inline bool lz4_read_length(std::byte const*& ip, std::byte const* end, std::size_t& length)
{
  std::uint32_t b;
  do {
    if (ip == end) return false;
    b = static_cast<std::uint32_t>(*ip++);
    length += b;
  } while (b == 255);
  return true;
}

/// Repeats the `offset` bytes before `op`; writes `length` bytes and no more.
inline void lz4_repeat_exactly(std::byte* op, std::size_t offset, std::size_t length)
{
  std::byte const* const from = op - offset;
  while (length != 0) {
    std::size_t const n = least(static_cast<std::size_t>(op - from), length);
    std::memcpy(op, from, n);
    op += n;
    length -= n;
  }
}

// How far one iteration of the fast loop may read and write past its cursors.
inline constexpr std::ptrdiff_t lz4_input_margin = 40, lz4_output_margin = 80;

/// For an offset below 16: the largest multiple of it that fits 16 bytes.
inline constexpr std::uint8_t lz4_stride[16] = {0,  16, 16, 15, 16, 15, 12, 14,
                                                16, 9,  10, 11, 12, 13, 14, 15};

/// Repeats the `offset` (1..15) bytes before `op` over `length` bytes, and up to 31 more.
SORA2_INLINE void lz4_repeat_short(std::byte* op, std::size_t offset, std::size_t length)
{
  static constexpr std::uint8_t ahead[8] = {0, 1, 2, 1, 0, 4, 4, 4};
  static constexpr std::int8_t behind[8] = {0, 0, 0, -1, -4, 1, 2, 3};
  std::byte const* from = op - offset;
  std::byte* const end = op + length;
  if (offset < 8) {
    op[0] = from[0];
    op[1] = from[1];
    op[2] = from[2];
    op[3] = from[3];
    from += ahead[offset];
    lz4_copy<4>(op + 4, from);
    from -= behind[offset];
    lz4_copy<8>(op + 8, from);
  } else {
    lz4_copy<8>(op, from);
    lz4_copy<8>(op + 8, from + 8);
  }
  if (length <= 16) return;
  std::byte pattern[16];
  std::memcpy(pattern, op, 16);
  std::size_t const stride = lz4_stride[offset];
  op += stride;
  do {
    std::memcpy(op, pattern, 16);
    op += stride;
  } while (op < end);
}

/// Decodes and gives the number of bytes made. Bytes of `out` behind those may have been overwritten.
inline result<std::size_t> lz4_decode_scalar(view<std::byte const> in, view<std::byte> out,
                                             view<std::byte const> dictionary, lz4_stop stop)
{
  if (in.size == 0) return status::corrupt_input;
  dictionary = lz4_reachable(dictionary);
  std::byte const* ip = in.data;
  std::byte const* const in_end = in.data + in.size;
  std::byte* op = out.data;
  std::byte* const out_end = out.data + out.size;

  // Whole sequences with room to spare on both sides. Whatever is out of the ordinary goes, from its
  // token on, to the careful loop below, which alone reports errors.
  while (in_end - ip > lz4_input_margin && out_end - op > lz4_output_margin) {
    std::byte const* const sequence = ip;
    std::byte* const literals_at = op;
    std::uint32_t const token = static_cast<std::uint32_t>(*ip++);
    std::size_t literals = token >> 4;
    if (literals != lz4_length_mask) [[likely]] {
      lz4_copy<16>(op, ip);
      ip += literals;
      op += literals;
    } else {
      if (!lz4_read_length(ip, in_end, literals) ||
          in_end - ip < static_cast<std::ptrdiff_t>(literals) + lz4_input_margin ||
          out_end - op < static_cast<std::ptrdiff_t>(literals) + lz4_output_margin) {
        ip = sequence;
        break;
      }
      std::byte* const end = op + literals;
      std::byte const* from = ip;
      do {
        lz4_copy<32>(op, from);
        op += 32;
        from += 32;
      } while (op < end);
      op = end;
      ip += literals;
    }
    std::size_t const offset = load_le<std::uint16_t>(ip);
    ip += 2;
    std::size_t length = token & lz4_length_mask;
    if (offset - 1 >= static_cast<std::size_t>(op - out.data)) {
      ip = sequence;
      op = literals_at;
      break;
    }
    if (length != lz4_length_mask) [[likely]] {
      length += lz4_least_match;
      if (offset >= 16) [[likely]] {
        lz4_copy<16>(op, op - offset);
        lz4_copy<4>(op + 16, op - offset + 16);
      } else
        lz4_repeat_short(op, offset, length);
      op += length;
      continue;
    }
    if (!lz4_read_length(ip, in_end, length) ||
        out_end - op < static_cast<std::ptrdiff_t>(length + lz4_least_match) + lz4_output_margin) {
      ip = sequence;
      op = literals_at;
      break;
    }
    length += lz4_least_match;
    if (offset >= 16) [[likely]] {
      std::byte* const end = op + length;
      std::byte const* from = op - offset;
      if (offset >= 32) {
        do {
          lz4_copy<32>(op, from);
          op += 32;
          from += 32;
        } while (op < end);
      } else {
        do {
          lz4_copy<16>(op, from);
          lz4_copy<16>(op + 16, from + 16);
          op += 32;
          from += 32;
        } while (op < end);
      }
      op = end;
    } else {
      lz4_repeat_short(op, offset, length);
      op += length;
    }
  }

  for (;;) {
    if (ip == in_end) return status::corrupt_input;
    std::uint32_t const token = static_cast<std::uint32_t>(*ip++);
    std::size_t literals = token >> 4;
    if (literals == lz4_length_mask && !lz4_read_length(ip, in_end, literals))
      return status::corrupt_input;
    std::size_t room = static_cast<std::size_t>(out_end - op);
    bool full = stop == lz4_stop::when_full && literals >= room;
    if (full) literals = room;
    if (literals > static_cast<std::size_t>(in_end - ip)) return status::corrupt_input;
    if (literals > room) return status::output_too_small;
    if (literals != 0) std::memcpy(op, ip, literals);
    if (full) return out.size;
    ip += literals;
    op += literals;
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
    room -= literals;
    full = stop == lz4_stop::when_full && length >= room;
    if (full) length = room;
    if (length > room) return status::output_too_small;
    if (offset > made) {
      std::size_t const n = least(offset - made, length);
      std::memcpy(op, dictionary.end() - (offset - made), n);
      op += n;
      length -= n;
    }
    lz4_repeat_exactly(op, offset, length);
    if (full) return out.size;
    op += length;
  }
}

/// Number of equal bytes at a and b, at most `limit`.
SORA2_INLINE std::size_t lz4_equal_bytes(std::byte const* a, std::byte const* b, std::size_t limit)
{
  std::size_t n = 0;
  while (n + 8 <= limit) {
    std::uint64_t const difference = load_le<std::uint64_t>(a + n) ^ load_le<std::uint64_t>(b + n);
    if (difference != 0) return n + static_cast<std::size_t>(__builtin_ctzll(difference) >> 3);
    n += 8;
  }
  while (n < limit && a[n] == b[n]) ++n;
  return n;
}

/// Writes the extension bytes of a half token.
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

/// Enters the positions of a dictionary; those in front win over none, later ones over earlier ones.
template <std::uint32_t HashBits>
inline void lz4_index_dictionary(view<std::byte const> dictionary, std::uint16_t* table)
{
  std::memset(table, 0, sizeof(std::uint16_t) << HashBits);
  for (std::size_t at = 0; at + lz4_least_match <= dictionary.size; ++at)
    table[lz4_hash(load_le<std::uint32_t>(dictionary.data + at), HashBits)] =
        static_cast<std::uint16_t>(at);
}

/// Encodes `in` behind `dictionary` (at most lz4_reach bytes). The table holds the low 16 bits of the
/// last position with each hash, counted from the start of the dictionary, and comes filled for it.
template <std::uint32_t HashBits, std::uint32_t SkipBits, bool HasDictionary>
inline result<std::size_t> lz4_encode_scalar(std::uint16_t* table, view<std::byte const> in,
                                             view<std::byte> out, std::uint32_t acceleration,
                                             view<std::byte const> dictionary)
{
  std::byte const* const begin = in.data;
  std::byte const* anchor = begin;
  std::byte* op = out.data;
  std::byte* const out_end = out.data + out.size;
  std::size_t const before = HasDictionary ? dictionary.size : 0;

  if (in.size > lz4_last_start) {
    std::byte const* const last_start = in.end() - lz4_last_start;
    std::byte const* const match_end = in.end() - lz4_last_literals;
    std::byte const* ip = HasDictionary ? begin : begin + 1;
    for (;;) {
      std::byte const* match = nullptr;
      std::size_t offset = 0;
      for (std::uint32_t probe = acceleration << SkipBits; ip <= last_start;
           ip += probe++ >> SkipBits) {
        std::uint32_t const bytes = load_le<std::uint32_t>(ip);
        std::uint32_t const slot = lz4_hash(bytes, HashBits);
        std::uint16_t const at =
            static_cast<std::uint16_t>(static_cast<std::size_t>(ip - begin) + before);
        offset = static_cast<std::uint16_t>(at - table[slot]);
        table[slot] = at;
        std::size_t const made = static_cast<std::size_t>(ip - begin);
        std::byte const* candidate;
        if (HasDictionary && offset > made) {
          if (offset - made < lz4_least_match)
            continue;  // would run from the dictionary into the input
          candidate = dictionary.end() - (offset - made);
        } else
          candidate = ip - offset;
        if (load_le<std::uint32_t>(candidate) == bytes && offset != 0) {
          match = candidate;
          break;
        }
      }
      if (match == nullptr) break;

      bool const in_dictionary = HasDictionary && offset > static_cast<std::size_t>(ip - begin);
      std::byte const* const floor = in_dictionary ? dictionary.data : begin;
      std::byte const* start = ip;
      while (start > anchor && match > floor && start[-1] == match[-1]) --start, --match;
      std::size_t length = static_cast<std::size_t>(ip - start) + lz4_least_match;
      std::size_t const limit = static_cast<std::size_t>(match_end - start);
      if (in_dictionary) {
        std::size_t const rest = static_cast<std::size_t>(dictionary.end() - match);
        length += lz4_equal_bytes(start + length, match + length, least(limit, rest) - length);
        if (length == rest) length += lz4_equal_bytes(start + length, begin, limit - length);
      } else
        length += lz4_equal_bytes(start + length, match + length, limit - length);

      std::size_t const literals = static_cast<std::size_t>(start - anchor);
      std::size_t const code = length - lz4_least_match;
      if (static_cast<std::size_t>(out_end - op) <
          3 + lz4_extension(literals) + literals + lz4_extension(code))
        return status::output_too_small;
      *op++ = static_cast<std::byte>(least<std::size_t>(literals, lz4_length_mask) << 4 |
                                     least<std::size_t>(code, lz4_length_mask));
      op = lz4_write_length(op, literals);
      std::memcpy(op, anchor, literals);
      op += literals;
      store_le(op, static_cast<std::uint16_t>(offset));
      op = lz4_write_length(op + 2, code);
      ip = anchor = start + length;
      if (ip > last_start) break;
      table[lz4_hash(load_le<std::uint32_t>(ip - 2), HashBits)] =
          static_cast<std::uint16_t>(static_cast<std::size_t>(ip - 2 - begin) + before);
    }
  }

  std::size_t const literals = static_cast<std::size_t>(in.end() - anchor);
  if (static_cast<std::size_t>(out_end - op) < 1 + lz4_extension(literals) + literals)
    return status::output_too_small;
  *op++ = static_cast<std::byte>(least<std::size_t>(literals, lz4_length_mask) << 4);
  op = lz4_write_length(op, literals);
  if (literals != 0) std::memcpy(op, anchor, literals);
  return static_cast<std::size_t>(op + literals - out.data);
}

}  // namespace sora2::detail
