/// Lanes as four 8-wide vectors: the shape shared by host_warp and avx2_warp. Host only.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <sora2/core/float16.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2 {
struct host_warp;
struct avx2_warp;
}  // namespace sora2

// A product behind this barrier is not fused with an addition; other compilers do not fuse across functions.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define SORA2_UNFUSED(product) __builtin_assoc_barrier(product)
#else
#define SORA2_UNFUSED(product) (product)
#endif

namespace sora2::detail {

// 4-byte alignment: temporaries may lie on any stack slot, and loads from user memory need no copy.
template <class T>
struct vector8 {
  typedef T type __attribute__((vector_size(8 * sizeof(T)), aligned(alignof(T))));
};
template <class T>
using v8 = typename vector8<T>::type;

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

}  // namespace sora2::detail

namespace sora2 {

template <lane_type T, detail::vector_warp_type W>
struct lanes<T, W> {
  using part = detail::v8<T>;
  part a, b, c, d;

  lanes() = default;
  SORA2_INLINE lanes(T x)
  {
    part const p = {x, x, x, x, x, x, x, x};
    a = b = c = d = p;
  }
  SORA2_INLINE lanes(part const& w, part const& x, part const& y, part const& z)
      : a(w), b(x), c(y), d(z)
  {}

#define SORA2_LANES_BINARY(op)                                          \
  SORA2_INLINE friend lanes operator op(lanes const& x, lanes const& y) \
  {                                                                     \
    return {x.a op y.a, x.b op y.b, x.c op y.c, x.d op y.d};            \
  }
#define SORA2_LANES_COMPARE(op)                                                \
  SORA2_INLINE friend lane_mask<W> operator op(lanes const& x, lanes const& y) \
  {                                                                            \
    return {x.a op y.a, x.b op y.b, x.c op y.c, x.d op y.d};                   \
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
    return {SORA2_UNFUSED(x.a * y.a), SORA2_UNFUSED(x.b * y.b), SORA2_UNFUSED(x.c * y.c),
            SORA2_UNFUSED(x.d * y.d)};
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
    return {x.a << reinterpret_cast<part>(n.a), x.b << reinterpret_cast<part>(n.b),
            x.c << reinterpret_cast<part>(n.c), x.d << reinterpret_cast<part>(n.d)};
  }
  SORA2_INLINE friend lanes operator>>(lanes const& x, lanes<std::uint32_t, W> const& n)
    requires(!std::same_as<T, float>)
  {
    return {x.a >> reinterpret_cast<part>(n.a), x.b >> reinterpret_cast<part>(n.b),
            x.c >> reinterpret_cast<part>(n.c), x.d >> reinterpret_cast<part>(n.d)};
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
  return {m.a ? x.a : y.a, m.b ? x.b : y.b, m.c ? x.c : y.c, m.d ? x.d : y.d};
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
namespace detail {

// Parts travel by reference: vectors returned by value would depend on the caller's instruction set.
SORA2_INLINE void round_part(v8<float> const& x, v8<std::int32_t>& out)
{
#if defined(__SSE2__)
  // The conversion instruction rounds to nearest even and, unlike a magic addition, cannot be fused with a product.
  float const* const p = reinterpret_cast<float const*>(&x);
  __m128i const low = _mm_cvtps_epi32(_mm_loadu_ps(p)), high = _mm_cvtps_epi32(_mm_loadu_ps(p + 4));
  std::memcpy(&out, &low, 16);
  std::memcpy(reinterpret_cast<char*>(&out) + 16, &high, 16);
#else
  for (int i = 0; i < 8; ++i) out[i] = static_cast<std::int32_t>(__builtin_lrintf(x[i]));
#endif
}

SORA2_INLINE void mul_hi_part(v8<std::uint32_t> const& x, v8<std::uint32_t> const& y,
                              v8<std::uint32_t>& out)
{
  typedef std::uint64_t wide __attribute__((vector_size(64), aligned(8)));
  wide const product = __builtin_convertvector(x, wide) * __builtin_convertvector(y, wide);
  out = __builtin_convertvector(product >> 32, v8<std::uint32_t>);
}

}  // namespace detail

template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::int32_t, W> round_to_int(lanes<float, W> const& x)
{
  lanes<std::int32_t, W> out;
  detail::round_part(x.a, out.a);
  detail::round_part(x.b, out.b);
  detail::round_part(x.c, out.c);
  detail::round_part(x.d, out.d);
  return out;
}
template <detail::vector_warp_type W>
SORA2_INLINE lanes<std::uint32_t, W> mul_hi(lanes<std::uint32_t, W> const& x,
                                            std::type_identity_t<lanes<std::uint32_t, W>> const& y)
{
  lanes<std::uint32_t, W> out;
  detail::mul_hi_part(x.a, y.a, out.a);
  detail::mul_hi_part(x.b, y.b, out.b);
  detail::mul_hi_part(x.c, y.c, out.c);
  detail::mul_hi_part(x.d, y.d, out.d);
  return out;
}
/// x * y + z with one rounding.
template <detail::vector_warp_type W>
SORA2_INLINE lanes<float, W> fma(lanes<float, W> const& x,
                                 std::type_identity_t<lanes<float, W>> const& y,
                                 std::type_identity_t<lanes<float, W>> const& z)
{
  lanes<float, W> out;
  for (int i = 0; i < 8; ++i) {
    out.a[i] = __builtin_fmaf(x.a[i], y.a[i], z.a[i]);
    out.b[i] = __builtin_fmaf(x.b[i], y.b[i], z.b[i]);
    out.c[i] = __builtin_fmaf(x.c[i], y.c[i], z.c[i]);
    out.d[i] = __builtin_fmaf(x.d[i], y.d[i], z.d[i]);
  }
  return out;
}

}  // namespace sora2

#undef SORA2_UNFUSED
