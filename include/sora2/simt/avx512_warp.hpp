/// A warp of 32 lanes as two AVX-512 registers; masks are two mask registers.
/// Smallest use: through `with_best_warp`; by hand only inside a function that carries SORA2_FLATTEN_AVX512.
/// Limits: x86-64 with AVX-512 F, BW, DQ and VL at run time. Elsewhere the operations compile but must not run.
#pragma once

#include <sora2/simt/detail/vector_warp.hpp>

#if defined(__x86_64__)

#include <sora2/simt/detail/intrinsics.hpp>

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

template <class T>
using v16 = typename vector_of<T, 16>::type;

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

namespace detail {

// Without optimisation the intrinsic is a macro of g++ that converts the mask in a way it warns about itself.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
template <class T>
SORA2_TARGET_AVX512 inline v16<T> gather16(__mmask16 m, v16<std::uint32_t> const& at, void const* p,
                                           v16<T> const& otherwise)
{
  return from_words<T>(
      _mm512_mask_i32gather_epi32(words_of<T>(otherwise), m, words_of<std::uint32_t>(at), p, 4));
}
#pragma GCC diagnostic pop

template <class T>
SORA2_TARGET_AVX512 inline v16<T> blend16(__mmask16 m, v16<T> const& x, v16<T> const& y)
{
  return from_words<T>(_mm512_mask_blend_epi32(m, words_of<T>(y), words_of<T>(x)));
}

}  // namespace detail

template <class T>
SORA2_TARGET_AVX512 inline lanes<T, avx512_warp> select(lane_mask<avx512_warp> const& m,
                                                        lanes<T, avx512_warp> const& x,
                                                        lanes<T, avx512_warp> const& y)
{
  return {detail::blend16<T>(m.low, x.a, y.a), detail::blend16<T>(m.high, x.b, y.b)};
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
  static constexpr int chains = 2;

  [[nodiscard]] SORA2_INLINE uints lane() const
  {
    using part = detail::v16<std::uint32_t>;
    return {part{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
            part{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}};
  }

  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp> load(U const* p) const
  {
    return {load16<T>(p), load16<T>(p + 16)};
  }
  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp>
  load_n(U const* p, std::uint32_t n, std::type_identity_t<T> fill) const
  {
    lanes<T, avx512_warp> x(fill);
    load_first<T>(p, n, x.a);
    if (n > 16) load_first<T>(p + 16, n - 16, x.b);
    return x;
  }
  template <class U, class T>
  SORA2_TARGET_AVX512 inline void store(U* p, lanes<T, avx512_warp> const& x) const
  {
    store16<U, T>(p, x.a);
    store16<U, T>(p + 16, x.b);
  }
  template <class U, class T>
  SORA2_TARGET_AVX512 inline void store_n(U* p, std::uint32_t n,
                                          lanes<T, avx512_warp> const& x) const
  {
    store_first<U, T>(p, n, x.a);
    if (n > 16) store_first<U, T>(p + 16, n - 16, x.b);
  }

  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp> gather(U const* p,
                                                                        uints const& at) const
  {
    if constexpr (sizeof(U) == 4 && std::is_same_v<T, float> == std::is_same_v<U, float>) {
      __mmask16 all = detail::all16();
#if !defined(__clang__) && !defined(SORA2_WHOLE_IMMINTRIN)
      // A gather also waits for its old destination. g++ clears that only where it cannot see that all lanes are written.
      __asm__("" : "+Yk"(all));
#endif
      return {detail::gather16<T>(all, at.a, p, detail::v16<T>{}),
              detail::gather16<T>(all, at.b, p, detail::v16<T>{})};
    } else
      return base::template gather<T>(p, at);
  }
  /// Lanes outside the mask get `fill` and touch no memory.
  template <lane_type T, class U>
  [[nodiscard]] SORA2_TARGET_AVX512 inline lanes<T, avx512_warp>
  gather(U const* p, uints const& at, mask const& chosen, std::type_identity_t<T> fill) const
  {
    if constexpr (sizeof(U) == 4 && std::is_same_v<T, float> == std::is_same_v<U, float>) {
      detail::v16<T> const rest = lanes<T, avx512_warp>(fill).a;
      return {detail::gather16<T>(chosen.low, at.a, p, rest),
              detail::gather16<T>(chosen.high, at.b, p, rest)};
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
    uints x;
    if (left >= 32) {
      x = {take16(source.next, need.low), take16(source.next + 2 * low, need.high)};
      source.next += 2 * both;
    } else {
      // Near the end only words that exist are touched; zeros follow them.
      std::byte room[64] = {};
      if (left > 0) std::memcpy(room, source.next, 2 * left);
      x = {take16(room, need.low), take16(room + 2 * low, need.high)};
      source.next += 2 * (both < left ? both : left);
      source.overrun = source.overrun || both > left;
    }
    return x;
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
  /// The lanes below n.
  SORA2_INLINE static mask first(std::uint32_t n)
  {
    std::uint32_t const bits = n >= 32 ? 0xFFFFFFFFu : (1u << n) - 1;
    return {static_cast<__mmask16>(bits & 0xFFFFu), static_cast<__mmask16>(bits >> 16)};
  }

  // Sixteen elements of memory type U.
  template <class T, class U>
    requires detail::loadable<T, U>
  SORA2_TARGET_AVX512 static inline detail::v16<T> load16(U const* p)
  {
    if constexpr (sizeof(U) == 4) {
      detail::v16<U> raw;
      std::memcpy(&raw, p, sizeof raw);
      return __builtin_convertvector(raw, detail::v16<T>);
    } else {
      __m512i wide;
      if constexpr (sizeof(U) == 1) {
        __m128i const raw = _mm_loadu_si128(reinterpret_cast<__m128i_u const*>(p));
        wide = std::is_signed_v<U> ? _mm512_maskz_cvtepi8_epi32(detail::all16(), raw)
                                   : _mm512_maskz_cvtepu8_epi32(detail::all16(), raw);
      } else {
        __m256i const raw = _mm256_loadu_si256(reinterpret_cast<__m256i_u const*>(p));
        if constexpr (std::is_same_v<U, float16>)
          return detail::from_floats(_mm512_maskz_cvtph_ps(detail::all16(), raw));
        wide = std::is_signed_v<U> ? _mm512_maskz_cvtepi16_epi32(detail::all16(), raw)
                                   : _mm512_maskz_cvtepu16_epi32(detail::all16(), raw);
      }
      if constexpr (std::is_same_v<U, bfloat16>)
        return detail::from_words<T>(_mm512_maskz_slli_epi32(detail::all16(), wide, 16));
      else if constexpr (std::is_same_v<T, float>)
        return __builtin_convertvector(detail::from_words<std::int32_t>(wide), detail::v16<float>);
      else
        return detail::from_words<T>(wide);
    }
  }
  template <class U, class T>
    requires detail::storable<T, U>
  SORA2_TARGET_AVX512 static inline void store16(U* p, detail::v16<T> const& x)
  {
    if constexpr (std::is_same_v<U, float16>)
      store_words(p, _mm512_maskz_cvtps_ph(detail::all16(), detail::floats_of(x),
                                           _MM_FROUND_TO_NEAREST_INT));
    else if constexpr (std::is_same_v<U, bfloat16>) {
      detail::v16<std::uint32_t> const u = __builtin_bit_cast(detail::v16<std::uint32_t>, x);
      detail::v16<std::uint32_t> const rounded = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16,
                                       quiet = (u >> 16) | 0x40u;
      __mmask16 const nan =
          _mm512_cmp_ps_mask(detail::floats_of(x), detail::floats_of(x), _CMP_UNORD_Q);
      __m512i const bits = _mm512_mask_blend_epi32(nan, detail::words_of<std::uint32_t>(rounded),
                                                   detail::words_of<std::uint32_t>(quiet));
      store_words(p, _mm512_maskz_cvtepi32_epi16(detail::all16(), bits));
    } else if constexpr (sizeof(U) == 4)
      std::memcpy(p, &x, sizeof x);
    else if constexpr (sizeof(U) == 2)
      store_words(p, _mm512_maskz_cvtepi32_epi16(detail::all16(), detail::words_of<T>(x)));
    else
      _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p),
                       _mm512_maskz_cvtepi32_epi8(detail::all16(), detail::words_of<T>(x)));
  }
  SORA2_TARGET_AVX512 static inline void store_words(void* p, __m256i const& x)
  {
    _mm256_storeu_si256(static_cast<__m256i_u*>(p), x);
  }

  /// The first n of sixteen elements; others keep their value.
  template <class T, class U>
  SORA2_TARGET_AVX512 static inline void load_first(U const* p, std::uint32_t n,
                                                    detail::v16<T>& out)
  {
    if (n >= 16)
      out = load16<T>(p);
    else if (n > 0) {
      U room[16] = {};
      std::memcpy(room, p, n * sizeof(U));
      out = detail::blend16<T>(first(n).low, load16<T>(room), out);
    }
  }
  template <class U, class T>
  SORA2_TARGET_AVX512 static inline void store_first(U* p, std::uint32_t n, detail::v16<T> const& x)
  {
    if (n >= 16) return store16<U, T>(p, x);
    U room[16];
    store16<U, T>(room, x);
    if (n > 0) std::memcpy(p, room, n * sizeof(U));
  }

  /// Words at p spread over the lanes in need; zero elsewhere. Reads sixteen.
  SORA2_TARGET_AVX512 static inline detail::v16<std::uint32_t> take16(std::byte const* p,
                                                                      __mmask16 need)
  {
    __m256i const raw = _mm256_loadu_si256(reinterpret_cast<__m256i_u const*>(p));
    return detail::from_words<std::uint32_t>(
        _mm512_maskz_expand_epi32(need, _mm512_maskz_cvtepu16_epi32(detail::all16(), raw)));
  }
  SORA2_TARGET_AVX512 static inline void put16(std::byte* p, detail::v16<std::uint32_t> const& x,
                                               __mmask16 chosen, std::uint32_t count)
  {
    __m512i const packed = _mm512_maskz_compress_epi32(chosen, detail::words_of<std::uint32_t>(x));
    _mm512_mask_cvtepi32_storeu_epi16(p, first(count).low, packed);
  }
};

static_assert(host_context<avx512_warp>);

}  // namespace sora2

#endif
