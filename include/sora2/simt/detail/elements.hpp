/// Which memory types lanes load from and store to, and the conversion of one element. Two-sided.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/core/float16.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2::detail {

template <class U>
inline constexpr bool is_half_storage = std::is_same_v<U, float16> || std::is_same_v<U, bfloat16>;

template <class U>
inline constexpr bool is_integer_storage =
    std::is_same_v<U, std::byte> ||
    (std::is_integral_v<U> && !std::is_same_v<U, bool> && sizeof(U) <= 4);

/// Integer lanes load integers (8 to 32 bits, extended by their own sign); float lanes load anything.
template <class T, class U>
concept loadable = is_integer_storage<U> ||
                   (std::same_as<T, float> && (is_half_storage<U> || std::same_as<U, float>));

/// Integer lanes store integers (low bits kept); float lanes store floats (rounded to nearest even).
template <class T, class U>
concept storable = (std::same_as<T, float> && (is_half_storage<U> || std::same_as<U, float>)) ||
                   (!std::same_as<T, float> && is_integer_storage<U>);

/// The arithmetic type whose bits a U is: `std::byte` is an 8-bit integer, a 16-bit float its 16 bits.
template <class U>
using memory_bits =
    std::conditional_t<is_half_storage<U>, std::uint16_t,
                       std::conditional_t<std::is_same_v<U, std::byte>, std::uint8_t, U>>;

/// The host takes any address: streams begin where they are put.
template <class U>
[[nodiscard]] SORA2_HD SORA2_INLINE U read_element(U const* p)
{
#if SORA2_ON_DEVICE
  return *p;
#else
  U x;
  std::memcpy(&x, p, sizeof x);
  return x;
#endif
}
template <class U>
SORA2_HD SORA2_INLINE void write_element(U* p, U x)
{
#if SORA2_ON_DEVICE
  *p = x;
#else
  std::memcpy(p, &x, sizeof x);
#endif
}
template <class T, class U>
  requires loadable<T, U>
[[nodiscard]] SORA2_HD SORA2_INLINE T load_element(U const* p)
{
  if constexpr (is_half_storage<U>)
    return to_float(read_element(p));
  else
    return static_cast<T>(read_element(p));
}
template <class U, class T>
  requires storable<T, U>
SORA2_HD SORA2_INLINE void store_element(U* p, T x)
{
  if constexpr (is_half_storage<U>)
    write_element(p, from_float<U>(x));
  else
    write_element(p, static_cast<U>(x));
}

}  // namespace sora2::detail
