/// A warp of 32 lanes as four AVX2 registers, with the steps that plain vector code does badly written in intrinsics.
/// Smallest use: through `with_best_warp`; by hand only inside a function that carries SORA2_FLATTEN_AVX2.
/// Limits: x86-64 with AVX2, FMA, F16C and BMI2 at run time.
#pragma once

#include <sora2/simt/detail/vector_warp.hpp>

#if defined(__x86_64__)

#include <sora2/simt/detail/intrinsics.hpp>

#ifndef SORA2_TARGET_AVX2
#define SORA2_TARGET_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2,popcnt,lzcnt")))
#endif
#define SORA2_FLATTEN_AVX2 SORA2_FLATTEN SORA2_TARGET_AVX2

namespace sora2 {

namespace detail {

/// For each 8-bit mask a byte shuffle: packed words to the places of the set bits, zeros to the others.
struct expand_table {
  std::uint8_t row[256][16];
};
constexpr expand_table make_expand_table()
{
  expand_table t{};
  for (std::uint32_t m = 0; m < 256; ++m) {
    std::uint32_t rank = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      bool const set = (m >> i & 1u) != 0;
      t.row[m][2 * i] = static_cast<std::uint8_t>(set ? 2 * rank : 0x80u);
      t.row[m][2 * i + 1] = static_cast<std::uint8_t>(set ? 2 * rank + 1 : 0x80u);
      rank += set;
    }
  }
  return t;
}
inline constexpr expand_table expand_rows = make_expand_table();

/// For each 8-bit mask: the set lanes in rising order, in the last places of eight.
struct compress_table {
  std::uint64_t row[256];
};
constexpr compress_table make_compress_table()
{
  compress_table t{};
  for (std::uint32_t m = 0; m < 256; ++m) {
    std::uint64_t r = 0;
    for (std::uint64_t i = 0; i < 8; ++i)
      if (m >> i & 1u) r = r >> 8 | i << 56;
    t.row[m] = r;
  }
  return t;
}
inline constexpr compress_table compress_rows = make_compress_table();

// Registers move to and from parts by unaligned loads and stores, which the optimiser removes.
template <class T>
SORA2_TARGET_AVX2 inline auto register_of(v8<T> const& x)
{
  if constexpr (std::is_same_v<T, float>)
    return _mm256_loadu_ps(reinterpret_cast<float const*>(&x));
  else
    return _mm256_loadu_si256(reinterpret_cast<__m256i_u const*>(&x));
}
SORA2_TARGET_AVX2 inline void to_part(__m256 const& x, v8<float>& out)
{
  _mm256_storeu_ps(reinterpret_cast<float*>(&out), x);
}
template <class T>
SORA2_TARGET_AVX2 inline void to_part(__m256i const& x, v8<T>& out)
{
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(&out), x);
}

template <>
struct vector_steps<avx2_warp> : portable_steps {
  template <class T>
  SORA2_TARGET_AVX2 static inline void fill(T x, v8<T>& out)
  {
    if constexpr (std::is_same_v<T, float>)
      to_part(_mm256_set1_ps(x), out);
    else
      to_part<T>(_mm256_set1_epi32(static_cast<int>(x)), out);
  }
  SORA2_TARGET_AVX2 static inline void multiply(v8<float> const& x, v8<float> const& y,
                                                v8<float>& out)
  {
    __m256 product = _mm256_mul_ps(register_of<float>(x), register_of<float>(y));
#if defined(__GNUC__) && !defined(__clang__)
    __asm__("" : "+x"(product));  // or g++ would fuse it with an addition around it
#endif
    to_part(product, out);
  }
  SORA2_TARGET_AVX2 static inline void multiply_add(v8<float> const& x, v8<float> const& y,
                                                    v8<float> const& z, v8<float>& out)
  {
    to_part(_mm256_fmadd_ps(register_of<float>(x), register_of<float>(y), register_of<float>(z)),
            out);
  }
  template <class T, class Compare>
  SORA2_TARGET_AVX2 static inline void compare(v8<T> const& x, v8<T> const& y, Compare comparison,
                                               v8<std::int32_t>& out)
  {
    comparison(x, y, out);
  }
  template <class T>
  SORA2_TARGET_AVX2 static inline void choose(v8<std::int32_t> const& m, v8<T> const& x,
                                              v8<T> const& y, v8<T>& out)
  {
    out = x;
    keep_where(m, out, y);
  }
  template <class T>
  SORA2_TARGET_AVX2 static inline void lesser(v8<T> const& x, v8<T> const& y, v8<T>& out)
  {
    auto const a = register_of<T>(x), b = register_of<T>(y);
    if constexpr (std::is_same_v<T, float>)
      to_part(_mm256_min_ps(b, a), out);  // the second operand where a NaN takes part
    else
      to_part<T>(std::is_signed_v<T> ? _mm256_min_epi32(a, b) : _mm256_min_epu32(a, b), out);
  }
  template <class T>
  SORA2_TARGET_AVX2 static inline void greater(v8<T> const& x, v8<T> const& y, v8<T>& out)
  {
    auto const a = register_of<T>(x), b = register_of<T>(y);
    if constexpr (std::is_same_v<T, float>)
      to_part(_mm256_max_ps(b, a), out);
    else
      to_part<T>(std::is_signed_v<T> ? _mm256_max_epi32(a, b) : _mm256_max_epu32(a, b), out);
  }
  SORA2_TARGET_AVX2 static inline void round(v8<float> const& x, v8<std::int32_t>& out)
  {
    to_part<std::int32_t>(_mm256_cvtps_epi32(register_of<float>(x)), out);
  }
  SORA2_TARGET_AVX2 static inline void
  multiply_high(v8<std::uint32_t> const& x, v8<std::uint32_t> const& y, v8<std::uint32_t>& out)
  {
    __m256i const a = register_of<std::uint32_t>(x), b = register_of<std::uint32_t>(y);
    __m256i const even = _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32);
    __m256i const odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
    to_part<std::uint32_t>(_mm256_blend_epi32(even, odd, 0xAA), out);
  }
  SORA2_TARGET_AVX2 static inline std::uint32_t ballot(v8<std::int32_t> const& m)
  {
    return static_cast<std::uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(register_of<std::int32_t>(m))));
  }

  template <class T, class U>
    requires loadable<T, U>
  SORA2_TARGET_AVX2 static inline void load(U const* p, v8<T>& out)
  {
    if constexpr (std::is_same_v<U, float16>)
      to_part(_mm256_cvtph_ps(words(p)), out);
    else if constexpr (std::is_same_v<U, bfloat16>)
      to_part(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words(p)), 16)), out);
    else if constexpr (sizeof(U) == 4)
      portable_steps::load<T>(p, out);
    else {
      v8<std::int32_t> wide;
      if constexpr (sizeof(U) == 2)
        to_part<std::int32_t>(std::is_signed_v<U> ? _mm256_cvtepi16_epi32(words(p))
                                                  : _mm256_cvtepu16_epi32(words(p)),
                              wide);
      else
        to_part<std::int32_t>(std::is_signed_v<U> ? _mm256_cvtepi8_epi32(bytes(p))
                                                  : _mm256_cvtepu8_epi32(bytes(p)),
                              wide);
      if constexpr (std::is_same_v<T, float>)
        out = __builtin_convertvector(wide, v8<float>);
      else
        out = __builtin_bit_cast(v8<T>, wide);
    }
  }
  template <class U, class T>
    requires storable<T, U>
  SORA2_TARGET_AVX2 static inline void store(U* p, v8<T> const& x)
  {
    if constexpr (std::is_same_v<U, float16>)
      _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p),
                       _mm256_cvtps_ph(register_of<float>(x), _MM_FROUND_TO_NEAREST_INT));
    else if constexpr (std::is_same_v<U, bfloat16>) {
      v8<std::uint32_t> bits;
      float_to_bfloat(x, bits);
      _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p),
                       low_words(register_of<std::uint32_t>(bits)));
    } else if constexpr (sizeof(U) == 4)
      portable_steps::store<U, T>(p, x);
    else {
      __m128i const narrow =
          low_words(_mm256_and_si256(register_of<T>(x), _mm256_set1_epi32(0xFFFF)));
      if constexpr (sizeof(U) == 2)
        _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p), narrow);
      else {
        __m128i const low = _mm_and_si128(narrow, _mm_set1_epi16(0xFF));
        _mm_storel_epi64(reinterpret_cast<__m128i_u*>(p), _mm_packus_epi16(low, low));
      }
    }
  }

  SORA2_TARGET_AVX2 static inline __m128i words(void const* p)
  {
    return _mm_loadu_si128(static_cast<__m128i_u const*>(p));
  }
  SORA2_TARGET_AVX2 static inline __m128i bytes(void const* p)
  {
    return _mm_loadl_epi64(static_cast<__m128i_u const*>(p));
  }
  /// Eight values below 2^16 as words.
  SORA2_TARGET_AVX2 static inline __m128i low_words(__m256i const& x)
  {
    return _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  }
};

}  // namespace detail

struct avx2_warp : detail::vector_warp<avx2_warp> {
  using base = detail::vector_warp<avx2_warp>;
  using steps = detail::vector_steps<avx2_warp>;
#if !defined(__clang__)
  static constexpr int chains = 2;  // clang keeps less of them in registers than it wins
#endif

  template <class U, class T>
  SORA2_TARGET_AVX2 inline void store(U* p, lanes<T, avx2_warp> const& x) const
  {
    if constexpr (sizeof(U) == 1) {
      // Keep the low byte of every lane: three packs and one permutation bring 32 bytes in lane order.
      static_assert(detail::storable<T, U>);
      __m256i const low = _mm256_set1_epi32(0xFF);
      __m256i const ab = _mm256_packus_epi32(_mm256_and_si256(detail::register_of<T>(x.a), low),
                                             _mm256_and_si256(detail::register_of<T>(x.b), low));
      __m256i const cd = _mm256_packus_epi32(_mm256_and_si256(detail::register_of<T>(x.c), low),
                                             _mm256_and_si256(detail::register_of<T>(x.d), low));
      __m256i const order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
      _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p),
                          _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order));
    } else
      base::store(p, x);
  }

  /// By scalar loads: faster than the gather instruction where that is slow, and hardly slower where it is not.
  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX2 inline lanes<T, avx2_warp> gather(U const* p,
                                                                    uints const& at) const
  {
    if constexpr (sizeof(U) == 4 && std::is_same_v<T, float> == std::is_same_v<U, float>) {
      lanes<T, avx2_warp> x;
      gather_part<T>(p, at.a, x.a);
      gather_part<T>(p, at.b, x.b);
      gather_part<T>(p, at.c, x.c);
      gather_part<T>(p, at.d, x.d);
      return x;
    } else
      return base::template gather<T>(p, at);
  }

  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX2 inline lanes<T, avx2_warp>
  gather(U const* p, uints const& at, mask const& chosen, std::type_identity_t<T> fill) const
  {
    return base::template gather<T>(p, at, chosen, fill);
  }

  /// Elements 2 * at and 2 * at + 1.
  SORA2_TARGET_AVX2 inline void gather_pair(std::uint32_t const* p, uints const& at, uints& first,
                                            uints& second) const
  {
    pair_part(p, at.a, first.a, second.a);
    pair_part(p, at.b, first.b, second.b);
    pair_part(p, at.c, first.c, second.c);
    pair_part(p, at.d, first.d, second.d);
  }

  /// As the portable one, in registers.
  template <class T>
  [[nodiscard]] SORA2_TARGET_AVX2 inline T sum(lanes<T, avx2_warp> const& x) const
  {
    if constexpr (std::is_same_v<T, float>) {
      __m256 const a = _mm256_add_ps(detail::register_of<T>(x.a), detail::register_of<T>(x.c));
      __m256 const b = _mm256_add_ps(detail::register_of<T>(x.b), detail::register_of<T>(x.d));
      __m256 const eight = _mm256_add_ps(a, b);
      __m128 const four =
          _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
      __m128 const two = _mm_add_ps(four, _mm_movehl_ps(four, four));
      return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    } else
      return base::sum(x);
  }

  template <class T>
  [[nodiscard]] SORA2_TARGET_AVX2 inline lanes<T, avx2_warp> shuffle(lanes<T, avx2_warp> const& x,
                                                                     uints const& from) const
  {
    lanes<T, avx2_warp> y;
    shuffle_part(x, from.a, y.a);
    shuffle_part(x, from.b, y.b);
    shuffle_part(x, from.c, y.c);
    shuffle_part(x, from.d, y.d);
    return y;
  }

  [[nodiscard]] SORA2_TARGET_AVX2 inline lanes<float, avx2_warp>
  butterfly(lanes<float, avx2_warp> const& x, int bits) const
  {
    if (bits != 1) return base::butterfly(x, bits);
    lanes<float, avx2_warp> y;
    neighbours(x.a, y.a);
    neighbours(x.b, y.b);
    neighbours(x.c, y.c);
    neighbours(x.d, y.d);
    return y;
  }

  [[nodiscard]] SORA2_TARGET_AVX2 inline uints take_next(word_source& source,
                                                         mask const& need) const
  {
    // The vector form reads 16 bytes for each part, whatever is needed: near the end the portable form takes over.
    if (source.end - source.next < 64) return base::take_next(source, need);
    uints x;
    std::byte const* p = source.next;
    take_part(p, need.a, x.a);
    take_part(p, need.b, x.b);
    take_part(p, need.c, x.c);
    take_part(p, need.d, x.d);
    source.next = p;
    return x;
  }
  SORA2_TARGET_AVX2 inline void put_before(word_sink& sink, uints const& x,
                                           mask const& chosen) const
  {
    if (sink.next - sink.begin < 64 || sink.overrun) return base::put_before(sink, x, chosen);
    std::byte* p = sink.next;
    put_part(p, x.d, chosen.d);
    put_part(p, x.c, chosen.c);
    put_part(p, x.b, chosen.b);
    put_part(p, x.a, chosen.a);
    sink.next = p;
  }

 private:
  template <class T>
  SORA2_TARGET_AVX2 static inline void shuffle_part(lanes<T, avx2_warp> const& x,
                                                    detail::v8<std::uint32_t> const& from,
                                                    detail::v8<T>& out)
  {
    // Bits 0-2 choose within a part, which the permutation looks at alone; bits 3 and 4 choose the part.
    __m256i const at = detail::register_of<std::uint32_t>(from);
    auto const pick = [&](detail::v8<T> const& part) SORA2_TARGET_AVX2 {
      return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(
          _mm256_loadu_si256(reinterpret_cast<__m256i_u const*>(&part)), at));
    };
    __m256 const bit3 = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
    __m256 const bit4 = _mm256_castsi256_ps(_mm256_slli_epi32(at, 27));
    __m256 const low = _mm256_blendv_ps(pick(x.a), pick(x.b), bit3);
    __m256 const high = _mm256_blendv_ps(pick(x.c), pick(x.d), bit3);
    _mm256_storeu_ps(reinterpret_cast<float*>(&out), _mm256_blendv_ps(low, high, bit4));
  }
  /// Sum in even lanes, difference in odd ones, by the fused instruction that does both: a product with 1 is exact.
  SORA2_TARGET_AVX2 static inline void neighbours(detail::v8<float> const& x,
                                                  detail::v8<float>& out)
  {
    __m256 const y = detail::register_of<float>(x);
    detail::to_part(_mm256_fmsubadd_ps(_mm256_permute_ps(y, 0xB1), _mm256_set1_ps(1.0f), y), out);
  }
  template <class U>
  SORA2_TARGET_AVX2 static inline __m128i gather_four(U const* p, __m128i const& at)
  {
    // Two places come out of the vector at a time.
    auto const low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(at));
    auto const high = static_cast<std::uint64_t>(_mm_extract_epi64(at, 1));
    __m128i const a = _mm_insert_epi32(_mm_cvtsi32_si128(load_le<int>(p + (low & 0xFFFFFFFFu))),
                                       load_le<int>(p + (low >> 32)), 1);
    __m128i const b = _mm_insert_epi32(_mm_cvtsi32_si128(load_le<int>(p + (high & 0xFFFFFFFFu))),
                                       load_le<int>(p + (high >> 32)), 1);
    return _mm_unpacklo_epi64(a, b);
  }
  SORA2_TARGET_AVX2 static inline __m128i one_pair_each(std::uint32_t const* p, std::int64_t at)
  {
    auto const i = static_cast<std::uint64_t>(at);
    __m128i const x =
        _mm_loadl_epi64(reinterpret_cast<__m128i_u const*>(p + 2 * (i & 0xFFFFFFFFu)));
    return _mm_castpd_si128(
        _mm_loadh_pd(_mm_castsi128_pd(x), reinterpret_cast<double const*>(p + 2 * (i >> 32))));
  }
  /// Each pair comes as one word of 64 bits: half the loads, and two shuffles part them.
  SORA2_TARGET_AVX2 static inline void pair_part(std::uint32_t const* p,
                                                 detail::v8<std::uint32_t> const& at,
                                                 detail::v8<std::uint32_t>& first,
                                                 detail::v8<std::uint32_t>& second)
  {
    __m256i const i = detail::register_of<std::uint32_t>(at);
    __m128i const low = _mm256_castsi256_si128(i), high = _mm256_extracti128_si256(i, 1);
    // Per half: the pairs of lanes 0 and 1, then of 2 and 3.
    __m256 const x = _mm256_castsi256_ps(
        _mm256_inserti128_si256(_mm256_castsi128_si256(one_pair_each(p, _mm_cvtsi128_si64(low))),
                                one_pair_each(p, _mm_cvtsi128_si64(high)), 1));
    __m256 const y = _mm256_castsi256_ps(
        _mm256_inserti128_si256(_mm256_castsi128_si256(one_pair_each(p, _mm_extract_epi64(low, 1))),
                                one_pair_each(p, _mm_extract_epi64(high, 1)), 1));
    detail::to_part<std::uint32_t>(_mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88)), first);
    detail::to_part<std::uint32_t>(_mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xDD)), second);
  }
  template <class T, class U>
  SORA2_TARGET_AVX2 static inline void gather_part(U const* p, detail::v8<std::uint32_t> const& at,
                                                   detail::v8<T>& out)
  {
    __m256i const i = detail::register_of<std::uint32_t>(at);
    __m128i const low = gather_four(p, _mm256_castsi256_si128(i)),
                  high = gather_four(p, _mm256_extracti128_si256(i, 1));
    __m256i const x = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    if constexpr (std::is_same_v<T, float>)
      detail::to_part(_mm256_castsi256_ps(x), out);
    else
      detail::to_part<T>(x, out);
  }
  /// The words at p, spread over the lanes in need.
  SORA2_TARGET_AVX2 static inline void take_part(std::byte const*& p,
                                                 detail::v8<std::int32_t> const& need,
                                                 detail::v8<std::uint32_t>& out)
  {
    std::uint32_t const m = steps::ballot(need);
    __m128i const spread =
        _mm_shuffle_epi8(steps::words(p), steps::words(detail::expand_rows.row[m]));
    detail::to_part<std::uint32_t>(_mm256_cvtepu16_epi32(spread), out);
    p += 2 * popcount(m);
  }
  SORA2_TARGET_AVX2 static inline void put_part(std::byte*& p, detail::v8<std::uint32_t> const& x,
                                                detail::v8<std::int32_t> const& chosen)
  {
    std::uint32_t const m = steps::ballot(chosen);
    int const count = popcount(m);
    __m256i const from = _mm256_cvtepu8_epi32(steps::bytes(&detail::compress_rows.row[m]));
    __m256i const packed = _mm256_permutevar8x32_epi32(detail::register_of<std::uint32_t>(x), from);
    __m128i const w = steps::low_words(_mm256_and_si256(packed, _mm256_set1_epi32(0xFFFF)));
    // Eight words that end at the cursor: those below the chosen ones lie in free room.
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p - 16), w);
    p -= 2 * count;
  }
};

static_assert(host_context<avx2_warp>);

}  // namespace sora2

#endif
