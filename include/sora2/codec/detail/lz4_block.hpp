/// The rules of an LZ4 block that encoder and decoder share, on both machines.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>

namespace sora2::detail {

inline constexpr std::uint32_t lz4_least_match = 4;
inline constexpr std::uint32_t lz4_last_start = 12;    ///< no match starts in the last 12 bytes
inline constexpr std::uint32_t lz4_last_literals = 5;  ///< the last 5 bytes are literals
inline constexpr std::uint32_t lz4_length_mask = 15;   ///< a half token of 15 has extension bytes
inline constexpr std::uint32_t lz4_reach = 65535;      ///< largest offset
inline constexpr std::size_t lz4_largest_input = 0x7E000000;

/// How a decoder takes the end of its output.
enum class lz4_stop : std::uint8_t {
  at_block_end,  ///< the block must end, and inside the output
  when_full,     ///< as above, or as soon as the output is full, whatever follows
};

inline constexpr std::uint32_t lz4_hash_factor = 2654435761u;

/// Slot in a table of 2^bits for the first `hash_bytes` of eight bytes.
SORA2_HD constexpr std::uint32_t lz4_hash(std::uint64_t eight_bytes, std::uint32_t hash_bytes,
                                          std::uint32_t bits)
{
  std::uint64_t const factor = std::uint64_t{lz4_hash_factor} << (64 - 8 * hash_bytes);
  return static_cast<std::uint32_t>((eight_bytes * factor) >> (64 - bits));
}

/// Bytes that follow a half token for `length`.
SORA2_HD constexpr std::size_t lz4_extension(std::size_t length)
{
  return length < lz4_length_mask ? 0 : 1 + (length - lz4_length_mask) / 255;
}

/// The part of a dictionary that offsets can reach.
SORA2_HD constexpr view<std::byte const> lz4_reachable(view<std::byte const> dictionary)
{
  return dictionary.size <= lz4_reach ? dictionary : dictionary.from(dictionary.size - lz4_reach);
}

}  // namespace sora2::detail
