/// Least and greatest of many values, per lane or over all lanes, with NaN and infinity noticed.
/// Smallest use: `value_range<float16, false, Warp> r; r.start(); r.take(w, p, 32); auto low = r.low();`.
/// Limits: results are plain numbers where `damaged` and the results themselves are finite; else some value was not.
/// Zeros may come back with either sign.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/avx2_warp.hpp>
#include <sora2/simt/avx512_warp.hpp>
#include <sora2/simt/lanes.hpp>
#include <sora2/simt/packed.hpp>

namespace sora2 {

/// Of values of memory type T; of their magnitudes if `Magnitudes`.
template <class T, bool Magnitudes, class Warp>
class value_range {
 public:
  /// Forgets all values, but not that one was a NaN or an infinity.
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void start()
  {
    if constexpr (Magnitudes) {
      lowest_ = 0x7F800000;
      highest_ = 0;
    } else {
      lowest_ = bit_cast<float>(0x7F800000u);
      highest_ = bit_cast<float>(0xFF800000u);
    }
  }
  /// Lane i takes p[i], or p[0] when i >= n; n > 0.
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void take(Warp const& w, T const* p, std::uint32_t n)
  {
    lanes<float, Warp> x = w.template load_n<float>(p, n, 0.0f);
    if (n < 32) x = select(w.lane() < n, x, w.broadcast(x, 0));
    take(x);
  }
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void take(lanes<float, Warp> const& x)
  {
    if constexpr (Magnitudes) {
      // As integers the bits of magnitudes are in the order of the numbers, and NaN is the greatest.
      auto const magnitude = to_int(bits_of(x) & 0x7FFFFFFFu);
      lowest_ = least(lowest_, magnitude);
      highest_ = greatest(highest_, magnitude);
    } else {
      lowest_ = least(lowest_, x);
      highest_ = greatest(highest_, x);
      poison_ = multiply_add_exact(x, 0.0f, poison_);
    }
  }
  /// Continues with what `low` and `high` gave earlier.
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void resume(lanes<float, Warp> const& low, lanes<float, Warp> const& high)
  {
    if constexpr (Magnitudes) {
      lowest_ = to_int(bits_of(low));
      highest_ = to_int(bits_of(high));
    } else {
      lowest_ = low;
      highest_ = high;
    }
  }

  SORA2_TWO_SIDED
  [[nodiscard]] SORA2_HD SORA2_INLINE lanes<float, Warp> low() const { return number(lowest_); }
  SORA2_TWO_SIDED
  [[nodiscard]] SORA2_HD SORA2_INLINE lanes<float, Warp> high() const { return number(highest_); }
  /// Least and greatest of 32 * Lines or of `count` values in a row. `numbers` makes numbers of many such results at once.
  SORA2_TWO_SIDED
  template <std::uint32_t Lines>
  SORA2_HD SORA2_INLINE void measure(Warp const& w, T const* p, float& low, float& high)
  {
    start();
    SORA2_UNROLL
    for (std::uint32_t i = 0; i < Lines; ++i) take(w.template load<float>(p + 32 * i));
    low = bit_cast<float>(w.least_of(lowest_));
    high = bit_cast<float>(w.greatest_of(highest_));
  }
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void measure(Warp const& w, T const* p, std::uint32_t count, float& low,
                                     float& high)
  {
    start();
    for (std::uint32_t i = 0; i < count; i += 32) take(w, p + i, count - i);
    low = bit_cast<float>(w.least_of(lowest_));
    high = bit_cast<float>(w.greatest_of(highest_));
  }
  SORA2_TWO_SIDED
  [[nodiscard]] SORA2_HD SORA2_INLINE static lanes<float, Warp>
  numbers(lanes<float, Warp> const& results)
  {
    return results;
  }
  /// True where a NaN or an infinity was taken that the results do not show.
  SORA2_TWO_SIDED
  [[nodiscard]] SORA2_HD SORA2_INLINE bool damaged(Warp const& w) const
  {
    if constexpr (Magnitudes)
      return false;
    else
      return w.any(poison_ != poison_);
  }

 private:
  using kept = lanes<std::conditional_t<Magnitudes, std::int32_t, float>, Warp>;

  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE static lanes<float, Warp> number(kept const& x)
  {
    if constexpr (Magnitudes)
      return float_of(to_uint(x));
    else
      return x;
  }

  kept lowest_, highest_;
  lanes<float, Warp> poison_ = 0.0f;
};

#if defined(__x86_64__)

namespace detail {

/// Sixteen float16 as 16-bit integers of the same order, and back: it is its own inverse.
SORA2_TARGET_AVX2 inline __m256i ordered_halves(__m256i const& x)
{
  return _mm256_xor_si256(x, _mm256_srli_epi16(_mm256_srai_epi16(x, 15), 1));
}
SORA2_TARGET_AVX2 inline __m128i ordered_halves(__m128i const& x)
{
  return _mm_xor_si128(x, _mm_srli_epi16(_mm_srai_epi16(x, 15), 1));
}

/// float16 is compared as it lies, sixteen to a register: half the work of comparing floats, and NaN stays visible as
/// what is beyond infinity.
template <bool Magnitudes>
struct half_range {
  v8<std::int32_t> lowest[2], highest[2];

  SORA2_TARGET_AVX2 inline void start()
  {
    for (int i = 0; i < 2; ++i) {
      to_part<std::int32_t>(_mm256_set1_epi16(0x7FFF), lowest[i]);
      to_part<std::int32_t>(_mm256_set1_epi16(Magnitudes ? 0 : -0x8000), highest[i]);
    }
  }
  SORA2_TARGET_AVX2 inline void take(float16 const* p, std::uint32_t n)
  {
    float16 room[32];
    if (n < 32) {
      for (std::uint32_t i = 0; i < 32; ++i) room[i] = p[i < n ? i : 0];
      p = room;
    }
    take_part(p, lowest[0], highest[0]);
    take_part(p + 16, lowest[1], highest[1]);
  }
  /// Eight lanes from 8 * part on.
  SORA2_TARGET_AVX2 static inline __m128i eight(v8<std::int32_t> const (&x)[2], int part)
  {
    __m256i const y = Magnitudes ? register_of<std::int32_t>(x[part / 2])
                                 : ordered_halves(register_of<std::int32_t>(x[part / 2]));
    return part % 2 == 0 ? _mm256_castsi256_si128(y) : _mm256_extracti128_si256(y, 1);
  }
  /// The float16 in the low half of each 32 bits, as numbers.
  SORA2_TARGET_AVX2 static inline __m128i eight(__m256i const& x)
  {
    __m256i const low = _mm256_and_si256(x, _mm256_set1_epi32(0xFFFF));
    __m128i const y =
        _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    return Magnitudes ? y : ordered_halves(y);
  }
  template <std::uint32_t Lines>
  SORA2_TARGET_AVX2 static inline void measure(float16 const* p, float& low, float& high)
  {
    __m256i lows = load(p), highs = lows;
    SORA2_UNROLL_ON_HOST
    for (std::uint32_t i = 16; i < 32 * Lines; i += 16) {
      __m256i const x = load(p + i);
      lows = _mm256_min_epi16(lows, x);
      highs = _mm256_max_epi16(highs, x);
    }
    results(lows, highs, low, high);
  }
  SORA2_TARGET_AVX2 inline void measure(float16 const* p, std::uint32_t count, float& low,
                                        float& high)
  {
    start();
    for (std::uint32_t i = 0; i < count; i += 32) take(p + i, count - i);
    results(_mm256_min_epi16(register_of<std::int32_t>(lowest[0]),
                             register_of<std::int32_t>(lowest[1])),
            _mm256_max_epi16(register_of<std::int32_t>(highest[0]),
                             register_of<std::int32_t>(highest[1])),
            low, high);
  }

 private:
  SORA2_TARGET_AVX2 static inline __m256i load(float16 const* p)
  {
    __m256i const raw = _mm256_loadu_si256(reinterpret_cast<__m256i_u const*>(p));
    return Magnitudes ? _mm256_and_si256(raw, _mm256_set1_epi16(0x7FFF)) : ordered_halves(raw);
  }
  SORA2_TARGET_AVX2 static inline void take_part(float16 const* p, v8<std::int32_t>& low,
                                                 v8<std::int32_t>& high)
  {
    __m256i const x = load(p);
    to_part<std::int32_t>(_mm256_min_epi16(register_of<std::int32_t>(low), x), low);
    to_part<std::int32_t>(_mm256_max_epi16(register_of<std::int32_t>(high), x), high);
  }
  /// The bits of ordered integers.
  SORA2_TARGET_AVX2 static inline void results(__m256i const& lows, __m256i const& highs,
                                               float& low, float& high)
  {
    low = least_of(_mm_min_epi16(_mm256_castsi256_si128(lows), _mm256_extracti128_si256(lows, 1)),
                   _mm_set1_epi16(-0x8000));
    high =
        least_of(_mm_max_epi16(_mm256_castsi256_si128(highs), _mm256_extracti128_si256(highs, 1)),
                 _mm_set1_epi16(0x7FFF));
  }
  /// There is one instruction for the least of eight unsigned words; `turn` makes the order wanted into that one.
  SORA2_TARGET_AVX2 static inline float least_of(__m128i const& x, __m128i const& turn)
  {
    return _mm_cvtss_f32(
        _mm_castsi128_ps(_mm_xor_si128(_mm_minpos_epu16(_mm_xor_si128(x, turn)), turn)));
  }
};

/// What the ranges below share; they add how many results become lanes of numbers.
template <bool Magnitudes, class Warp>
class half_value_range {
 public:
  SORA2_TARGET_AVX2 inline void start() { range_.start(); }
  SORA2_TARGET_AVX2 inline void take(Warp const&, float16 const* p, std::uint32_t n)
  {
    range_.take(p, n);
  }
  template <std::uint32_t Lines>
  SORA2_TARGET_AVX2 inline void measure(Warp const&, float16 const* p, float& low, float& high)
  {
    range::template measure<Lines>(p, low, high);
  }
  SORA2_TARGET_AVX2 inline void measure(Warp const&, float16 const* p, std::uint32_t count,
                                        float& low, float& high)
  {
    range_.measure(p, count, low, high);
  }
  [[nodiscard]] bool damaged(Warp const&) const { return false; }

 protected:
  using range = half_range<Magnitudes>;
  range range_;
};

}  // namespace detail

template <bool Magnitudes>
class value_range<float16, Magnitudes, avx2_warp>
    : public detail::half_value_range<Magnitudes, avx2_warp> {
  using typename detail::half_value_range<Magnitudes, avx2_warp>::range;
  using reals = lanes<float, avx2_warp>;

 public:
  [[nodiscard]] SORA2_TARGET_AVX2 inline reals low() const { return of(this->range_.lowest); }
  [[nodiscard]] SORA2_TARGET_AVX2 inline reals high() const { return of(this->range_.highest); }
  [[nodiscard]] SORA2_TARGET_AVX2 static inline reals numbers(reals const& results)
  {
    auto const x = bits_of(results);
    reals y;
    detail::to_part(_mm256_cvtph_ps(range::eight(detail::register_of<std::uint32_t>(x.a))), y.a);
    detail::to_part(_mm256_cvtph_ps(range::eight(detail::register_of<std::uint32_t>(x.b))), y.b);
    detail::to_part(_mm256_cvtph_ps(range::eight(detail::register_of<std::uint32_t>(x.c))), y.c);
    detail::to_part(_mm256_cvtph_ps(range::eight(detail::register_of<std::uint32_t>(x.d))), y.d);
    return y;
  }

 private:
  SORA2_TARGET_AVX2 static inline reals of(detail::v8<std::int32_t> const (&x)[2])
  {
    reals y;
    detail::to_part(_mm256_cvtph_ps(range::eight(x, 0)), y.a);
    detail::to_part(_mm256_cvtph_ps(range::eight(x, 1)), y.b);
    detail::to_part(_mm256_cvtph_ps(range::eight(x, 2)), y.c);
    detail::to_part(_mm256_cvtph_ps(range::eight(x, 3)), y.d);
    return y;
  }
};

template <bool Magnitudes>
class value_range<float16, Magnitudes, avx512_warp>
    : public detail::half_value_range<Magnitudes, avx512_warp> {
  using typename detail::half_value_range<Magnitudes, avx512_warp>::range;
  using reals = lanes<float, avx512_warp>;

 public:
  [[nodiscard]] SORA2_TARGET_AVX512 inline reals low() const { return of(this->range_.lowest); }
  [[nodiscard]] SORA2_TARGET_AVX512 inline reals high() const { return of(this->range_.highest); }
  [[nodiscard]] SORA2_TARGET_AVX512 static inline reals numbers(reals const& results)
  {
    float16 room[32];
    float x[32];
    avx512_warp{}.store(x, results);
    for (int i = 0; i < 4; ++i)
      _mm_storeu_si128(reinterpret_cast<__m128i_u*>(room + 8 * i),
                       range::eight(_mm256_castps_si256(_mm256_loadu_ps(x + 8 * i))));
    return avx512_warp{}.load<float>(room);
  }

 private:
  SORA2_TARGET_AVX512 static inline reals of(detail::v8<std::int32_t> const (&x)[2])
  {
    float16 room[32];
    for (int i = 0; i < 4; ++i)
      _mm_storeu_si128(reinterpret_cast<__m128i_u*>(room + 8 * i), range::eight(x, i));
    return avx512_warp{}.load<float>(room);
  }
};

#endif

}  // namespace sora2
