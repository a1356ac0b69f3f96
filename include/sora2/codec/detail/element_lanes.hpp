/// 32 elements of 1, 2, 4 or 8 bytes as lanes, from and to any address. For codecs that work on whole elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2::detail {

template <int Element>
using element_type = std::conditional_t<
    Element == 1, std::uint8_t,
    std::conditional_t<Element == 2, std::uint16_t,
                       std::conditional_t<Element == 4, std::uint32_t, std::uint64_t>>>;

/// Elements of up to 4 bytes lie in `low`, with anything above their bits; those of 8 bytes in both halves.
template <int Element, class Warp>
struct element_lanes {
  static constexpr bool wide = Element == 8;
  using uints = lanes<std::uint32_t, Warp>;
  uints low, high;
};

/// Lane i < n gets the element at p + i * Element, others 0.
SORA2_TWO_SIDED
template <int Element, class Warp>
SORA2_HD SORA2_INLINE element_lanes<Element, Warp> load_elements(Warp const& w, std::byte const* p,
                                                                 std::uint32_t n)
{
  using uints = lanes<std::uint32_t, Warp>;
  constexpr std::uint32_t part = Element == 8 ? 4 : Element;
  element_lanes<Element, Warp> x{uints(0u), uints(0u)};
  auto const lane = w.lane();
  auto const here = lane < n;
  if (reinterpret_cast<std::uintptr_t>(p) % part == 0) {
    if constexpr (Element == 8) {
      auto const* words = reinterpret_cast<std::uint32_t const*>(p);
      x.low = w.template gather<std::uint32_t>(words, lane + lane, here, 0u);
      x.high = w.template gather<std::uint32_t>(words, lane + lane + 1u, here, 0u);
    } else
      x.low = w.template load_n<std::uint32_t>(reinterpret_cast<element_type<Element> const*>(p), n,
                                               0u);
  } else {
    auto const* bytes = reinterpret_cast<std::uint8_t const*>(p);
    auto const at = lane * std::uint32_t{Element};
    for (std::uint32_t k = 0; k < Element; ++k) {
      auto const byte = w.template gather<std::uint32_t>(bytes, at + k, here, 0u);
      if (k < 4)
        x.low = x.low | byte << static_cast<int>(8 * k);
      else
        x.high = x.high | byte << static_cast<int>(8 * (k - 4));
    }
  }
  return x;
}

SORA2_TWO_SIDED
template <int Element, class Warp>
SORA2_HD SORA2_INLINE void store_elements(Warp const& w, std::byte* p, std::uint32_t n,
                                          element_lanes<Element, Warp> const& x)
{
  constexpr std::uint32_t part = Element == 8 ? 4 : Element;
  auto const lane = w.lane();
  auto const here = lane < n;
  if (reinterpret_cast<std::uintptr_t>(p) % part == 0) {
    if constexpr (Element == 8) {
      auto* words = reinterpret_cast<std::uint32_t*>(p);
      w.scatter_distinct(words, lane + lane, x.low, here);
      w.scatter_distinct(words, lane + lane + 1u, x.high, here);
    } else
      w.store_n(reinterpret_cast<element_type<Element>*>(p), n, x.low);
  } else {
    auto* bytes = reinterpret_cast<std::uint8_t*>(p);
    auto const at = lane * std::uint32_t{Element};
    for (std::uint32_t k = 0; k < Element; ++k)
      w.scatter_distinct(
          bytes, at + k,
          (k < 4 ? x.low >> static_cast<int>(8 * k) : x.high >> static_cast<int>(8 * (k - 4))) &
              0xFFu,
          here);
  }
}

template <int Element, class Warp>
SORA2_HD SORA2_INLINE element_lanes<Element, Warp>
add_elements(element_lanes<Element, Warp> const& a, element_lanes<Element, Warp> const& b)
{
  element_lanes<Element, Warp> x = a;
  x.low = a.low + b.low;
  if constexpr (Element == 8) x.high = a.high + b.high + select(x.low < a.low, 1u, x.low & 0u);
  return x;
}
template <int Element, class Warp>
SORA2_HD SORA2_INLINE element_lanes<Element, Warp>
subtract_elements(element_lanes<Element, Warp> const& a, element_lanes<Element, Warp> const& b)
{
  element_lanes<Element, Warp> x = a;
  x.low = a.low - b.low;
  if constexpr (Element == 8) x.high = a.high - b.high - select(a.low < b.low, 1u, x.low & 0u);
  return x;
}

// The order-preserving map: patterns of floats to integers that rise with the value, one to one, NaNs included.

template <int Element, class Warp>
SORA2_HD SORA2_INLINE element_lanes<Element, Warp> to_order(element_lanes<Element, Warp> x)
{
  constexpr int top = Element == 8 ? 31 : 8 * Element - 1;
  auto& upper = Element == 8 ? x.high : x.low;
  auto const negative = lanes<std::uint32_t, Warp>(0u) - ((upper >> top) & 1u);
  upper = upper ^ (negative | 1u << top);
  if constexpr (Element == 8) x.low = x.low ^ negative;
  return x;
}
template <int Element, class Warp>
SORA2_HD SORA2_INLINE element_lanes<Element, Warp> from_order(element_lanes<Element, Warp> x)
{
  constexpr int top = Element == 8 ? 31 : 8 * Element - 1;
  auto& upper = Element == 8 ? x.high : x.low;
  auto const negative = ((upper >> top) & 1u) - 1u;
  upper = upper ^ (negative | 1u << top);
  if constexpr (Element == 8) x.low = x.low ^ negative;
  return x;
}

// Zigzag: small differences of either sign to small integers.

template <int Element, class Warp>
SORA2_HD SORA2_INLINE element_lanes<Element, Warp> to_zigzag(element_lanes<Element, Warp> x)
{
  constexpr int top = Element == 8 ? 31 : 8 * Element - 1;
  auto& upper = Element == 8 ? x.high : x.low;
  auto const sign = lanes<std::uint32_t, Warp>(0u) - ((upper >> top) & 1u);
  if constexpr (Element == 8) {
    x.high = (x.high << 1 | x.low >> 31) ^ sign;
    x.low = x.low << 1 ^ sign;
  } else
    x.low = x.low << 1 ^ sign;
  return x;
}
/// The bits above the element must be 0, as they are in loaded elements.
template <int Element, class Warp>
SORA2_HD SORA2_INLINE element_lanes<Element, Warp> from_zigzag(element_lanes<Element, Warp> x)
{
  auto const sign = lanes<std::uint32_t, Warp>(0u) - (x.low & 1u);
  if constexpr (Element == 8) {
    x.low = (x.low >> 1 | x.high << 31) ^ sign;
    x.high = x.high >> 1 ^ sign;
  } else
    x.low = x.low >> 1 ^ sign;
  return x;
}

}  // namespace sora2::detail
