/// 16 bytes in a host register, for the plain-code path of codecs that move whole bytes: splitting, joining, transposing.
/// Smallest use: `register16<std::uint16_t> v; load_register(p, v); v += v >> 3; store_register(q, v);`.
/// Limits: host only, for functions that nvcc does not make for a GPU. Works at the instruction set of the code around it.
/// Arguments travel by reference: vectors by value would depend on that set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>

namespace sora2 {

namespace detail {

template <class T>
struct register16_of {
  typedef T type __attribute__((vector_size(16)));
};

}  // namespace detail

/// 16 / sizeof(T) elements with the operators of T.
template <class T>
using register16 = typename detail::register16_of<T>::type;
using bytes16 = register16<std::uint8_t>;

/// Any address.
template <class Vector>
SORA2_INLINE void load_register(std::byte const* p, Vector& v)
{
  static_assert(sizeof v == 16);
  std::memcpy(&v, p, sizeof v);
}
template <class Vector>
SORA2_INLINE void store_register(std::byte* p, Vector const& v)
{
  static_assert(sizeof v == 16);
  std::memcpy(p, &v, sizeof v);
}
/// The two 8-byte halves from and to different places.
SORA2_INLINE void load_halves(std::byte const* low, std::byte const* high, bytes16& v)
{
  register16<std::uint64_t> const x = {load_le<std::uint64_t>(low), load_le<std::uint64_t>(high)};
  v = reinterpret_cast<bytes16 const&>(x);
}
SORA2_INLINE void store_halves(std::byte* low, std::byte* high, bytes16 const& v)
{
  auto const& x = reinterpret_cast<register16<std::uint64_t> const&>(v);
  store_le(low, x[0]);
  store_le(high, x[1]);
}

namespace detail {

/// The low (From = 0) or the high (8) halves of two vectors, byte by byte.
template <int From>
SORA2_INLINE void interleave(bytes16 const& a, bytes16 const& b, bytes16& out)
{
  constexpr int f = From;
  out = __builtin_shufflevector(a, b, f, 16 + f, f + 1, 17 + f, f + 2, 18 + f, f + 3, 19 + f, f + 4,
                                20 + f, f + 5, 21 + f, f + 6, 22 + f, f + 7, 23 + f);
}
/// Every second byte of 32, from byte 0 or 1 on.
template <int From>
SORA2_INLINE void every_second(bytes16 const& a, bytes16 const& b, bytes16& out)
{
  constexpr int f = From;
  out = __builtin_shufflevector(a, b, f, f + 2, f + 4, f + 6, f + 8, f + 10, f + 12, f + 14, f + 16,
                                f + 18, f + 20, f + 22, f + 24, f + 26, f + 28, f + 30);
}

/// Exchanges the bits of `mask` with those `Distance` higher.
template <int Distance>
SORA2_INLINE void swap_bits(register16<std::uint64_t>& x, std::uint64_t mask)
{
  register16<std::uint64_t> const t = (x ^ (x >> Distance)) & mask;
  x ^= t ^ (t << Distance);
}

// Indices are spelled out: nvcc takes no pack for them.
template <int Bytes>
SORA2_INLINE void moved_up(bytes16 const& v, bytes16& out)
{
  constexpr int b = Bytes;
  constexpr auto from = [](int i) { return i < b ? 0 : 16 + i - b; };
  bytes16 const zero = {};
  out = __builtin_shufflevector(zero, v, from(0), from(1), from(2), from(3), from(4), from(5),
                                from(6), from(7), from(8), from(9), from(10), from(11), from(12),
                                from(13), from(14), from(15));
}
template <int Bytes>
SORA2_INLINE void last_repeated(bytes16 const& v, bytes16& out)
{
  constexpr int b = Bytes;
  constexpr auto from = [](int i) { return 16 - b + i % b; };
  out = __builtin_shufflevector(v, v, from(0), from(1), from(2), from(3), from(4), from(5), from(6),
                                from(7), from(8), from(9), from(10), from(11), from(12), from(13),
                                from(14), from(15));
}

}  // namespace detail

/// 16 elements of N bytes (1, 2, 4, 8) to vectors of their first, second, ... bytes.
template <std::size_t N>
SORA2_INLINE void split_bytes(bytes16 (&v)[N])
{
  bytes16 next[N];
  SORA2_UNROLL_ON_HOST
  for (std::size_t round = 1; round < N; round *= 2) {
    SORA2_UNROLL_ON_HOST
    for (std::size_t i = 0; i < N / 2; ++i) {
      detail::every_second<0>(v[2 * i], v[2 * i + 1], next[i]);
      detail::every_second<1>(v[2 * i], v[2 * i + 1], next[N / 2 + i]);
    }
    SORA2_UNROLL_ON_HOST
    for (std::size_t i = 0; i < N; ++i) v[i] = next[i];
  }
}
/// The way back.
template <std::size_t N>
SORA2_INLINE void join_bytes(bytes16 (&v)[N])
{
  bytes16 next[N];
  SORA2_UNROLL_ON_HOST
  for (std::size_t round = 1; round < N; round *= 2) {
    SORA2_UNROLL_ON_HOST
    for (std::size_t i = 0; i < N / 2; ++i) {
      detail::interleave<0>(v[i], v[N / 2 + i], next[2 * i]);
      detail::interleave<8>(v[i], v[N / 2 + i], next[2 * i + 1]);
    }
    SORA2_UNROLL_ON_HOST
    for (std::size_t i = 0; i < N; ++i) v[i] = next[i];
  }
}

/// 8 x 8 bytes: byte c of word r becomes byte r of word c; v[i] holds words 2 i and 2 i + 1. Its own inverse.
SORA2_INLINE void transpose_bytes(bytes16 (&v)[4])
{
  // Three perfect shuffles rotate the six index bits (row, column) by three.
  SORA2_UNROLL_ON_HOST
  for (int round = 0; round < 3; ++round) {
    bytes16 next[4];
    detail::interleave<0>(v[0], v[2], next[0]);
    detail::interleave<8>(v[0], v[2], next[1]);
    detail::interleave<0>(v[1], v[3], next[2]);
    detail::interleave<8>(v[1], v[3], next[3]);
    SORA2_UNROLL_ON_HOST
    for (int i = 0; i < 4; ++i) v[i] = next[i];
  }
}

/// 8 x 8 bits in each of the two 64-bit words: bit c of byte r becomes bit r of byte c. Its own inverse.
SORA2_INLINE void transpose_bits(bytes16& v)
{
  auto x = reinterpret_cast<register16<std::uint64_t> const&>(v);
  detail::swap_bits<7>(x, 0x00AA00AA00AA00AAu);
  detail::swap_bits<14>(x, 0x0000CCCC0000CCCCu);
  detail::swap_bits<28>(x, 0x00000000F0F0F0F0u);
  v = reinterpret_cast<bytes16 const&>(x);
}

/// Each element becomes the sum of itself and all elements a multiple of Bytes before it; Bytes is 1, 2, 4 or 8.
template <int Bytes, class Vector>
SORA2_INLINE void sum_along(Vector& v)
{
  if constexpr (Bytes < 16) {
    bytes16 earlier;
    detail::moved_up<Bytes>(reinterpret_cast<bytes16 const&>(v), earlier);
    v += reinterpret_cast<Vector const&>(earlier);
    sum_along<2 * Bytes>(v);
  }
}
/// The last Bytes bytes over and over; Bytes is 1, 2, 4 or 8.
template <int Bytes, class Vector>
SORA2_INLINE void repeat_last(Vector& v)
{
  bytes16 repeated;
  detail::last_repeated<Bytes>(reinterpret_cast<bytes16 const&>(v), repeated);
  v = reinterpret_cast<Vector const&>(repeated);
}

}  // namespace sora2
