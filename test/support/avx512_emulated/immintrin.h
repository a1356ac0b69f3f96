// Takes the place of the compiler's header so that avx512_warp.hpp runs on a CPU with AVX2: plain loops with the meaning
// the instruction set manual gives. Compile with this folder first in the include path, with SORA2_WHOLE_IMMINTRIN
// defined and for AVX2 throughout, since half registers are passed by value.
// An intrinsic that is missing here fails to compile or to run; none is replaced in silence.
#pragma once
#pragma GCC system_header

#include_next <immintrin.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#define SORA2_TARGET_AVX512
#define SORA2_FLATTEN_AVX512

namespace avx512_emulated {

template <class To, class From>
inline To same_bits(From const& x)
{
  static_assert(sizeof(To) == sizeof(From));
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}

/// A register of N elements, readable by index.
template <class T, int N>
struct row {
  T at[N] = {};
  row() = default;
  template <class Register>
  explicit row(Register const& r)
  {
    static_assert(sizeof(Register) == sizeof at);
    std::memcpy(at, &r, sizeof at);
  }
  template <class Register>
  Register as() const
  {
    return same_bits<Register>(at);
  }
};

/// The masked forms below are used with all lanes only.
inline void whole(unsigned mask, unsigned all)
{
  if (mask != all) __builtin_trap();
}

inline bool chosen(unsigned mask, int i) { return (mask >> i & 1u) != 0; }

// ---- memory: an element whose mask bit is clear is neither read nor written

/// The low 16 bits of chosen elements, each to its own place.
[[gnu::noinline]] inline void mask_store_words(void* to, unsigned mask, __m512i const& x)
{
  row<std::uint32_t, 16> const in(x);
  for (int i = 0; i < 16; ++i) {
    auto const word = static_cast<std::uint16_t>(in.at[i]);
    if (chosen(mask, i)) std::memcpy(static_cast<char*>(to) + 2 * i, &word, 2);
  }
}
[[gnu::noinline]] inline __m512i mask_gather(__m512i const& otherwise, unsigned mask,
                                             __m512i const& index, void const* from, int scale)
{
  row<std::uint32_t, 16> out(otherwise);
  row<std::int32_t, 16> const at(index);
  for (int i = 0; i < 16; ++i)
    if (chosen(mask, i))
      std::memcpy(&out.at[i], static_cast<char const*>(from) + std::int64_t{at.at[i]} * scale, 4);
  return out.as<__m512i>();
}

// ---- comparisons, by the code in the immediate

template <class T>
bool integer_predicate(T x, T y, int code)
{
  switch (code) {
    case 0: return x == y;
    case 1: return x < y;
    case 2: return x <= y;
    case 4: return x != y;
    case 5: return x >= y;
    case 6: return x > y;
    default: __builtin_trap();
  }
}
inline bool float_predicate(float x, float y, int code)
{
  bool const unordered = std::isnan(x) || std::isnan(y);
  switch (code) {
    case _CMP_EQ_OQ: return !unordered && x == y;
    case _CMP_NEQ_UQ: return unordered || x != y;
    case _CMP_LT_OQ: return !unordered && x < y;
    case _CMP_LE_OQ: return !unordered && x <= y;
    case _CMP_GT_OQ: return !unordered && x > y;
    case _CMP_GE_OQ: return !unordered && x >= y;
    case _CMP_UNORD_Q: return unordered;
    default: __builtin_trap();
  }
}
template <class T, class Register>
[[gnu::noinline]] __mmask16 compare(Register const& a, Register const& b, int code)
{
  row<T, 16> const x(a), y(b);
  unsigned mask = 0;
  for (int i = 0; i < 16; ++i) {
    bool holds;
    if constexpr (std::is_same_v<T, float>)
      holds = float_predicate(x.at[i], y.at[i], code);
    else
      holds = integer_predicate(x.at[i], y.at[i], code);
    mask |= unsigned{holds} << i;
  }
  return static_cast<__mmask16>(mask);
}

// ---- lane by lane

template <class To, class T, int N, class U, int M, class Register, class Function>
[[gnu::noinline]] To each(Register const& x, Function f)
{
  row<T, N> const in(x);
  row<U, M> out;
  for (int i = 0; i < (N < M ? N : M); ++i) out.at[i] = f(in.at[i]);
  return out.template as<To>();
}
template <class To, class From>
__m512i widen(auto const& x)
{
  return each<__m512i, From, 16, To, 16>(x, [](From v) { return To{v}; });
}

inline __m512i mask_blend(unsigned mask, __m512i const& clear, __m512i const& set)
{
  row<std::uint32_t, 16> out(clear);
  row<std::uint32_t, 16> const other(set);
  for (int i = 0; i < 16; ++i)
    if (chosen(mask, i)) out.at[i] = other.at[i];
  return out.as<__m512i>();
}
/// The low halves of the 64-bit elements, multiplied.
inline __m512i mul_epu32(__m512i const& a, __m512i const& b)
{
  row<std::uint64_t, 8> x(a);
  row<std::uint64_t, 8> const y(b);
  for (int i = 0; i < 8; ++i) x.at[i] = (x.at[i] & 0xFFFFFFFFu) * (y.at[i] & 0xFFFFFFFFu);
  return x.as<__m512i>();
}
inline __m512i srli_epi64(__m512i const& a, unsigned n)
{
  row<std::uint64_t, 8> x(a);
  for (auto& v : x.at) v = n > 63 ? 0 : v >> n;
  return x.as<__m512i>();
}
inline __m512i slli_epi32(__m512i const& a, unsigned n)
{
  row<std::uint32_t, 16> x(a);
  for (auto& v : x.at) v = n > 31 ? 0 : v << n;
  return x.as<__m512i>();
}
inline __m512 mul_ps(__m512 const& a, __m512 const& b, int)
{
  row<float, 16> x(a);
  row<float, 16> const y(b);
  for (int i = 0; i < 16; ++i) {
    float const volatile product = x.at[i] * y.at[i];
    x.at[i] = product;
  }
  return x.as<__m512>();
}
inline __m512 fmadd_ps(__m512 const& a, __m512 const& b, __m512 const& c)
{
  row<float, 16> x(a);
  row<float, 16> const y(b), z(c);
  for (int i = 0; i < 16; ++i) x.at[i] = std::fma(x.at[i], y.at[i], z.at[i]);
  return x.as<__m512>();
}
inline __m512i cvtps_epi32(__m512 const& a)
{
  return each<__m512i, float, 16, std::int32_t, 16>(a, [](float x) {
    return std::fabs(x) < 2147483648.0f ? static_cast<std::int32_t>(std::nearbyint(x)) : INT32_MIN;
  });
}

// ---- across lanes

inline __m512i permutexvar(__m512i const& index, __m512i const& a)
{
  row<std::uint32_t, 16> const at(index), x(a);
  row<std::uint32_t, 16> out;
  for (int i = 0; i < 16; ++i) out.at[i] = x.at[at.at[i] & 15u];
  return out.as<__m512i>();
}
inline __m512i permutex2var(__m512i const& a, __m512i const& index, __m512i const& b)
{
  row<std::uint32_t, 16> const at(index), x(a), y(b);
  row<std::uint32_t, 16> out;
  for (int i = 0; i < 16; ++i)
    out.at[i] = (at.at[i] & 16u) ? y.at[at.at[i] & 15u] : x.at[at.at[i] & 15u];
  return out.as<__m512i>();
}
inline __m512i maskz_expand(unsigned mask, __m512i const& a)
{
  row<std::uint32_t, 16> const x(a);
  row<std::uint32_t, 16> out;
  for (int i = 0, next = 0; i < 16; ++i)
    if (chosen(mask, i)) out.at[i] = x.at[next++];
  return out.as<__m512i>();
}
inline __m512i maskz_compress(unsigned mask, __m512i const& a)
{
  row<std::uint32_t, 16> const x(a);
  row<std::uint32_t, 16> out;
  for (int i = 0, next = 0; i < 16; ++i)
    if (chosen(mask, i)) out.at[next++] = x.at[i];
  return out.as<__m512i>();
}

// ---- binary16, by value

inline float half_value(std::uint16_t h)
{
  int const exponent = h >> 10 & 31, fraction = h & 1023;
  std::uint32_t const sign = (h & 0x8000u) << 16;
  if (exponent == 31)
    return same_bits<float>(sign | 0x7F800000u | (fraction != 0 ? 0x400000u : 0u) |
                            static_cast<unsigned>(fraction) << 13);
  double const v =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return std::copysign(static_cast<float>(v), same_bits<float>(sign));
}
inline std::uint16_t half_bits(float x)
{
  std::uint32_t const u = same_bits<std::uint32_t>(x), sign = u >> 16 & 0x8000u;
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | 0x7E00u | (u >> 13 & 0x3FFu));
  double const v = std::fabs(double{x});
  if (v >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00u);
  int const exponent = v < std::ldexp(1.0, -14) ? -14 : std::ilogb(v);
  auto const units =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(v, 10 - exponent)));  // ties to even
  // 1024 units are the hidden bit; 2048, after rounding up, carry into the exponent by themselves.
  return static_cast<std::uint16_t>(sign |
                                    (units + (static_cast<std::uint32_t>(exponent + 14) << 10)));
}

}  // namespace avx512_emulated

// The CPU seems to have what is emulated, so that tests which ask take it in.
#define __builtin_cpu_supports(set) \
  (__builtin_strncmp(set, "avx512", 6) == 0 || __builtin_cpu_supports(set))

// GCC has some of these as macros, some as functions.
#undef _mm512_maskz_mul_round_ps
#undef _mm512_cmp_epi32_mask
#undef _mm512_cmp_epu32_mask
#undef _mm512_cmp_ps_mask
#undef _mm512_maskz_srli_epi64
#undef _mm512_maskz_slli_epi32
#undef _mm512_mask_i32gather_epi32
#undef _mm512_maskz_cvtps_ph

#define _mm512_mask_i32gather_epi32(rest, m, at, p, scale) \
  avx512_emulated::mask_gather(rest, m, at, p, scale)

#define _mm512_mask_cvtepi32_storeu_epi16(p, m, x) avx512_emulated::mask_store_words(p, m, x)

#define _mm512_cmp_epi32_mask(x, y, code) avx512_emulated::compare<std::int32_t>(x, y, code)
#define _mm512_cmp_epu32_mask(x, y, code) avx512_emulated::compare<std::uint32_t>(x, y, code)
#define _mm512_cmp_ps_mask(x, y, code) avx512_emulated::compare<float>(x, y, code)
#define _mm512_mask_blend_epi32(m, clear, set) avx512_emulated::mask_blend(m, clear, set)

#define _mm512_maskz_mul_epu32(m, x, y) \
  (avx512_emulated::whole(m, 0xFFu), avx512_emulated::mul_epu32(x, y))
#define _mm512_maskz_srli_epi64(m, x, n) \
  (avx512_emulated::whole(m, 0xFFu), avx512_emulated::srli_epi64(x, n))
#define _mm512_maskz_slli_epi32(m, x, n) \
  (avx512_emulated::whole(m, 0xFFFFu), avx512_emulated::slli_epi32(x, n))
#define _mm512_maskz_mul_round_ps(m, x, y, mode) \
  (avx512_emulated::whole(m, 0xFFFFu), avx512_emulated::mul_ps(x, y, mode))
#define _mm512_fmadd_ps(x, y, z) avx512_emulated::fmadd_ps(x, y, z)
#define _mm512_maskz_cvtps_epi32(m, x) \
  (avx512_emulated::whole(m, 0xFFFFu), avx512_emulated::cvtps_epi32(x))

#define _mm512_maskz_permutexvar_epi32(m, at, x) \
  (avx512_emulated::whole(m, 0xFFFFu), avx512_emulated::permutexvar(at, x))
#define _mm512_permutex2var_epi32(x, at, y) avx512_emulated::permutex2var(x, at, y)
#define _mm512_maskz_expand_epi32(m, x) avx512_emulated::maskz_expand(m, x)
#define _mm512_maskz_compress_epi32(m, x) avx512_emulated::maskz_compress(m, x)

#define _mm512_maskz_cvtepu16_epi32(m, x) \
  (avx512_emulated::whole(m, 0xFFFFu), avx512_emulated::widen<std::uint32_t, std::uint16_t>(x))
#define _mm512_maskz_cvtepi16_epi32(m, x) \
  (avx512_emulated::whole(m, 0xFFFFu), avx512_emulated::widen<std::int32_t, std::int16_t>(x))
#define _mm512_maskz_cvtepu8_epi32(m, x) \
  (avx512_emulated::whole(m, 0xFFFFu), avx512_emulated::widen<std::uint32_t, std::uint8_t>(x))
#define _mm512_maskz_cvtepi8_epi32(m, x) \
  (avx512_emulated::whole(m, 0xFFFFu), avx512_emulated::widen<std::int32_t, std::int8_t>(x))
#define _mm512_maskz_cvtepi32_epi16(m, x)                                \
  (avx512_emulated::whole(m, 0xFFFFu),                                   \
   avx512_emulated::each<__m256i, std::uint32_t, 16, std::uint16_t, 16>( \
       x, [](unsigned v) { return static_cast<std::uint16_t>(v); }))
#define _mm512_maskz_cvtepi32_epi8(m, x)                                \
  (avx512_emulated::whole(m, 0xFFFFu),                                  \
   avx512_emulated::each<__m128i, std::uint32_t, 16, std::uint8_t, 16>( \
       x, [](unsigned v) { return static_cast<std::uint8_t>(v); }))
#define _mm512_maskz_cvtph_ps(m, x)    \
  (avx512_emulated::whole(m, 0xFFFFu), \
   avx512_emulated::each<__m512, std::uint16_t, 16, float, 16>(x, avx512_emulated::half_value))
#define _mm512_maskz_cvtps_ph(m, x, mode) \
  (avx512_emulated::whole(m, 0xFFFFu),    \
   avx512_emulated::each<__m256i, float, 16, std::uint16_t, 16>(x, avx512_emulated::half_bits))
#define _mm512_setzero_si512() (avx512_emulated::row<std::uint32_t, 16>().as<__m512i>())
