/// A warp of 32 lanes as four AVX2 registers, with the steps that plain vector code does badly written in intrinsics.
/// Smallest use: through `with_best_warp`; by hand only inside a function that carries SORA2_FLATTEN_AVX2.
/// Limits: x86-64 with AVX2, F16C and BMI2 at run time. FMA is left out on purpose: no product may be fused behind our back.
#pragma once

#include <sora2/simt/detail/vector_warp.hpp>

#if defined(__x86_64__)

#ifndef SORA2_TARGET_AVX2
#define SORA2_TARGET_AVX2 __attribute__((target("avx2,f16c,bmi,bmi2,popcnt,lzcnt")))
#endif
#define SORA2_FLATTEN_AVX2 __attribute__((flatten)) SORA2_TARGET_AVX2

namespace sora2 {

namespace detail {

/// For each 8-bit mask: where each set bit's word lies in the packed words (4 bits a lane).
struct expand_table {
  std::uint64_t row[256];
};
constexpr expand_table make_expand_table()
{
  expand_table t{};
  for (std::uint32_t m = 0; m < 256; ++m) {
    std::uint64_t r = 0, rank = 0;
    for (int i = 0; i < 8; ++i)
      if (m >> i & 1u) r |= rank++ << (8 * i);
    t.row[m] = r;
  }
  return t;
}
inline constexpr expand_table expand_rows = make_expand_table();

/// For each 8-bit mask: the set lanes, lowest first.
constexpr expand_table make_compress_table()
{
  expand_table t{};
  for (std::uint32_t m = 0; m < 256; ++m) {
    std::uint64_t r = 0;
    int rank = 0;
    for (std::uint64_t i = 0; i < 8; ++i)
      if (m >> i & 1u) r |= i << (8 * rank++);
    t.row[m] = r;
  }
  return t;
}
inline constexpr expand_table compress_rows = make_compress_table();

}  // namespace detail

struct avx2_warp : detail::vector_warp<avx2_warp> {
  using base = detail::vector_warp<avx2_warp>;

  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX2 inline lanes<T, avx2_warp> load(U const* p) const
  {
    if constexpr (std::is_same_v<U, float16>) {
      lanes<float, avx2_warp> x;
      put(x.a, _mm256_cvtph_ps(words(p)));
      put(x.b, _mm256_cvtph_ps(words(p + 8)));
      put(x.c, _mm256_cvtph_ps(words(p + 16)));
      put(x.d, _mm256_cvtph_ps(words(p + 24)));
      return x;
    } else
      return base::load<T>(p);
  }
  template <class U, class T>
  SORA2_TARGET_AVX2 inline void store(U* p, lanes<T, avx2_warp> const& x) const
  {
    if constexpr (std::is_same_v<U, float16>) {
      put_words(p, _mm256_cvtps_ph(get<T>(x.a), _MM_FROUND_TO_NEAREST_INT));
      put_words(p + 8, _mm256_cvtps_ph(get<T>(x.b), _MM_FROUND_TO_NEAREST_INT));
      put_words(p + 16, _mm256_cvtps_ph(get<T>(x.c), _MM_FROUND_TO_NEAREST_INT));
      put_words(p + 24, _mm256_cvtps_ph(get<T>(x.d), _MM_FROUND_TO_NEAREST_INT));
    } else if constexpr (sizeof(U) == 1 && !std::is_same_v<T, float>) {
      // Keep the low byte of every lane: three packs and one permutation bring 32 bytes in lane order.
      __m256i const low = _mm256_set1_epi32(0xFF);
      __m256i const ab = _mm256_packus_epi32(_mm256_and_si256(get<T>(x.a), low),
                                             _mm256_and_si256(get<T>(x.b), low));
      __m256i const cd = _mm256_packus_epi32(_mm256_and_si256(get<T>(x.c), low),
                                             _mm256_and_si256(get<T>(x.d), low));
      __m256i const bytes = _mm256_packus_epi16(ab, cd);
      __m256i const order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permutevar8x32_epi32(bytes, order));
    } else
      base::store(p, x);
  }

  [[nodiscard]] SORA2_TARGET_AVX2 inline std::uint32_t ballot(mask const& m) const
  {
    return bits(m.a) | bits(m.b) << 8 | bits(m.c) << 16 | bits(m.d) << 24;
  }
  [[nodiscard]] SORA2_TARGET_AVX2 inline bool any(mask const& m) const { return ballot(m) != 0; }
  [[nodiscard]] SORA2_TARGET_AVX2 inline bool all(mask const& m) const
  {
    return ballot(m) == 0xFFFFFFFFu;
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
  SORA2_TARGET_AVX2 static inline auto get(detail::v8<T> const& x)
  {
    if constexpr (std::is_same_v<T, float>)
      return _mm256_loadu_ps(reinterpret_cast<float const*>(&x));
    else
      return _mm256_loadu_si256(reinterpret_cast<__m256i_u const*>(&x));
  }
  SORA2_TARGET_AVX2 static inline void put(detail::v8<float>& to, __m256 const& v)
  {
    _mm256_storeu_ps(reinterpret_cast<float*>(&to), v);
  }
  SORA2_TARGET_AVX2 static inline void put(detail::v8<std::uint32_t>& to, __m256i const& v)
  {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(&to), v);
  }
  SORA2_TARGET_AVX2 static inline __m128i words(void const* p)
  {
    return _mm_loadu_si128(static_cast<__m128i const*>(p));
  }
  SORA2_TARGET_AVX2 static inline void put_words(void* p, __m128i const& x)
  {
    _mm_storeu_si128(static_cast<__m128i*>(p), x);
  }
  SORA2_TARGET_AVX2 static inline std::uint32_t bits(detail::v8<std::int32_t> const& m)
  {
    return static_cast<std::uint32_t>(
        _mm256_movemask_ps(_mm256_castsi256_ps(get<std::int32_t>(m))));
  }
  SORA2_TARGET_AVX2 static inline void take_part(std::byte const*& p,
                                                 detail::v8<std::int32_t> const& need,
                                                 detail::v8<std::uint32_t>& out)
  {
    std::uint32_t const m = bits(need);
    __m256i const next = _mm256_cvtepu16_epi32(words(p));
    __m256i const from = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<__m128i const*>(&detail::expand_rows.row[m])));
    __m256i const x =
        _mm256_and_si256(_mm256_permutevar8x32_epi32(next, from), get<std::int32_t>(need));
    put(out, x);
    p += 2 * popcount(m);
  }
  SORA2_TARGET_AVX2 static inline void put_part(std::byte*& p, detail::v8<std::uint32_t> const& x,
                                                detail::v8<std::int32_t> const& chosen)
  {
    std::uint32_t const m = bits(chosen);
    int const count = popcount(m);
    __m256i const from = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<__m128i const*>(&detail::compress_rows.row[m])));
    __m256i const packed = _mm256_permutevar8x32_epi32(get<std::uint32_t>(x), from);
    __m256i const low = _mm256_and_si256(packed, _mm256_set1_epi32(0xFFFF));
    __m128i const w =
        _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    // Written as eight words that end below the cursor: the ones above the count land on what later writes replace.
    p -= 2 * count;
    alignas(16) std::uint16_t y[8];
    _mm_store_si128(reinterpret_cast<__m128i*>(y), w);
    std::memcpy(p, y, static_cast<std::size_t>(2 * count));
  }
};

static_assert(host_context<avx2_warp>);

}  // namespace sora2

#endif
