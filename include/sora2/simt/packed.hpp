/// Lanes from and to bit-packed memory: 8, 4 or 2 bits an element, the first element in the low bits of a byte.
/// Smallest use: `auto q = load_packed<4, std::uint32_t>(w, bytes, 32); store_packed<4>(w, bytes, 32, q);`.
/// Limits: collective; at most 32 elements a call, starting at a whole byte. Touches exactly the bytes that hold the
/// elements; bits beyond the last one are written as zero and ignored when read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/detail/vector_warp.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2 {

template <int Bits>
concept packed_width = Bits == 8 || Bits == 4 || Bits == 2;

/// Bytes that `count` elements take.
template <int Bits>
[[nodiscard]] SORA2_HD constexpr std::size_t packed_bytes(std::size_t count)
{
  return (count * Bits + 7) / 8;
}

/// Lane i < n gets element i, extended by its sign when T is signed; other lanes get 0.
SORA2_TWO_SIDED
template <int Bits, lane_type T, warp_context Warp>
  requires packed_width<Bits>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<T, Warp> load_packed(Warp const& w, std::byte const* p,
                                                               std::uint32_t n)
{
  constexpr std::uint32_t each = 8 / Bits, top = 1u << (Bits - 1);
  auto const lane = w.lane();
  lanes<std::uint32_t, Warp> x = w.template gather<std::uint32_t>(p,
                                                                  lane >> (Bits == 8   ? 0
                                                                           : Bits == 4 ? 1
                                                                                       : 2),
                                                                  lane < n, 0u);
  x = (x >> ((lane & (each - 1)) * static_cast<std::uint32_t>(Bits))) & ((1u << Bits) - 1);
  if constexpr (std::is_same_v<T, std::int32_t>)
    return select(lane < n, to_int((x ^ top) - top), 0);
  else
    return select(lane < n, x, 0u);
}

/// The low `Bits` bits of lanes below n.
SORA2_TWO_SIDED
template <int Bits, lane_type T, warp_context Warp>
  requires packed_width<Bits>
SORA2_HD SORA2_INLINE void store_packed(Warp const& w, std::byte* p, std::uint32_t n,
                                        lanes<T, Warp> const& x)
{
  constexpr std::uint32_t each = 8 / Bits;
  auto const lane = w.lane();
  lanes<std::uint32_t, Warp> y = select(lane < n, to_uint(x) & ((1u << Bits) - 1), 0u);
  if constexpr (Bits <= 4) y = y | (w.shuffle_xor(y, 1) << Bits);
  if constexpr (Bits == 2) y = y | (w.shuffle_xor(y, 2) << 4);
  w.scatter(p,
            lane >> (Bits == 8   ? 0
                     : Bits == 4 ? 1
                                 : 2),
            y, (lane < n) & ((lane & (each - 1)) == 0u));
}

namespace detail {

/// Eight packed elements spread over the bytes of a word, and back.
template <int Bits>
SORA2_INLINE std::uint64_t spread_bits(std::uint64_t x)
{
  if constexpr (Bits == 4) {
    x = (x | x << 16) & 0x0000FFFF0000FFFFu;
    x = (x | x << 8) & 0x00FF00FF00FF00FFu;
    x = (x | x << 4) & 0x0F0F0F0F0F0F0F0Fu;
  } else if constexpr (Bits == 2) {
    x = (x | x << 24) & 0x000000FF000000FFu;
    x = (x | x << 12) & 0x000F000F000F000Fu;
    x = (x | x << 6) & 0x0303030303030303u;
  }
  return x;
}
template <int Bits>
SORA2_INLINE std::uint64_t gather_bits(std::uint64_t x)
{
  if constexpr (Bits == 4) {
    x &= 0x0F0F0F0F0F0F0F0Fu;
    x = (x | x >> 4) & 0x00FF00FF00FF00FFu;
    x = (x | x >> 8) & 0x0000FFFF0000FFFFu;
    x |= x >> 16;
  } else if constexpr (Bits == 2) {
    x &= 0x0303030303030303u;
    x = (x | x >> 6) & 0x000F000F000F000Fu;
    x = (x | x >> 12) & 0x000000FF000000FFu;
    x |= x >> 24;
  }
  return x;
}

template <int Bits, class T>
SORA2_INLINE void unpack_part(std::byte const* p, v8<T>& out)
{
  std::uint64_t x = 0;
  std::memcpy(&x, p, std::size_t{Bits});
  x = spread_bits<Bits>(x);
  v8<std::uint8_t> bytes;
  std::memcpy(&bytes, &x, sizeof x);
  if constexpr (std::is_same_v<T, std::int32_t>) {
    constexpr std::uint8_t top = 1u << (Bits - 1);
    bytes = (bytes ^ top) - top;
    v8<std::int8_t> const with_sign = reinterpret_cast<v8<std::int8_t>>(bytes);
    out = __builtin_convertvector(with_sign, v8<T>);
  } else
    out = __builtin_convertvector(bytes, v8<T>);
}
template <int Bits, class T>
SORA2_INLINE void pack_part(std::byte* p, v8<T> const& in)
{
  v8<std::uint8_t> const bytes = __builtin_convertvector(in, v8<std::uint8_t>);
  std::uint64_t x;
  std::memcpy(&x, &bytes, sizeof x);
  x = gather_bits<Bits>(x);
  std::memcpy(p, &x, std::size_t{Bits});
}

}  // namespace detail

/// The same over 8-wide vectors: eight elements are one word.
template <int Bits, lane_type T, detail::vector_warp_type Warp>
  requires(warp_context<Warp> && packed_width<Bits>)
[[nodiscard]] SORA2_INLINE lanes<T, Warp> load_packed(Warp const& w, std::byte const* p,
                                                      std::uint32_t n)
{
  std::byte room[std::size_t(4 * Bits)] = {};
  if (n < 32) {
    std::memcpy(room, p, packed_bytes<Bits>(n));
    p = room;
  }
  lanes<T, Warp> x;
  detail::unpack_part<Bits, T>(p, x.a);
  detail::unpack_part<Bits, T>(p + Bits, x.b);
  detail::unpack_part<Bits, T>(p + 2 * Bits, x.c);
  detail::unpack_part<Bits, T>(p + 3 * Bits, x.d);
  return n < 32 ? select(w.lane() < n, x, T{0}) : x;
}
template <int Bits, lane_type T, detail::vector_warp_type Warp>
  requires(warp_context<Warp> && packed_width<Bits>)
SORA2_INLINE void store_packed(Warp const& w, std::byte* p, std::uint32_t n,
                               lanes<T, Warp> const& x)
{
  std::byte room[std::size_t(4 * Bits)];
  std::byte* const to = n < 32 ? room : p;
  lanes<T, Warp> const y = n < 32 ? select(w.lane() < n, x, T{0}) : x;
  detail::pack_part<Bits, T>(to, y.a);
  detail::pack_part<Bits, T>(to + Bits, y.b);
  detail::pack_part<Bits, T>(to + 2 * Bits, y.c);
  detail::pack_part<Bits, T>(to + 3 * Bits, y.d);
  if (n < 32) std::memcpy(p, room, packed_bytes<Bits>(n));
}

}  // namespace sora2
