/// Lanes from and to bit-packed memory: 8, 4 or 2 bits an element, the first element in the low bits of a byte.
/// Smallest use: `auto q = load_packed<4, std::uint32_t>(w, bytes, 32); store_packed<4>(w, bytes, 32, q);`.
/// `packed_steps` reads them as numbers, element * scale + zero.
/// Limits: collective; at most 32 elements a call, starting at a whole byte. Touches exactly the bytes that hold the
/// elements; bits beyond the last one are written as zero and ignored when read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/avx2_warp.hpp>
#include <sora2/simt/avx512_warp.hpp>
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

/// Lanes below n, whose values fit in Bits bits, with the sign if T has one.
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

/// x * y + z where the product is exact, so that one rounding or two give the same: with an instruction for it one step,
/// without two instead of a slow call.
SORA2_TWO_SIDED
template <class Warp>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<float, Warp>
multiply_add_exact(lanes<float, Warp> const& x, std::type_identity_t<lanes<float, Warp>> const& y,
                   std::type_identity_t<lanes<float, Warp>> const& z)
{
  if constexpr (std::is_same_v<Warp, host_warp>)
    return x * y + z;
  else
    return fma(x, y, z);
}

/// Reads packed elements as element * scale + zero. T tells whether elements have a sign.
/// Limits: products are exact: scales have at most 24 - Bits significant bits and are 0 or at least 2^-100.
template <int Bits, class T, class Warp>
struct packed_steps {
  lanes<float, Warp> scale, zero;

  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE packed_steps(lanes<float, Warp> const& scale_of_lane,
                                     lanes<float, Warp> const& zero_of_lane)
      : scale(scale_of_lane), zero(zero_of_lane)
  {}
  /// Lanes at n and above get something.
  SORA2_TWO_SIDED
  [[nodiscard]] SORA2_HD SORA2_INLINE lanes<float, Warp> load(Warp const& w, std::byte const* p,
                                                              std::uint32_t n) const
  {
    // Elements without a sign are small: as signed integers they convert faster.
    return multiply_add_exact(to_lanes_float(to_int(load_packed<Bits, T>(w, p, n))), scale, zero);
  }
};

/// The same for runs of elements with one scale and one zero.
template <int Bits, class T, class Warp>
struct packed_run {
  packed_steps<Bits, T, Warp> steps;

  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE packed_run(float scale, float zero)
      : steps(lanes<float, Warp>(scale), lanes<float, Warp>(zero))
  {}
  /// 32 * Lines numbers to `to`, of any type that a warp stores to.
  SORA2_TWO_SIDED
  template <std::uint32_t Lines, class To>
  SORA2_HD SORA2_INLINE void expand(Warp const& w, std::byte const* p, To* to) const
  {
    SORA2_UNROLL
    for (std::uint32_t i = 0; i < Lines; ++i)
      w.store(to + 32 * i, steps.load(w, p + packed_bytes<Bits>(32 * i), 32));
  }
  SORA2_TWO_SIDED
  template <class To>
  SORA2_HD SORA2_INLINE void expand(Warp const& w, std::byte const* p, To* to,
                                    std::uint32_t count) const
  {
    for (std::uint32_t i = 0; i < count; i += 32)
      w.store_n(to + i, count - i, steps.load(w, p + packed_bytes<Bits>(i), count - i));
  }
};

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

/// 32 elements, none missing.
template <int Bits, class T, vector_warp_type Warp>
SORA2_INLINE void unpack_all(std::byte const* p, lanes<T, Warp>& x)
{
  unpack_part<Bits, T>(p, x.a);
  unpack_part<Bits, T>(p + Bits, x.b);
  unpack_part<Bits, T>(p + 2 * Bits, x.c);
  unpack_part<Bits, T>(p + 3 * Bits, x.d);
}
template <int Bits, class T, vector_warp_type Warp>
SORA2_INLINE void pack_all(std::byte* p, lanes<T, Warp> const& x)
{
  pack_part<Bits, T>(p, x.a);
  pack_part<Bits, T>(p + Bits, x.b);
  pack_part<Bits, T>(p + 2 * Bits, x.c);
  pack_part<Bits, T>(p + 3 * Bits, x.d);
}

#if defined(__x86_64__)

/// 32 elements of 4 or 2 bits as bytes, in order.
template <int Bits, bool Signed>
SORA2_TARGET_AVX2 inline __m256i bytes_of_packed(std::byte const* p)
{
  __m256i x;
  if constexpr (Bits == 4) {
    x = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<__m128i_u const*>(p)));
  } else {
    // Two elements a byte first, then the same step as for 4 bits.
    __m128i y = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<__m128i_u const*>(p)));
    y = _mm_and_si128(_mm_or_si128(y, _mm_slli_epi16(y, 4)), _mm_set1_epi8(0x0F));
    x = _mm256_cvtepu8_epi16(y);
  }
  x = _mm256_and_si256(_mm256_or_si256(x, _mm256_slli_epi16(x, 8 - Bits)),
                       _mm256_set1_epi8((1 << Bits) - 1));
  if constexpr (Signed) {
    __m256i const top = _mm256_set1_epi8(1 << (Bits - 1));
    x = _mm256_sub_epi8(_mm256_xor_si256(x, top), top);
  }
  return x;
}
/// Joins neighbours among 32 bytes whose upper bits are clear; 4 * Bits bytes at p. `halves` tells that groups of four
/// bytes alternate between the halves of x.
template <int Bits>
SORA2_TARGET_AVX2 inline void pack_bytes(std::byte* p, __m256i const& x, bool halves)
{
  // Words of two elements each, then of one byte each.
  __m256i const pairs = _mm256_maddubs_epi16(x, _mm256_set1_epi16((1 << (8 + Bits)) | 1));
  __m128i y = _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  if (halves)
    y = _mm_shuffle_epi8(y, _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  if constexpr (Bits == 4) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p), y);
  } else {
    y = _mm_maddubs_epi16(y, _mm_set1_epi16((1 << 12) | 1));
    _mm_storel_epi64(reinterpret_cast<__m128i_u*>(p), _mm_packus_epi16(y, y));
  }
}

template <int Bits, class T>
SORA2_TARGET_AVX2 inline void unpack_all(std::byte const* p, lanes<T, avx2_warp>& x)
{
  if constexpr (Bits == 8) {
    using byte = std::conditional_t<std::is_same_v<T, std::int32_t>, std::int8_t, std::uint8_t>;
    x = avx2_warp{}.load<T>(reinterpret_cast<byte const*>(p));
  } else {
    __m256i const y = bytes_of_packed<Bits, std::is_same_v<T, std::int32_t>>(p);
    __m128i const low = _mm256_castsi256_si128(y), high = _mm256_extracti128_si256(y, 1);
    to_part<T>(_mm256_cvtepi8_epi32(low), x.a);
    to_part<T>(_mm256_cvtepi8_epi32(_mm_srli_si128(low, 8)), x.b);
    to_part<T>(_mm256_cvtepi8_epi32(high), x.c);
    to_part<T>(_mm256_cvtepi8_epi32(_mm_srli_si128(high, 8)), x.d);
  }
}
template <int Bits, class T>
SORA2_TARGET_AVX2 inline void pack_all(std::byte* p, lanes<T, avx2_warp> const& x)
{
  constexpr bool is_signed = std::is_same_v<T, std::int32_t>;
  __m256i const ab = _mm256_packs_epi32(register_of<T>(x.a), register_of<T>(x.b));
  __m256i const cd = _mm256_packs_epi32(register_of<T>(x.c), register_of<T>(x.d));
  __m256i bytes = is_signed ? _mm256_packs_epi16(ab, cd) : _mm256_packus_epi16(ab, cd);
  if constexpr (is_signed && Bits != 8)
    bytes = _mm256_and_si256(bytes, _mm256_set1_epi8((1 << Bits) - 1));
  if constexpr (Bits == 8)
    _mm256_storeu_si256(
        reinterpret_cast<__m256i_u*>(p),
        _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
  else
    pack_bytes<Bits>(p, bytes, true);
}

/// For the bytes of four registers: where element 8 * part + i lies among 16 bytes in both halves of a register; the bits
/// of that byte which are its own; what undoes its place. Bytes with a sign go to the top of their lane.
template <int Bits, bool Signed>
struct spread_table {
  static constexpr int byte = Bits == 8 && Signed ? 3 : 0;
  alignas(32) std::int8_t from[4][32];
  alignas(32) std::uint32_t own[8];
  alignas(32) float share[8];
};
template <int Bits, bool Signed>
constexpr spread_table<Bits, Signed> make_spread_table()
{
  using table = spread_table<Bits, Signed>;
  table t{};
  for (int part = 0; part < 4; ++part)
    for (int i = 0; i < 8; ++i)
      for (int byte = 0; byte < 4; ++byte)
        t.from[part][4 * i + byte] =
            static_cast<std::int8_t>(byte == table::byte ? (8 * part + i) * Bits / 8 % 16 : -1);
  for (int i = 0; i < 8; ++i) {
    int const shift = i * Bits % 8;
    t.own[i] = static_cast<std::uint32_t>((1 << Bits) - 1) << shift;
    t.share[i] = 1.0f / static_cast<float>(1 << (shift + 8 * table::byte));
  }
  return t;
}
template <int Bits, bool Signed>
inline constexpr spread_table<Bits, Signed> spread_rows = make_spread_table<Bits, Signed>();

template <int Bits, class T>
SORA2_TARGET_AVX512 inline void unpack_all(std::byte const* p, lanes<T, avx512_warp>& x)
{
  if constexpr (Bits == 8) {
    using byte = std::conditional_t<std::is_same_v<T, std::int32_t>, std::int8_t, std::uint8_t>;
    x = avx512_warp{}.load<T>(reinterpret_cast<byte const*>(p));
  } else {
    __m256i const y = bytes_of_packed<Bits, std::is_same_v<T, std::int32_t>>(p);
    x.a = from_words<T>(_mm512_maskz_cvtepi8_epi32(0xFFFF, _mm256_castsi256_si128(y)));
    x.b = from_words<T>(_mm512_maskz_cvtepi8_epi32(0xFFFF, _mm256_extracti128_si256(y, 1)));
  }
}
template <int Bits, class T>
SORA2_TARGET_AVX512 inline void pack_all(std::byte* p, lanes<T, avx512_warp> const& x)
{
  __m128i const low = _mm512_maskz_cvtepi32_epi8(0xFFFF, words_of<T>(x.a));
  __m128i const high = _mm512_maskz_cvtepi32_epi8(0xFFFF, words_of<T>(x.b));
  __m256i const bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  if constexpr (Bits == 8)
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), bytes);
  else
    pack_bytes<Bits>(p, _mm256_and_si256(bytes, _mm256_set1_epi8((1 << Bits) - 1)), false);
}

#endif

template <class Warp>
concept unpacks_by_vectors = vector_warp_type<Warp> || std::same_as<Warp, avx512_warp>;

}  // namespace detail

/// The same by vectors. A ragged end passes through a whole one.
template <int Bits, lane_type T, warp_context Warp>
  requires(packed_width<Bits> && detail::unpacks_by_vectors<Warp>)
[[nodiscard]] SORA2_INLINE lanes<T, Warp> load_packed(Warp const& w, std::byte const* p,
                                                      std::uint32_t n)
{
  lanes<T, Warp> x;
  if (n >= 32) {
    detail::unpack_all<Bits, T>(p, x);
    return x;
  }
  std::byte room[std::size_t{4} * Bits] = {};
  std::memcpy(room, p, packed_bytes<Bits>(n));
  detail::unpack_all<Bits, T>(room, x);
  return select(w.lane() < n, x, T{0});
}
template <int Bits, lane_type T, warp_context Warp>
  requires(packed_width<Bits> && detail::unpacks_by_vectors<Warp>)
SORA2_INLINE void store_packed(Warp const& w, std::byte* p, std::uint32_t n,
                               lanes<T, Warp> const& x)
{
  if (n >= 32) return detail::pack_all<Bits, T>(p, x);
  std::byte room[std::size_t{4} * Bits];
  detail::pack_all<Bits, T>(room, select(w.lane() < n, x, T{0}));
  std::memcpy(p, room, packed_bytes<Bits>(n));
}

#if defined(__x86_64__)

/// A byte shuffle puts the byte that holds an element into its lane. What it still shares with others is masked out and
/// its place undone by a power of two in the scale; signed elements below 8 bits are read as unsigned ones with an offset.
/// All of that is exact.
template <int Bits, class T>
struct packed_steps<Bits, T, avx2_warp> {
  lanes<float, avx2_warp> scale, zero;
  static constexpr bool is_signed = std::is_same_v<T, std::int32_t>,
                        is_offset = is_signed && Bits != 8;

  SORA2_INLINE packed_steps(lanes<float, avx2_warp> const& scale_of_lane,
                            lanes<float, avx2_warp> const& zero_of_lane)
  {
    detail::v8<float> share;
    std::memcpy(&share, detail::spread_rows<Bits, is_signed>.share, sizeof share);
    times(scale_of_lane.a, share, scale.a);
    times(scale_of_lane.b, share, scale.b);
    times(scale_of_lane.c, share, scale.c);
    times(scale_of_lane.d, share, scale.d);
    if constexpr (is_offset)
      zero = multiply_add_exact(scale_of_lane, -static_cast<float>(1 << (Bits - 1)), zero_of_lane);
    else
      zero = zero_of_lane;
  }
  [[nodiscard]] SORA2_TARGET_AVX2 inline lanes<float, avx2_warp>
  load(avx2_warp const&, std::byte const* p, std::uint32_t n) const
  {
    std::byte room[std::size_t{4} * Bits];
    if (n < 32) {
      std::memset(room, 0, sizeof room);
      std::memcpy(room, p, packed_bytes<Bits>(n));
      p = room;
    }
    __m256i low, high;
    if constexpr (Bits == 2)
      low = high = _mm256_set1_epi64x(load_le<std::int64_t>(p));
    else {
      low = high =
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<__m128i_u const*>(p)));
      if constexpr (Bits == 8)
        high = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<__m128i_u const*>(p + 16)));
    }
    if constexpr (is_offset) {
      constexpr int top = Bits == 4 ? 0x88 : 0xAA;
      low = _mm256_xor_si256(low, _mm256_set1_epi8(static_cast<char>(top)));
      high = _mm256_xor_si256(high, _mm256_set1_epi8(static_cast<char>(top)));
    }
    lanes<float, avx2_warp> x;
    part<0>(low, scale.a, zero.a, x.a);
    part<1>(low, scale.b, zero.b, x.b);
    part<2>(high, scale.c, zero.c, x.c);
    part<3>(high, scale.d, zero.d, x.d);
    return x;
  }

 private:
  SORA2_TARGET_AVX2 static inline void times(detail::v8<float> const& x, detail::v8<float> const& y,
                                             detail::v8<float>& out)
  {
    detail::to_part(_mm256_mul_ps(detail::register_of<float>(x), detail::register_of<float>(y)),
                    out);
  }
  template <int Part>
  SORA2_TARGET_AVX2 static inline void part(__m256i const& bytes, detail::v8<float> const& by,
                                            detail::v8<float> const& plus, detail::v8<float>& out)
  {
    auto const& t = detail::spread_rows<Bits, is_signed>;
    __m256i x = _mm256_shuffle_epi8(
        bytes, _mm256_load_si256(reinterpret_cast<__m256i const*>(t.from[Part])));
    if constexpr (Bits != 8)
      x = _mm256_and_si256(x, _mm256_load_si256(reinterpret_cast<__m256i const*>(t.own)));
    detail::to_part(_mm256_fmadd_ps(_mm256_cvtepi32_ps(x), detail::register_of<float>(by),
                                    detail::register_of<float>(plus)),
                    out);
  }
};

namespace detail {

/// For a run of small elements all numbers there are fit into a table of bytes, which a shuffle looks up 32 at a time.
template <int Bits, bool Signed>
struct run_table {
  alignas(32) float element[16];     ///< by code
  alignas(32) std::int8_t from[32];  ///< puts the bytes of codes where their elements begin
};
template <int Bits, bool Signed>
constexpr run_table<Bits, Signed> make_run_table()
{
  run_table<Bits, Signed> t{};
  constexpr int each = 8 / Bits, count = 1 << Bits;
  for (int i = 0; i < 16; ++i) {
    int const code = i % count;
    t.element[i] = static_cast<float>(Signed && code >= count / 2 ? code - count : code);
  }
  // Within a half of 16 bytes the elements are 0-7, 16-23 (upper half: 8-15, 24-31): joining the bytes of numbers then
  // leaves whole registers in order.
  for (int i = 0; i < 32; ++i) {
    int const element = i % 8 + i % 16 / 8 * 16 + i / 16 * 8;
    t.from[i] = static_cast<std::int8_t>(i % each == 0 ? element / each : -1);
  }
  return t;
}
template <int Bits, bool Signed>
inline constexpr run_table<Bits, Signed> run_rows = make_run_table<Bits, Signed>();

}  // namespace detail

template <int Bits, class T>
  requires(Bits < 8)
struct packed_run<Bits, T, avx2_warp> {
  float scale, zero;

  SORA2_INLINE packed_run(float scale_of_all, float zero_of_all)
      : scale(scale_of_all), zero(zero_of_all)
  {}

  template <std::uint32_t Lines, class To>
  SORA2_TARGET_AVX2 inline void expand(avx2_warp const& w, std::byte const* p, To* to) const
  {
    if constexpr (detail::is_half_storage<To>) {
      auto const& row = detail::run_rows<Bits, std::is_same_v<T, std::int32_t>>;
      alignas(16) To room[16];
      for (int i = 0; i < 16; i += 8) {
        detail::v8<float> x;
        detail::to_part(_mm256_fmadd_ps(_mm256_load_ps(row.element + i), _mm256_set1_ps(scale),
                                        _mm256_set1_ps(zero)),
                        x);
        detail::vector_steps<avx2_warp>::store<To, float>(room + i, x);
      }
      __m128i const a = _mm_load_si128(reinterpret_cast<__m128i const*>(room));
      __m128i const b = _mm_load_si128(reinterpret_cast<__m128i const*>(room + 8));
      __m128i const byte = _mm_set1_epi16(0xFF);
      __m256i const low = twice(_mm_packus_epi16(_mm_and_si128(a, byte), _mm_and_si128(b, byte)));
      __m256i const high = twice(_mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
      SORA2_UNROLL_ON_HOST
      for (std::uint32_t i = 0; i < Lines; ++i) {
        __m256i const at = indices(p + packed_bytes<Bits>(32 * i));
        __m256i const x = _mm256_shuffle_epi8(low, at), y = _mm256_shuffle_epi8(high, at);
        _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to + 32 * i), _mm256_unpacklo_epi8(x, y));
        _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to + 32 * i + 16),
                            _mm256_unpackhi_epi8(x, y));
      }
    } else
      expand(w, p, to, 32 * Lines);
  }
  template <class To>
  SORA2_TARGET_AVX2 inline void expand(avx2_warp const& w, std::byte const* p, To* to,
                                       std::uint32_t count) const
  {
    packed_steps<Bits, T, avx2_warp> const steps{lanes<float, avx2_warp>(scale),
                                                 lanes<float, avx2_warp>(zero)};
    for (std::uint32_t i = 0; i < count; i += 32)
      w.store_n(to + i, count - i, steps.load(w, p + packed_bytes<Bits>(i), count - i));
  }

 private:
  SORA2_TARGET_AVX2 static inline __m256i twice(__m128i const& x)
  {
    return _mm256_broadcastsi128_si256(x);
  }
  /// One byte for each of 32 elements.
  SORA2_TARGET_AVX2 static inline __m256i indices(std::byte const* p)
  {
    auto const& row = detail::run_rows<Bits, std::is_same_v<T, std::int32_t>>;
    __m256i const from = _mm256_load_si256(reinterpret_cast<__m256i const*>(row.from));
    if constexpr (Bits == 4) {
      __m256i const x =
          _mm256_shuffle_epi8(twice(_mm_loadu_si128(reinterpret_cast<__m128i_u const*>(p))), from);
      return _mm256_and_si256(_mm256_or_si256(x, _mm256_slli_epi32(x, 4)), _mm256_set1_epi8(0x0F));
    } else {
      __m256i x = _mm256_shuffle_epi8(_mm256_set1_epi64x(load_le<std::int64_t>(p)), from);
      x = _mm256_or_si256(x, _mm256_slli_epi32(x, 12));
      return _mm256_and_si256(_mm256_or_si256(x, _mm256_slli_epi32(x, 6)), _mm256_set1_epi8(0x03));
    }
  }
};

#endif

}  // namespace sora2
