/// Lanes as four 8-wide vectors: the shape shared by host_warp and avx2_warp. Host only.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <sora2/core/float16.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/detail/elements.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2 {
struct host_warp;
struct avx2_warp;
}  // namespace sora2

namespace sora2::detail {

/// Elements of a vector lie as an array's do: without optimisation g++ puts temporaries on stack slots that suit no more.
/// clang finds fitting slots, but reads what a reference names as if it were fully aligned; there the full alignment it is.
template <class T, unsigned N>
struct vector_of {
#if defined(__clang__)
  typedef T type __attribute__((vector_size(N * sizeof(T))));
#else
  typedef T type __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T))));
#endif
};
template <class T>
using v8 = typename vector_of<T, 8>::type;

/// Names the warps whose lanes are four v8 parts. A list, not a base class: it must also answer for types that are not
/// complete yet, which lanes of a warp under definition are.
template <class W>
inline constexpr bool has_vector_lanes = false;
template <>
inline constexpr bool has_vector_lanes<host_warp> = true;
template <>
inline constexpr bool has_vector_lanes<avx2_warp> = true;

template <class W>
concept vector_warp_type = has_vector_lanes<W>;

/// What is done with one part of eight, in portable code.
/// Parts travel by reference: vectors returned by value would depend on the caller's instruction set.
struct portable_steps {
  /// As many elements as a register holds here: conversions of more would be done one by one.
#if defined(__AVX2__)
  static constexpr int native = 8;
#else
  static constexpr int native = 4;
#endif
  template <class T>
  using vn = typename vector_of<T, native>::type;
  /// g++ does also comparisons and choices of more one by one.
#if defined(__clang__)
  static constexpr int compared = 8;
#else
  static constexpr int compared = native;
#endif

  template <class T>
  SORA2_INLINE static void fill(T x, v8<T>& out)
  {
    v8<T> const p = {x, x, x, x, x, x, x, x};
    out = p;
  }
  /// A compiler that may use fused instructions in this function must not make one of this product.
  SORA2_INLINE static void multiply(v8<float> const& x, v8<float> const& y, v8<float>& out)
  {
    out = x * y;
#if defined(__FMA__) && defined(__GNUC__) && !defined(__clang__)
    __asm__("" : "+x"(out));
#endif
  }
  SORA2_INLINE static void multiply_add(v8<float> const& x, v8<float> const& y, v8<float> const& z,
                                        v8<float>& out)
  {
    for (int i = 0; i < 8; ++i) out[i] = __builtin_fmaf(x[i], y[i], z[i]);
  }
  template <class T, class Compare>
  SORA2_INLINE static void compare(v8<T> const& x, v8<T> const& y, Compare comparison,
                                   v8<std::int32_t>& out)
  {
    for (int first = 0; first < 8; first += compared) {
      typename vector_of<T, compared>::type p, q;
      typename vector_of<std::int32_t, compared>::type m;
      part_of<T>(x, first, p);
      part_of<T>(y, first, q);
      comparison(p, q, m);
      std::memcpy(reinterpret_cast<std::int32_t*>(&out) + first, &m, sizeof m);
    }
  }
  template <class T>
  SORA2_INLINE static void choose(v8<std::int32_t> const& chosen, v8<T> const& x, v8<T> const& y,
                                  v8<T>& out)
  {
    for (int first = 0; first < 8; first += compared) {
      typename vector_of<T, compared>::type p, q;
      typename vector_of<std::int32_t, compared>::type m;
      part_of<T>(x, first, p);
      part_of<T>(y, first, q);
      part_of<std::int32_t>(chosen, first, m);
      keep_where(m, p, q);
      std::memcpy(reinterpret_cast<T*>(&out) + first, &p, sizeof p);
    }
  }
  /// A template of its own: nvcc's front end fails on a choice between vectors of which one's type is known yet.
  template <class Mask, class Part>
  SORA2_INLINE static void keep_where(Mask const& m, Part& x, Part const& y)
  {
    x = m ? x : y;
  }
  template <class T, class Part>
  SORA2_INLINE static void part_of(v8<T> const& x, int first, Part& out)
  {
    std::memcpy(&out, reinterpret_cast<T const*>(&x) + first, sizeof out);
  }
  /// Where a NaN takes part, x stays.
  template <class T>
  SORA2_INLINE static void lesser(v8<T> const& x, v8<T> const& y, v8<T>& out)
  {
    v8<std::int32_t> m;
    compare<T>(
        y, x, [](auto const& p, auto const& q, auto& r) { r = p < q; }, m);
    choose<T>(m, y, x, out);
  }
  template <class T>
  SORA2_INLINE static void greater(v8<T> const& x, v8<T> const& y, v8<T>& out)
  {
    v8<std::int32_t> m;
    compare<T>(
        x, y, [](auto const& p, auto const& q, auto& r) { r = p < q; }, m);
    choose<T>(m, y, x, out);
  }
  SORA2_INLINE static void round(v8<float> const& x, v8<std::int32_t>& out)
  {
#if defined(__SSE2__)
    // The conversion instruction rounds to nearest even and, unlike a magic addition, cannot be fused with a product.
    float const* const p = reinterpret_cast<float const*>(&x);
    __m128i const low = _mm_cvtps_epi32(_mm_loadu_ps(p)),
                  high = _mm_cvtps_epi32(_mm_loadu_ps(p + 4));
    std::memcpy(&out, &low, 16);
    std::memcpy(reinterpret_cast<char*>(&out) + 16, &high, 16);
#else
    for (int i = 0; i < 8; ++i) out[i] = static_cast<std::int32_t>(__builtin_lrintf(x[i]));
#endif
  }
  SORA2_INLINE static void multiply_high(v8<std::uint32_t> const& x, v8<std::uint32_t> const& y,
                                         v8<std::uint32_t>& out)
  {
    using wide = typename vector_of<std::uint64_t, 8>::type;
    wide const product = __builtin_convertvector(x, wide) * __builtin_convertvector(y, wide);
    out = __builtin_convertvector(product >> 32, v8<std::uint32_t>);
  }
  SORA2_INLINE static std::uint32_t ballot(v8<std::int32_t> const& m)
  {
#if defined(__SSE2__)
    float const* const p = reinterpret_cast<float const*>(&m);
    return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_loadu_ps(p)) |
                                      _mm_movemask_ps(_mm_loadu_ps(p + 4)) << 4);
#else
    std::uint32_t bits = 0;
    for (int i = 0; i < 8; ++i) bits |= static_cast<std::uint32_t>(m[i] & 1) << i;
    return bits;
#endif
  }

  /// Eight elements of memory type U as T.
  template <class T, class U>
    requires loadable<T, U>
  SORA2_INLINE static void load(U const* p, v8<T>& out)
  {
    for (int first = 0; first < 8; first += native) {
      vn<memory_bits<U>> raw;
      vn<T> x;
      std::memcpy(&raw, p + first, sizeof raw);
      if constexpr (std::is_same_v<U, float16>)
        half_to_float(__builtin_convertvector(raw, vn<std::uint32_t>), x);
      else if constexpr (std::is_same_v<U, bfloat16>)
        x = __builtin_bit_cast(vn<T>, __builtin_convertvector(raw, vn<std::uint32_t>) << 16);
      else
        x = __builtin_convertvector(raw, vn<T>);
      std::memcpy(reinterpret_cast<T*>(&out) + first, &x, sizeof x);
    }
  }
  template <class U, class T>
    requires storable<T, U>
  SORA2_INLINE static void store(U* p, v8<T> const& in)
  {
    for (int first = 0; first < 8; first += native) {
      vn<T> x;
      std::memcpy(&x, reinterpret_cast<T const*>(&in) + first, sizeof x);
      vn<memory_bits<U>> raw;
      if constexpr (is_half_storage<U>) {
        vn<std::uint32_t> bits;
        if constexpr (std::is_same_v<U, float16>)
          float_to_half(x, bits);
        else
          float_to_bfloat(x, bits);
        raw = __builtin_convertvector(bits, vn<std::uint16_t>);
      } else
        raw = __builtin_convertvector(x, vn<memory_bits<U>>);
      std::memcpy(p + first, &raw, sizeof raw);
    }
  }

  /// Value of 16-bit floats held in the low halves of `h`.
  SORA2_INLINE static void half_to_float(vn<std::uint32_t> const& h, vn<float>& out)
  {
    using words = vn<std::uint32_t>;
    words const sign = (h & 0x8000u) << 16, magnitude = (h & 0x7FFFu) << 13;
    // A subnormal is its integer times 2^-24: exact, and no operand depends on the flush-to-zero modes.
    vn<float> const tiny =
        __builtin_convertvector(__builtin_bit_cast(vn<std::int32_t>, h & 0x7FFFu), vn<float>) *
        5.9604644775390625e-8f;
    // All of it stays below 2^31, where signed comparisons do: those are one instruction.
    auto const whole = __builtin_bit_cast(vn<std::int32_t>, magnitude);
    words bits = whole < 0x00800000 ? __builtin_bit_cast(words, tiny) : magnitude + 0x38000000u;
    bits = whole >= 0x0F800000 ? (magnitude | 0x7F800000u) : bits;
    bits = whole > 0x0F800000 ? (bits | 0x00400000u) : bits;
    out = __builtin_bit_cast(vn<float>, bits | sign);
  }
  /// Rounds to nearest even; the results lie in the low halves. Same results as `to_float16`.
  SORA2_INLINE static void float_to_half(vn<float> const& x, vn<std::uint32_t>& out)
  {
    using words = vn<std::uint32_t>;
    words const u = __builtin_bit_cast(words, x);
    words const sign = (u >> 16) & 0x8000u, magnitude = u & 0x7FFFFFFFu;
    auto const whole = __builtin_bit_cast(vn<std::int32_t>, magnitude);
    words half = (magnitude + 0xFFFu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
    vn<float> const shifted = __builtin_bit_cast(vn<float>, magnitude) + 0.5f;
    words const tiny = __builtin_bit_cast(words, shifted) - 0x3F000000u;
    half = whole < 0x38800000 ? tiny : half;
    half = whole >= 0x477FF000 ? (half & 0u) | 0x7C00u : half;
    half = whole > 0x7F800000 ? (0x7E00u | ((magnitude >> 13) & 0x3FFu)) : half;
    out = sign | half;
  }
  template <class Words, class Floats>
  SORA2_INLINE static void float_to_bfloat(Floats const& x, Words& out)
  {
    Words const u = __builtin_bit_cast(Words, x);
    Words const rounded = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16;
    out = (u & 0x7FFFFFFFu) > 0x7F800000u ? ((u >> 16) | 0x40u) : rounded;
  }
};

/// The steps of warp W; specialised where its instruction set does better.
template <class W>
struct vector_steps : portable_steps {};

}  // namespace sora2::detail

namespace sora2 {

template <lane_type T, detail::vector_warp_type W>
struct lanes<T, W> {
  using part = detail::v8<T>;
  part a, b, c, d;

  lanes() = default;
  SORA2_INLINE lanes(T x)
  {
    detail::vector_steps<W>::fill(x, a);
    b = c = d = a;
  }
  SORA2_INLINE lanes(part const& w, part const& x, part const& y, part const& z)
      : a(w), b(x), c(y), d(z)
  {}

#define SORA2_LANES_BINARY(op)                                          \
  SORA2_INLINE friend lanes operator op(lanes const& x, lanes const& y) \
  {                                                                     \
    return {x.a op y.a, x.b op y.b, x.c op y.c, x.d op y.d};            \
  }
#define SORA2_LANES_COMPARE(op)                                                             \
  SORA2_INLINE friend lane_mask<W> operator op(lanes const& x, lanes const& y)              \
  {                                                                                         \
    using steps = detail::vector_steps<W>;                                                  \
    constexpr auto compare = [](auto const& p, auto const& q, auto& out) { out = p op q; }; \
    lane_mask<W> m;                                                                         \
    steps::template compare<T>(x.a, y.a, compare, m.a);                                     \
    steps::template compare<T>(x.b, y.b, compare, m.b);                                     \
    steps::template compare<T>(x.c, y.c, compare, m.c);                                     \
    steps::template compare<T>(x.d, y.d, compare, m.d);                                     \
    return m;                                                                               \
  }
#define SORA2_LANES_BITWISE(op)                                         \
  SORA2_INLINE friend lanes operator op(lanes const& x, lanes const& y) \
    requires(!std::same_as<T, float>)                                   \
  {                                                                     \
    return {x.a op y.a, x.b op y.b, x.c op y.c, x.d op y.d};            \
  }
  SORA2_LANES_BINARY(+)
  SORA2_LANES_BINARY(-)
  SORA2_LANES_BITWISE(&)
  SORA2_LANES_BITWISE(|)
  SORA2_LANES_BITWISE(^)
  SORA2_LANES_COMPARE(<)
  SORA2_LANES_COMPARE(<=)
  SORA2_LANES_COMPARE(>)
  SORA2_LANES_COMPARE(>=)
  SORA2_LANES_COMPARE(==)
  SORA2_LANES_COMPARE(!=)
#undef SORA2_LANES_BINARY
#undef SORA2_LANES_COMPARE
#undef SORA2_LANES_BITWISE

  /// Never fused with an addition around it, whatever the compiler's contraction setting.
  SORA2_INLINE friend lanes operator*(lanes const& x, lanes const& y)
  {
    if constexpr (std::is_same_v<T, float>) {
      using steps = detail::vector_steps<W>;
      lanes out;
      steps::multiply(x.a, y.a, out.a);
      steps::multiply(x.b, y.b, out.b);
      steps::multiply(x.c, y.c, out.c);
      steps::multiply(x.d, y.d, out.d);
      return out;
    } else
      return {x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d};
  }
  /// Correctly rounded.
  SORA2_INLINE friend lanes operator/(lanes const& x, lanes const& y)
    requires std::same_as<T, float>
  {
    return {x.a / y.a, x.b / y.b, x.c / y.c, x.d / y.d};
  }
  SORA2_INLINE friend lanes operator-(lanes const& x) { return {-x.a, -x.b, -x.c, -x.d}; }
  SORA2_INLINE friend lanes operator~(lanes const& x)
    requires(!std::same_as<T, float>)
  {
    return {~x.a, ~x.b, ~x.c, ~x.d};
  }
  /// Shifts by a uniform count or per lane, 0..31; arithmetic for signed lanes.
  SORA2_INLINE friend lanes operator<<(lanes const& x, int n)
    requires(!std::same_as<T, float>)
  {
    return {x.a << n, x.b << n, x.c << n, x.d << n};
  }
  SORA2_INLINE friend lanes operator>>(lanes const& x, int n)
    requires(!std::same_as<T, float>)
  {
    return {x.a >> n, x.b >> n, x.c >> n, x.d >> n};
  }
  SORA2_INLINE friend lanes operator<<(lanes const& x, lanes<std::uint32_t, W> const& n)
    requires(!std::same_as<T, float>)
  {
    return {x.a << __builtin_bit_cast(part, n.a), x.b << __builtin_bit_cast(part, n.b),
            x.c << __builtin_bit_cast(part, n.c), x.d << __builtin_bit_cast(part, n.d)};
  }
  SORA2_INLINE friend lanes operator>>(lanes const& x, lanes<std::uint32_t, W> const& n)
    requires(!std::same_as<T, float>)
  {
    return {x.a >> __builtin_bit_cast(part, n.a), x.b >> __builtin_bit_cast(part, n.b),
            x.c >> __builtin_bit_cast(part, n.c), x.d >> __builtin_bit_cast(part, n.d)};
  }
};

template <detail::vector_warp_type W>
struct lane_mask<W> {
  using part = detail::v8<std::int32_t>;
  part a, b, c, d;  ///< -1 where true, 0 where not

  lane_mask() = default;
  SORA2_INLINE lane_mask(part const& w, part const& x, part const& y, part const& z)
      : a(w), b(x), c(y), d(z)
  {}
  operator bool() const = delete;

  SORA2_INLINE friend lane_mask operator&(lane_mask const& x, lane_mask const& y)
  {
    return {x.a & y.a, x.b & y.b, x.c & y.c, x.d & y.d};
  }
  SORA2_INLINE friend lane_mask operator|(lane_mask const& x, lane_mask const& y)
  {
    return {x.a | y.a, x.b | y.b, x.c | y.c, x.d | y.d};
  }
  SORA2_INLINE friend lane_mask operator^(lane_mask const& x, lane_mask const& y)
  {
    return {x.a ^ y.a, x.b ^ y.b, x.c ^ y.c, x.d ^ y.d};
  }
  SORA2_INLINE friend lane_mask operator~(lane_mask const& x) { return {~x.a, ~x.b, ~x.c, ~x.d}; }
};

template <class T, detail::vector_warp_type W>
SORA2_INLINE lanes<T, W> select(lane_mask<W> const& m, lanes<T, W> const& x, lanes<T, W> const& y)
{
  using steps = detail::vector_steps<W>;
  lanes<T, W> out;
  steps::template choose<T>(m.a, x.a, y.a, out.a);
  steps::template choose<T>(m.b, x.b, y.b, out.b);
  steps::template choose<T>(m.c, x.c, y.c, out.c);
  steps::template choose<T>(m.d, x.d, y.d, out.d);
  return out;
}

template <class T, detail::vector_warp_type W>
SORA2_INLINE lanes<T, W> least(lanes<T, W> const& x, std::type_identity_t<lanes<T, W>> const& y)
{
  using steps = detail::vector_steps<W>;
  lanes<T, W> out;
  steps::template lesser<T>(x.a, y.a, out.a);
  steps::template lesser<T>(x.b, y.b, out.b);
  steps::template lesser<T>(x.c, y.c, out.c);
  steps::template lesser<T>(x.d, y.d, out.d);
  return out;
}
template <class T, detail::vector_warp_type W>
SORA2_INLINE lanes<T, W> greatest(lanes<T, W> const& x, std::type_identity_t<lanes<T, W>> const& y)
{
  using steps = detail::vector_steps<W>;
  lanes<T, W> out;
  steps::template greater<T>(x.a, y.a, out.a);
  steps::template greater<T>(x.b, y.b, out.b);
  steps::template greater<T>(x.c, y.c, out.c);
  steps::template greater<T>(x.d, y.d, out.d);
  return out;
}

namespace detail {

/// The same bits as another type, part by part: a cast of the whole would pass through memory.
template <class To, class From, vector_warp_type W>
SORA2_INLINE lanes<To, W> recast(lanes<From, W> const& x)
{
  return {__builtin_bit_cast(v8<To>, x.a), __builtin_bit_cast(v8<To>, x.b),
          __builtin_bit_cast(v8<To>, x.c), __builtin_bit_cast(v8<To>, x.d)};
}

}  // namespace detail

template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::uint32_t, W> bits_of(lanes<float, W> const& x)
{
  return detail::recast<std::uint32_t>(x);
}
template <detail::vector_warp_type W>
SORA2_INLINE lanes<float, W> float_of(lanes<std::uint32_t, W> const& x)
{
  return detail::recast<float>(x);
}
template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::int32_t, W> to_int(lanes<std::uint32_t, W> const& x)
{
  return detail::recast<std::int32_t>(x);
}
template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::int32_t, W> to_int(lanes<std::int32_t, W> const& x)
{
  return x;
}
template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::uint32_t, W> to_uint(lanes<std::int32_t, W> const& x)
{
  return detail::recast<std::uint32_t>(x);
}
template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::uint32_t, W> to_uint(lanes<std::uint32_t, W> const& x)
{
  return x;
}

/// Value of an integer as float, rounded to nearest.
template <class T, detail::vector_warp_type W>
  requires(!std::same_as<T, float>)
SORA2_INLINE lanes<float, W> to_lanes_float(lanes<T, W> const& x)
{
  using to = detail::v8<float>;
  return {__builtin_convertvector(x.a, to), __builtin_convertvector(x.b, to),
          __builtin_convertvector(x.c, to), __builtin_convertvector(x.d, to)};
}

/// To nearest, ties to even.
template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::int32_t, W> round_to_int(lanes<float, W> const& x)
{
  lanes<std::int32_t, W> out;
  detail::vector_steps<W>::round(x.a, out.a);
  detail::vector_steps<W>::round(x.b, out.b);
  detail::vector_steps<W>::round(x.c, out.c);
  detail::vector_steps<W>::round(x.d, out.d);
  return out;
}
template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::uint32_t, W> mul_hi(lanes<std::uint32_t, W> const& x,
                                            std::type_identity_t<lanes<std::uint32_t, W>> const& y)
{
  lanes<std::uint32_t, W> out;
  detail::vector_steps<W>::multiply_high(x.a, y.a, out.a);
  detail::vector_steps<W>::multiply_high(x.b, y.b, out.b);
  detail::vector_steps<W>::multiply_high(x.c, y.c, out.c);
  detail::vector_steps<W>::multiply_high(x.d, y.d, out.d);
  return out;
}
/// x * y + z with one rounding.
template <detail::vector_warp_type W>
SORA2_INLINE lanes<float, W> fma(lanes<float, W> const& x,
                                 std::type_identity_t<lanes<float, W>> const& y,
                                 std::type_identity_t<lanes<float, W>> const& z)
{
  using steps = detail::vector_steps<W>;
  lanes<float, W> out;
  steps::multiply_add(x.a, y.a, z.a, out.a);
  steps::multiply_add(x.b, y.b, z.b, out.b);
  steps::multiply_add(x.c, y.c, z.c, out.c);
  steps::multiply_add(x.d, y.d, z.d, out.d);
  return out;
}

}  // namespace sora2
