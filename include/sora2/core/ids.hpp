/// Small identities that are part of keys and block headers: format ids and the level of a block.
/// Smallest use: `format_id id = format_id{}.mix("quantize").mix(4u);`.
#pragma once

#include <compare>
#include <cstdint>

#include <sora2/core/macros.hpp>

namespace sora2 {

/// Where a block lies on the way from registers to disk. `raw` marks a block stored as it came.
enum class level : std::uint8_t { raw = 0, registers = 1, fast = 2, entropy = 3, store = 4 };

[[nodiscard]] SORA2_HD constexpr char const* level_name(level l)
{
  switch (l) {
    case level::raw: return "raw";
    case level::registers: return "L1";
    case level::fast: return "L2";
    case level::entropy: return "L3";
    case level::store: return "L4";
  }
  return "unknown";
}

/// Names a byte format: codec family and every config value that changes bytes (FNV-1a, 32 bits).
/// Two different formats collide with probability 2^-32; the block header also holds the family.
struct format_id {
  std::uint32_t value = 0x811C9DC5u;

  [[nodiscard]] SORA2_HD constexpr format_id mix(std::uint32_t x) const
  {
    std::uint32_t h = value;
    for (int i = 0; i < 4; ++i) h = (h ^ ((x >> (8 * i)) & 0xFFu)) * 0x01000193u;
    return {h};
  }
  [[nodiscard]] SORA2_HD constexpr format_id mix(format_id other) const { return mix(other.value); }
  [[nodiscard]] SORA2_HD constexpr format_id mix(char const* name) const
  {
    std::uint32_t h = value;
    for (; *name != '\0'; ++name) h = (h ^ static_cast<std::uint8_t>(*name)) * 0x01000193u;
    return format_id{h}.mix(0u);
  }
  [[nodiscard]] SORA2_HD friend constexpr bool operator==(format_id, format_id) = default;
};

/// A logical page: sequence, layer, index of the page in that sequence.
struct page_id {
  std::uint64_t sequence = 0;
  std::uint32_t layer = 0;
  std::uint32_t page = 0;
  [[nodiscard]] SORA2_HD friend constexpr bool operator==(page_id const&, page_id const&) = default;
  [[nodiscard]] friend constexpr auto operator<=>(page_id const&, page_id const&) = default;
};

}  // namespace sora2
