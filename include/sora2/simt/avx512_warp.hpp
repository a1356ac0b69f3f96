/// A warp of 32 lanes as two AVX-512 registers; masks are two mask registers.
/// Smallest use: through `with_best_warp`; by hand only inside a function that carries SORA2_FLATTEN_AVX512.
/// Limits: x86-64 with AVX-512 F, BW, DQ and VL at run time. Elsewhere the operations compile but must not run.
#pragma once

#include <sora2/simt/detail/vector_warp.hpp>

#if defined(__x86_64__)

#include <immintrin.h>

#ifndef SORA2_TARGET_AVX512
#define SORA2_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,bmi,bmi2,popcnt,lzcnt")))
#endif
#ifndef SORA2_FLATTEN_AVX512
#define SORA2_FLATTEN_AVX512 SORA2_FLATTEN SORA2_TARGET_AVX512
#endif

namespace sora2 {

struct avx512_warp;

namespace detail {

// 4-byte alignment as for v8: temporaries may lie on any stack slot.
template <class T>
struct vector16 {
  typedef T type __attribute__((vector_size(16 * sizeof(T)), aligned(alignof(T))));
};
template <class T>
using v16 = typename vector16<T>::type;

template <class T>
SORA2_TARGET_AVX512 inline __m512i words_of(v16<T> const& x)
{
  return __builtin_bit_cast(__m512i, x);
}
SORA2_TARGET_AVX512 inline __m512 floats_of(v16<float> const& x)
{
  return __builtin_bit_cast(__m512, x);
}

template <class T>
SORA2_TARGET_AVX512 inline v16<T> from_words(__m512i const& x)
{
  return __builtin_bit_cast(v16<T>, x);
}
SORA2_TARGET_AVX512 inline v16<float> from_floats(__m512 const& x)
{
  return __builtin_bit_cast(v16<float>, x);
}

/// All lanes, for the masked forms of intrinsics. g++ 12 implements the unmasked ones with a variable that is never set,
/// and warns about it wherever they are inlined into a user's code.
SORA2_INLINE __mmask16 all16() { return 0xFFFF; }
SORA2_INLINE __mmask8 all8() { return 0xFF; }

/// A product that no compiler fuses with an addition around it. Without optimisation g++ has a macro for the intrinsic,
/// whose conversion of the mask it warns about.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
SORA2_TARGET_AVX512 inline v16<float> product_of(v16<float> const& x, v16<float> const& y)
{
  return from_floats(_mm512_maskz_mul_round_ps(detail::all16(), floats_of(x), floats_of(y),
                                               _MM_FROUND_CUR_DIRECTION));
}
#pragma GCC diagnostic pop
SORA2_TARGET_AVX512 inline v16<std::uint32_t> mul_hi16(v16<std::uint32_t> const& x,
                                                       v16<std::uint32_t> const& y)
{
  __m512i const a = words_of<std::uint32_t>(x), b = words_of<std::uint32_t>(y);
  __m512i const even =
      _mm512_maskz_srli_epi64(detail::all8(), _mm512_maskz_mul_epu32(detail::all8(), a, b), 32);
  __m512i const odd =
      _mm512_maskz_mul_epu32(detail::all8(), _mm512_maskz_srli_epi64(detail::all8(), a, 32),
                             _mm512_maskz_srli_epi64(detail::all8(), b, 32));
  return from_words<std::uint32_t>(_mm512_mask_blend_epi32(0xAAAA, even, odd));
}

/// The same comparison by its code for integers and by its code for floats (false where a NaN takes part, but for !=).
template <int IntegerCode, int FloatCode, class T>
SORA2_TARGET_AVX512 inline __mmask16 compare16(v16<T> const& x, v16<T> const& y)
{
  if constexpr (std::is_same_v<T, float>)
    return _mm512_cmp_ps_mask(floats_of(x), floats_of(y), FloatCode);
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return _mm512_cmp_epi32_mask(words_of<T>(x), words_of<T>(y), IntegerCode);
  else
    return _mm512_cmp_epu32_mask(words_of<T>(x), words_of<T>(y), IntegerCode);
}

}  // namespace detail

template <>
struct lane_mask<avx512_warp> {
  __mmask16 low, high;  ///< lane i is bit i of `low`, lane 16 + i bit i of `high`

  lane_mask() = default;
  SORA2_INLINE lane_mask(__mmask16 l, __mmask16 h) : low(l), high(h) {}
  operator bool() const = delete;

  SORA2_INLINE friend lane_mask operator&(lane_mask const& x, lane_mask const& y)
  {
    return {static_cast<__mmask16>(x.low & y.low), static_cast<__mmask16>(x.high & y.high)};
  }
  SORA2_INLINE friend lane_mask operator|(lane_mask const& x, lane_mask const& y)
  {
    return {static_cast<__mmask16>(x.low | y.low), static_cast<__mmask16>(x.high | y.high)};
  }
  SORA2_INLINE friend lane_mask operator^(lane_mask const& x, lane_mask const& y)
  {
    return {static_cast<__mmask16>(x.low ^ y.low), static_cast<__mmask16>(x.high ^ y.high)};
  }
  SORA2_INLINE friend lane_mask operator~(lane_mask const& x)
  {
    return {static_cast<__mmask16>(~x.low), static_cast<__mmask16>(~x.high)};
  }
};

template <lane_type T>
struct lanes<T, avx512_warp> {
  using part = detail::v16<T>;
  using mask = lane_mask<avx512_warp>;
  part a, b;

  lanes() = default;
  SORA2_TARGET_AVX512 inline lanes(T x)
  {
    // Inside this function the register exists: elsewhere g++ would fill the lanes one by one.
    part const p = {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
    a = b = p;
  }
  SORA2_INLINE lanes(part const& low, part const& high) : a(low), b(high) {}

#define SORA2_LANES_BINARY(op)                                          \
  SORA2_INLINE friend lanes operator op(lanes const& x, lanes const& y) \
  {                                                                     \
    return {x.a op y.a, x.b op y.b};                                    \
  }
#define SORA2_LANES_BITWISE(op)                                         \
  SORA2_INLINE friend lanes operator op(lanes const& x, lanes const& y) \
    requires(!std::same_as<T, float>)                                   \
  {                                                                     \
    return {x.a op y.a, x.b op y.b};                                    \
  }
#define SORA2_LANES_COMPARE(op, integer, real)                                       \
  SORA2_TARGET_AVX512 inline friend mask operator op(lanes const& x, lanes const& y) \
  {                                                                                  \
    return {detail::compare16<integer, real, T>(x.a, y.a),                           \
            detail::compare16<integer, real, T>(x.b, y.b)};                          \
  }
  SORA2_LANES_BINARY(+)
  SORA2_LANES_BINARY(-)
  SORA2_LANES_BITWISE(&)
  SORA2_LANES_BITWISE(|)
  SORA2_LANES_BITWISE(^)
  SORA2_LANES_COMPARE(<, _MM_CMPINT_LT, _CMP_LT_OQ)
  SORA2_LANES_COMPARE(<=, _MM_CMPINT_LE, _CMP_LE_OQ)
  SORA2_LANES_COMPARE(>, _MM_CMPINT_NLE, _CMP_GT_OQ)
  SORA2_LANES_COMPARE(>=, _MM_CMPINT_NLT, _CMP_GE_OQ)
  SORA2_LANES_COMPARE(==, _MM_CMPINT_EQ, _CMP_EQ_OQ)
  SORA2_LANES_COMPARE(!=, _MM_CMPINT_NE, _CMP_NEQ_UQ)
#undef SORA2_LANES_BINARY
#undef SORA2_LANES_COMPARE
#undef SORA2_LANES_BITWISE

  /// Never fused with an addition around it, whatever the compiler's contraction setting.
  SORA2_TARGET_AVX512 inline friend lanes operator*(lanes const& x, lanes const& y)
  {
    if constexpr (std::same_as<T, float>)
      return {detail::product_of(x.a, y.a), detail::product_of(x.b, y.b)};
    else
      return {x.a * y.a, x.b * y.b};
  }
  /// Correctly rounded.
  SORA2_INLINE friend lanes operator/(lanes const& x, lanes const& y)
    requires std::same_as<T, float>
  {
    return {x.a / y.a, x.b / y.b};
  }
  SORA2_INLINE friend lanes operator-(lanes const& x) { return {-x.a, -x.b}; }
  SORA2_INLINE friend lanes operator~(lanes const& x)
    requires(!std::same_as<T, float>)
  {
    return {~x.a, ~x.b};
  }
  /// Shifts by a uniform count or per lane, 0..31; arithmetic for signed lanes.
  SORA2_INLINE friend lanes operator<<(lanes const& x, int n)
    requires(!std::same_as<T, float>)
  {
    return {x.a << n, x.b << n};
  }
  SORA2_INLINE friend lanes operator>>(lanes const& x, int n)
    requires(!std::same_as<T, float>)
  {
    return {x.a >> n, x.b >> n};
  }
  SORA2_INLINE friend lanes operator<<(lanes const& x, lanes<std::uint32_t, avx512_warp> const& n)
    requires(!std::same_as<T, float>)
  {
    return {x.a << __builtin_bit_cast(part, n.a), x.b << __builtin_bit_cast(part, n.b)};
  }
  SORA2_INLINE friend lanes operator>>(lanes const& x, lanes<std::uint32_t, avx512_warp> const& n)
    requires(!std::same_as<T, float>)
  {
    return {x.a >> __builtin_bit_cast(part, n.a), x.b >> __builtin_bit_cast(part, n.b)};
  }
};

template <class T>
SORA2_TARGET_AVX512 inline lanes<T, avx512_warp> select(lane_mask<avx512_warp> const& m,
                                                        lanes<T, avx512_warp> const& x,
                                                        lanes<T, avx512_warp> const& y)
{
  return {detail::from_words<T>(
              _mm512_mask_blend_epi32(m.low, detail::words_of<T>(y.a), detail::words_of<T>(x.a))),
          detail::from_words<T>(
              _mm512_mask_blend_epi32(m.high, detail::words_of<T>(y.b), detail::words_of<T>(x.b)))};
}

namespace detail {

/// The same bits as another type, part by part: a cast of the whole would pass through memory.
template <class To, class From>
SORA2_INLINE lanes<To, avx512_warp> recast(lanes<From, avx512_warp> const& x)
{
  return {__builtin_bit_cast(v16<To>, x.a), __builtin_bit_cast(v16<To>, x.b)};
}

}  // namespace detail

SORA2_INLINE lanes<std::uint32_t, avx512_warp> bits_of(lanes<float, avx512_warp> const& x)
{
  return detail::recast<std::uint32_t>(x);
}
SORA2_INLINE lanes<float, avx512_warp> float_of(lanes<std::uint32_t, avx512_warp> const& x)
{
  return detail::recast<float>(x);
}
SORA2_INLINE lanes<std::int32_t, avx512_warp> to_int(lanes<std::uint32_t, avx512_warp> const& x)
{
  return detail::recast<std::int32_t>(x);
}
SORA2_INLINE lanes<std::int32_t, avx512_warp> to_int(lanes<std::int32_t, avx512_warp> const& x)
{
  return x;
}
SORA2_INLINE lanes<std::uint32_t, avx512_warp> to_uint(lanes<std::int32_t, avx512_warp> const& x)
{
  return detail::recast<std::uint32_t>(x);
}
SORA2_INLINE lanes<std::uint32_t, avx512_warp> to_uint(lanes<std::uint32_t, avx512_warp> const& x)
{
  return x;
}

/// Value of an integer as float, rounded to nearest.
template <class T>
  requires(!std::same_as<T, float>)
SORA2_INLINE lanes<float, avx512_warp> to_lanes_float(lanes<T, avx512_warp> const& x)
{
  using to = detail::v16<float>;
  return {__builtin_convertvector(x.a, to), __builtin_convertvector(x.b, to)};
}
/// Nearest, ties to even.
SORA2_TARGET_AVX512 inline lanes<std::int32_t, avx512_warp>
round_to_int(lanes<float, avx512_warp> const& x)
{
  return {detail::from_words<std::int32_t>(
              _mm512_maskz_cvtps_epi32(detail::all16(), detail::floats_of(x.a))),
          detail::from_words<std::int32_t>(
              _mm512_maskz_cvtps_epi32(detail::all16(), detail::floats_of(x.b)))};
}
/// Upper half of the 64-bit product.
SORA2_TARGET_AVX512 inline lanes<std::uint32_t, avx512_warp>
mul_hi(lanes<std::uint32_t, avx512_warp> const& x, lanes<std::uint32_t, avx512_warp> const& y)
{
  return {detail::mul_hi16(x.a, y.a), detail::mul_hi16(x.b, y.b)};
}
/// x * y + z with one rounding.
SORA2_TARGET_AVX512 inline lanes<float, avx512_warp> fma(lanes<float, avx512_warp> const& x,
                                                         lanes<float, avx512_warp> const& y,
                                                         lanes<float, avx512_warp> const& z)
{
  return {detail::from_floats(_mm512_fmadd_ps(detail::floats_of(x.a), detail::floats_of(y.a),
                                              detail::floats_of(z.a))),
          detail::from_floats(_mm512_fmadd_ps(detail::floats_of(x.b), detail::floats_of(y.b),
                                              detail::floats_of(z.b)))};
}

struct avx512_warp : detail::array_warp<avx512_warp> {
  using base = detail::array_warp<avx512_warp>;
  using uints = lanes<std::uint32_t, avx512_warp>;
  using mask = lane_mask<avx512_warp>;

  [[nodiscard]] SORA2_INLINE uints lane() const
  {
    using part = detail::v16<std::uint32_t>;
    return {part{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
            part{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}};
  }

  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp> load(U const* p) const
  {
    return {load16<T>(p, every), load16<T>(p + 16, every)};
  }
  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp>
  load_n(U const* p, std::uint32_t n, std::type_identity_t<T> fill) const
  {
    mask const inside = first(n);
    lanes<T, avx512_warp> const x{load16<T>(p, inside.low), load16<T>(p + 16, inside.high)};
    return sora2::select(inside, x, lanes<T, avx512_warp>(fill));
  }
  template <class U, class T>
  SORA2_TARGET_AVX512 inline void store(U* p, lanes<T, avx512_warp> const& x) const
  {
    store16<U, T>(p, every, x.a);
    store16<U, T>(p + 16, every, x.b);
  }
  template <class U, class T>
  SORA2_TARGET_AVX512 inline void store_n(U* p, std::uint32_t n,
                                          lanes<T, avx512_warp> const& x) const
  {
    mask const inside = first(n);
    store16<U, T>(p, inside.low, x.a);
    store16<U, T>(p + 16, inside.high, x.b);
  }

  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp> gather(U const* p,
                                                                        uints const& at) const
  {
    if constexpr (sizeof(U) == 4 && std::is_same_v<T, float> == std::is_same_v<U, float>)
      return {detail::from_words<T>(
                  _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), detail::all16(),
                                              detail::words_of<std::uint32_t>(at.a), p, 4)),
              detail::from_words<T>(
                  _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), detail::all16(),
                                              detail::words_of<std::uint32_t>(at.b), p, 4))};
    else
      return base::template gather<T>(p, at);
  }
  /// Lanes outside the mask get `fill` and touch no memory.
  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp>
  gather(U const* p, uints const& at, mask const& chosen, std::type_identity_t<T> fill) const
  {
    if constexpr (sizeof(U) == 4 && std::is_same_v<T, float> == std::is_same_v<U, float>) {
      __m512i const rest = detail::words_of<T>(lanes<T, avx512_warp>(fill).a);
      return {detail::from_words<T>(_mm512_mask_i32gather_epi32(
                  rest, chosen.low, detail::words_of<std::uint32_t>(at.a), p, 4)),
              detail::from_words<T>(_mm512_mask_i32gather_epi32(
                  rest, chosen.high, detail::words_of<std::uint32_t>(at.b), p, 4))};
    } else
      return base::template gather<T>(p, at, chosen, fill);
  }

  template <class T>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp>
  shuffle(lanes<T, avx512_warp> const& x, uints const& from) const
  {
    __m512i const a = detail::words_of<T>(x.a), b = detail::words_of<T>(x.b);
    return {detail::from_words<T>(
                _mm512_permutex2var_epi32(a, detail::words_of<std::uint32_t>(from.a), b)),
            detail::from_words<T>(
                _mm512_permutex2var_epi32(a, detail::words_of<std::uint32_t>(from.b), b))};
  }
  /// Lane i gets the value of lane i ^ bits; `bits` is uniform, 0..31.
  template <class T>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp>
  shuffle_xor(lanes<T, avx512_warp> const& x, int bits) const
  {
    lanes<T, avx512_warp> const y = (bits & 16) ? lanes<T, avx512_warp>{x.b, x.a} : x;
    if ((bits & 15) == 0) return y;
    __m512i const from =
        detail::words_of<std::uint32_t>(lane().a ^ static_cast<std::uint32_t>(bits & 15));
    return {detail::from_words<T>(
                _mm512_maskz_permutexvar_epi32(detail::all16(), from, detail::words_of<T>(y.a))),
            detail::from_words<T>(
                _mm512_maskz_permutexvar_epi32(detail::all16(), from, detail::words_of<T>(y.b)))};
  }

  [[nodiscard]] SORA2_INLINE std::uint32_t ballot(mask const& m) const
  {
    return m.low | static_cast<std::uint32_t>(m.high) << 16;
  }
  [[nodiscard]] SORA2_INLINE bool any(mask const& m) const { return (m.low | m.high) != 0; }
  [[nodiscard]] SORA2_INLINE bool all(mask const& m) const { return (m.low & m.high) == 0xFFFF; }

  /// Butterfly over distances 16, 8, 4, 2, 1: the same float result on every machine.
  template <class T>
  [[nodiscard]] SORA2_INLINE T sum(lanes<T, avx512_warp> const& x) const
  {
    using wrapping = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
    detail::v16<T> const halves = x.a + x.b;
    wrapping y[16];
    std::memcpy(y, &halves, sizeof y);
    for (int n = 8; n > 0; n /= 2)
      for (int i = 0; i < n; ++i) y[i] += y[i + n];
    return static_cast<T>(y[0]);
  }

  [[nodiscard]] SORA2_TARGET_AVX512 inline uints take_next(word_source& source,
                                                           mask const& need) const
  {
    std::size_t const low = static_cast<std::size_t>(__builtin_popcount(need.low));
    std::size_t const both = low + static_cast<std::size_t>(__builtin_popcount(need.high));
    std::size_t const left = static_cast<std::size_t>(source.end - source.next) / 2;
    __m512i a, b;
    if (left >= 32) {
      a = take16(source.next, every, need.low);
      b = take16(source.next + 2 * low, every, need.high);
      source.next += 2 * both;
    } else {
      // Near the end only words that exist are touched; the others come as zeros.
      std::size_t const start = low < left ? low : left;
      a = take16(source.next, first(static_cast<std::uint32_t>(left)).low, need.low);
      b = take16(source.next + 2 * start, first(static_cast<std::uint32_t>(left - start)).low,
                 need.high);
      source.next += 2 * (both < left ? both : left);
      source.overrun = source.overrun || both > left;
    }
    return {detail::from_words<std::uint32_t>(a), detail::from_words<std::uint32_t>(b)};
  }
  SORA2_TARGET_AVX512 inline void put_before(word_sink& sink, uints const& x,
                                             mask const& chosen) const
  {
    std::uint32_t const low = static_cast<std::uint32_t>(__builtin_popcount(chosen.low));
    std::uint32_t const high = static_cast<std::uint32_t>(__builtin_popcount(chosen.high));
    std::size_t const bytes = 2 * static_cast<std::size_t>(low + high);
    if (sink.overrun || static_cast<std::size_t>(sink.next - sink.begin) < bytes) {
      sink.overrun = true;
      return;
    }
    sink.next -= bytes;
    put16(sink.next, x.a, chosen.low, low);
    put16(sink.next + 2 * low, x.b, chosen.high, high);
  }

 private:
  static constexpr __mmask16 every = 0xFFFF;

  /// The lanes below n.
  SORA2_INLINE static mask first(std::uint32_t n)
  {
    std::uint32_t const bits = n >= 32 ? 0xFFFFFFFFu : (1u << n) - 1;
    return {static_cast<__mmask16>(bits & 0xFFFFu), static_cast<__mmask16>(bits >> 16)};
  }

  // Sixteen elements of memory type U, chosen ones only; the others touch no memory and load as zero.
  template <class T, class U>
    requires detail::loadable<T, U>
  SORA2_TARGET_AVX512 static inline detail::v16<T> load16(U const* p, __mmask16 m)
  {
    if constexpr (std::is_same_v<U, float16>)
      return detail::from_floats(
          _mm512_maskz_cvtph_ps(detail::all16(), _mm256_maskz_loadu_epi16(m, p)));
    else if constexpr (std::is_same_v<U, bfloat16>)
      return detail::from_words<float>(_mm512_maskz_slli_epi32(
          detail::all16(),
          _mm512_maskz_cvtepu16_epi32(detail::all16(), _mm256_maskz_loadu_epi16(m, p)), 16));
    else if constexpr (std::is_same_v<T, float> && !std::is_same_v<U, float>) {
      using integer =
          std::conditional_t<std::is_same_v<U, std::uint32_t>, std::uint32_t, std::int32_t>;
      return __builtin_convertvector(load16<integer>(p, m), detail::v16<float>);
    } else if constexpr (sizeof(U) == 4)
      return detail::from_words<T>(_mm512_maskz_loadu_epi32(m, p));
    else if constexpr (sizeof(U) == 2) {
      __m256i const raw = _mm256_maskz_loadu_epi16(m, p);
      return detail::from_words<T>(std::is_signed_v<U>
                                       ? _mm512_maskz_cvtepi16_epi32(detail::all16(), raw)
                                       : _mm512_maskz_cvtepu16_epi32(detail::all16(), raw));
    } else {
      __m128i const raw = _mm_maskz_loadu_epi8(m, p);
      return detail::from_words<T>(std::is_signed_v<U>
                                       ? _mm512_maskz_cvtepi8_epi32(detail::all16(), raw)
                                       : _mm512_maskz_cvtepu8_epi32(detail::all16(), raw));
    }
  }
  template <class U, class T>
    requires detail::storable<T, U>
  SORA2_TARGET_AVX512 static inline void store16(U* p, __mmask16 m, detail::v16<T> const& x)
  {
    if constexpr (std::is_same_v<U, float16>)
      _mm256_mask_storeu_epi16(
          p, m,
          _mm512_maskz_cvtps_ph(detail::all16(), detail::floats_of(x), _MM_FROUND_TO_NEAREST_INT));
    else if constexpr (std::is_same_v<U, bfloat16>) {
      detail::v16<std::uint32_t> const u = __builtin_bit_cast(detail::v16<std::uint32_t>, x);
      detail::v16<std::uint32_t> const rounded = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16,
                                       quiet = (u >> 16) | 0x40u;
      __mmask16 const nan =
          _mm512_cmp_ps_mask(detail::floats_of(x), detail::floats_of(x), _CMP_UNORD_Q);
      _mm256_mask_storeu_epi16(
          p, m,
          _mm512_maskz_cvtepi32_epi16(
              detail::all16(),
              _mm512_mask_blend_epi32(nan, detail::words_of<std::uint32_t>(rounded),
                                      detail::words_of<std::uint32_t>(quiet))));
    } else if constexpr (sizeof(U) == 4)
      _mm512_mask_storeu_epi32(p, m, detail::words_of<T>(x));
    else if constexpr (sizeof(U) == 2)
      _mm256_mask_storeu_epi16(
          p, m, _mm512_maskz_cvtepi32_epi16(detail::all16(), detail::words_of<T>(x)));
    else
      _mm_mask_storeu_epi8(p, m,
                           _mm512_maskz_cvtepi32_epi8(detail::all16(), detail::words_of<T>(x)));
  }

  /// Words at p, those in `exist` only, spread over the lanes in `need`; zero elsewhere.
  SORA2_TARGET_AVX512 static inline __m512i take16(std::byte const* p, __mmask16 exist,
                                                   __mmask16 need)
  {
    return _mm512_maskz_expand_epi32(
        need, _mm512_maskz_cvtepu16_epi32(detail::all16(), _mm256_maskz_loadu_epi16(exist, p)));
  }
  SORA2_TARGET_AVX512 static inline void put16(std::byte* p, detail::v16<std::uint32_t> const& x,
                                               __mmask16 chosen, std::uint32_t count)
  {
    __m512i const packed = _mm512_maskz_compress_epi32(chosen, detail::words_of<std::uint32_t>(x));
    _mm256_mask_storeu_epi16(p, first(count).low,
                             _mm512_maskz_cvtepi32_epi16(detail::all16(), packed));
  }
};

static_assert(host_context<avx512_warp>);

}  // namespace sora2

#endif
