/// Integer helpers that kernels may call too, and little-endian access to unaligned bytes.
/// Smallest use: `load_le<std::uint32_t>(p)`, `round_up(n, 16)`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/core/macros.hpp>

namespace sora2 {

template <class T>
  requires std::is_arithmetic_v<T>
[[nodiscard]] SORA2_HD constexpr T least(T a, T b)
{
  return b < a ? b : a;
}
template <class T>
  requires std::is_arithmetic_v<T>
[[nodiscard]] SORA2_HD constexpr T greatest(T a, T b)
{
  return a < b ? b : a;
}

template <std::unsigned_integral T>
[[nodiscard]] SORA2_HD constexpr T div_up(T n, T by)
{
  return static_cast<T>(n / by + (n % by != 0));
}
template <std::unsigned_integral T>
[[nodiscard]] SORA2_HD constexpr T round_up(T n, T multiple)
{
  return static_cast<T>(div_up(n, multiple) * multiple);
}

/// Number of set bits.
[[nodiscard]] SORA2_HD constexpr int popcount(std::uint32_t x)
{
#if SORA2_ON_DEVICE
  return __popc(x);
#else
  return __builtin_popcount(x);
#endif
}
/// Bits needed to write x: 0 for 0, else floor(log2(x)) + 1.
[[nodiscard]] SORA2_HD constexpr int bit_width(std::uint32_t x)
{
#if SORA2_ON_DEVICE
  return 32 - __clz(static_cast<int>(x));
#else
  return x == 0 ? 0 : 32 - __builtin_clz(x);
#endif
}
/// Index of the lowest set bit; 32 for 0.
[[nodiscard]] SORA2_HD constexpr int lowest_bit(std::uint32_t x)
{
#if SORA2_ON_DEVICE
  return x == 0 ? 32 : __ffs(static_cast<int>(x)) - 1;
#else
  return x == 0 ? 32 : __builtin_ctz(x);
#endif
}

template <class To, class From>
  requires(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To> &&
           std::is_trivially_copyable_v<From>)
[[nodiscard]] SORA2_HD constexpr To bit_cast(From const& x)
{
  return __builtin_bit_cast(To, x);
}

/// Unaligned little-endian read and write. All machines of this library are little-endian.
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] SORA2_HD inline T load_le(void const* p)
{
  T x;
  std::memcpy(&x, p, sizeof(T));
  return x;
}
template <class T>
  requires std::is_trivially_copyable_v<T>
SORA2_HD inline void store_le(void* p, T x)
{
  std::memcpy(p, &x, sizeof(T));
}

#if defined(__BYTE_ORDER__)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "sora2 streams are little-endian and so must the machine be");
#endif

}  // namespace sora2
