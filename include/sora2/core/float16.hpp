/// 16-bit floating point as storage: IEEE binary16 and bfloat16, with exact conversions that need no hardware.
/// Smallest use: `float x = to_float(float16{0x3C00});  // 1.0f`, `float16 h = to_float16(x);`.
/// Limits: storage only, no arithmetic. Rounds to nearest, ties to even; a NaN stays a (quiet) NaN with its leading payload bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>

namespace sora2 {

struct float16 {
  std::uint16_t bits;
  [[nodiscard]] SORA2_HD friend constexpr bool operator==(float16, float16) = default;
};

struct bfloat16 {
  std::uint16_t bits;
  [[nodiscard]] SORA2_HD friend constexpr bool operator==(bfloat16, bfloat16) = default;
};

[[nodiscard]] SORA2_HD constexpr float to_float(bfloat16 x)
{
  return bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

[[nodiscard]] SORA2_HD constexpr float to_float(float16 x)
{
  std::uint32_t const sign = (x.bits & 0x8000u) << 16, magnitude = x.bits & 0x7FFFu;
  if (magnitude >= 0x7C00u) {  // infinity, NaN (made quiet)
    std::uint32_t const quiet = magnitude > 0x7C00u ? 0x00400000u : 0u;
    return bit_cast<float>(sign | 0x7F800000u | quiet | ((magnitude & 0x3FFu) << 13));
  }
  if (magnitude >= 0x0400u) return bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  // A subnormal is its integer times 2^-24, which single precision holds exactly.
  float const value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;
  return bit_cast<float>(sign | bit_cast<std::uint32_t>(value));
}

[[nodiscard]] SORA2_HD constexpr float to_float(float x) { return x; }

[[nodiscard]] SORA2_HD constexpr bfloat16 to_bfloat16(float x)
{
  std::uint32_t const u = bit_cast<std::uint32_t>(x);
  if ((u & 0x7FFFFFFFu) > 0x7F800000u) return {static_cast<std::uint16_t>((u >> 16) | 0x40u)};
  return {static_cast<std::uint16_t>((u + 0x7FFFu + ((u >> 16) & 1u)) >> 16)};
}

[[nodiscard]] SORA2_HD constexpr float16 to_float16(float x)
{
  std::uint32_t const u = bit_cast<std::uint32_t>(x);
  std::uint32_t const sign = (u >> 16) & 0x8000u, magnitude = u & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u)
    return {static_cast<std::uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu))};
  if (magnitude >= 0x477FF000u)
    return {static_cast<std::uint16_t>(sign | 0x7C00u)};  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {
    // Subnormal result: adding 0.5 leaves the value in units of 2^-24 in the low bits, rounded to even by the adder.
    float const shifted = bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<std::uint16_t>(sign | (bit_cast<std::uint32_t>(shifted) - 0x3F000000u))};
  }
  std::uint32_t const rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}

/// Rounds to the named storage type; `float` keeps every bit.
template <class T>
[[nodiscard]] SORA2_HD constexpr T from_float(float x)
{
  if constexpr (std::is_same_v<T, float16>)
    return to_float16(x);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return to_bfloat16(x);
  else {
    static_assert(std::is_same_v<T, float>);
    return x;
  }
}

template <class T>
concept real_type =
    std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> || std::is_same_v<T, float>;

}  // namespace sora2
