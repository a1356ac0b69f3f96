/// CRC-32C (Castagnoli, as in iSCSI): by tables, by the CPU's instruction, or by the 32 lanes of a warp; one value.
/// Smallest use: `crc32c(bytes)`; inside a codec or kernel `crc32c(w, bytes)`; in parts `crc32c(second, crc32c(first))`.
/// Limits: detects damage, not malice. The warp form is collective and reads what earlier writes made visible (`sync`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2 {

namespace detail {

// Polynomials over GF(2) modulo the Castagnoli polynomial, reflected: bit 31 is the coefficient of 1, bit 0 of x^31.
inline constexpr std::uint32_t crc_polynomial = 0x82F63B78u;
inline constexpr std::uint32_t crc_one = 0x80000000u;

[[nodiscard]] SORA2_HD constexpr std::uint32_t crc_times_x(std::uint32_t a)
{
  return (a >> 1) ^ ((0u - (a & 1u)) & crc_polynomial);
}
[[nodiscard]] SORA2_HD constexpr std::uint32_t crc_product(std::uint32_t a, std::uint32_t b)
{
  std::uint32_t r = 0;
  for (int i = 31; i >= 0; --i) {
    r ^= (0u - ((a >> i) & 1u)) & b;
    b = crc_times_x(b);
  }
  return r;
}
/// x^n; the powers of x repeat after 2^31 - 1, which also gives negative ones.
[[nodiscard]] SORA2_HD constexpr std::uint32_t crc_power(std::int64_t n)
{
  constexpr std::int64_t period = 0x7FFFFFFF;
  std::uint32_t left = static_cast<std::uint32_t>((n % period + period) % period);
  std::uint32_t r = crc_one, square = crc_one >> 1;
  for (; left != 0; left >>= 1) {
    if (left & 1u) r = crc_product(r, square);
    square = crc_product(square, square);
  }
  return r;
}
static_assert(crc_product(crc_power(-32), crc_power(32)) == crc_one);

/// One byte at a time, without tables: ends and short pieces.
[[nodiscard]] SORA2_HD constexpr std::uint32_t crc_step(std::uint32_t state, std::uint8_t byte)
{
  state ^= byte;
  for (int i = 0; i < 8; ++i) state = crc_times_x(state);
  return state;
}

/// row[k][b]: byte b, moved past k more bytes.
struct crc_table {
  std::uint32_t row[8][256];
};
constexpr crc_table make_crc_table()
{
  crc_table t{};
  for (std::uint32_t b = 0; b < 256; ++b) t.row[0][b] = crc_step(0, static_cast<std::uint8_t>(b));
  for (int k = 1; k < 8; ++k)
    for (std::uint32_t b = 0; b < 256; ++b) {
      std::uint32_t const before = t.row[k - 1][b];
      t.row[k][b] = (before >> 8) ^ t.row[0][before & 0xFFu];
    }
  return t;
}
inline constexpr crc_table crc_rows = make_crc_table();

constexpr std::uint32_t crc_word(std::byte const* p)
{
  if (!std::is_constant_evaluated()) return load_le<std::uint32_t>(p);
  return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
         static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24;
}
constexpr std::uint32_t crc_portable(std::uint32_t state, std::byte const* p, std::size_t n)
{
  auto const& row = crc_rows.row;
  std::size_t i = 0;
  for (; n - i >= 8; i += 8) {
    std::uint32_t const low = state ^ crc_word(p + i), high = crc_word(p + i + 4);
    state = row[7][low & 0xFFu] ^ row[6][low >> 8 & 0xFFu] ^ row[5][low >> 16 & 0xFFu] ^
            row[4][low >> 24] ^ row[3][high & 0xFFu] ^ row[2][high >> 8 & 0xFFu] ^
            row[1][high >> 16 & 0xFFu] ^ row[0][high >> 24];
  }
  for (; i < n; ++i)
    state = (state >> 8) ^ row[0][(state ^ static_cast<std::uint32_t>(p[i])) & 0xFFu];
  return state;
}

#if defined(__x86_64__)
#define SORA2_TARGET_CRC __attribute__((target("sse4.2,pclmul")))

/// The state moved past the bytes for which `by` was made, with `by` = x^(8 * bytes - 33).
SORA2_TARGET_CRC inline std::uint64_t crc_shift(std::uint64_t state, std::uint32_t by)
{
  typedef long long pair __attribute__((vector_size(16)));
  pair const x = {static_cast<long long>(state), 0}, y = {static_cast<long long>(by), 0};
  pair const product = __builtin_ia32_pclmulqdq128(x, y, 0);
  return __builtin_ia32_crc32di(0, static_cast<unsigned long long>(product[0]));
}

/// Three runs of `Bytes` bytes side by side hide the three cycles each step takes.
template <std::size_t Bytes>
SORA2_TARGET_CRC inline std::uint64_t crc_triples(std::uint64_t state, std::byte const*& p,
                                                  std::size_t& n)
{
  constexpr std::uint32_t past_one = crc_power(static_cast<std::int64_t>(8 * Bytes) - 33);
  constexpr std::uint32_t past_two = crc_power(static_cast<std::int64_t>(16 * Bytes) - 33);
  for (; n >= 3 * Bytes; p += 3 * Bytes, n -= 3 * Bytes) {
    std::uint64_t a = state, b = 0, c = 0;
    for (std::size_t i = 0; i < Bytes; i += 8) {
      a = __builtin_ia32_crc32di(a, load_le<unsigned long long>(p + i));
      b = __builtin_ia32_crc32di(b, load_le<unsigned long long>(p + Bytes + i));
      c = __builtin_ia32_crc32di(c, load_le<unsigned long long>(p + 2 * Bytes + i));
    }
    state = crc_shift(a, past_two) ^ crc_shift(b, past_one) ^ c;
  }
  return state;
}

SORA2_TARGET_CRC inline std::uint32_t crc_hardware(std::uint32_t start, std::byte const* p,
                                                   std::size_t n)
{
  std::uint64_t state = start;
  state = crc_triples<1024>(state, p, n);
  state = crc_triples<128>(state, p, n);
  for (; n >= 8; p += 8, n -= 8)
    state = __builtin_ia32_crc32di(state, load_le<unsigned long long>(p));
  std::uint32_t rest = static_cast<std::uint32_t>(state);
  for (; n > 0; ++p, --n) rest = __builtin_ia32_crc32qi(rest, static_cast<std::uint8_t>(*p));
  return rest;
}

inline bool crc_has_hardware()
{
  static bool const yes = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  }();
  return yes;
}
#undef SORA2_TARGET_CRC
#endif

/// What 32 lanes multiply with: shifts past a row of 32 words, and past the words that follow in the row.
struct crc_lane_factors {
  std::uint32_t row[32];    ///< 2^bit times x^1024
  std::uint32_t place[32];  ///< x^(32 * (32 - lane))
};
[[nodiscard]] SORA2_HD constexpr crc_lane_factors make_crc_lane_factors()
{
  crc_lane_factors f{};
  for (int i = 0; i < 32; ++i) {
    f.row[i] = crc_product(1u << i, crc_power(32 * 32));
    f.place[i] = crc_power(32 * (32 - i));
  }
  return f;
}

/// Lane i of row r takes word 32 * r + i. A lane multiplies its state by x^1024 from row to row by looking up seven
/// groups of five bits in tables that lie across the lanes, so a kernel needs neither memory nor scratch for it.
/// Zeros in front change nothing: the first row is filled up with them, and the seed goes in as one more word.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE std::uint32_t crc_lanes(Warp const& w, view<std::byte const> bytes,
                                              std::uint32_t start)
{
  using uints = lanes<std::uint32_t, Warp>;
  constexpr crc_lane_factors factors = make_crc_lane_factors();
  constexpr std::uint32_t back = crc_power(-32);
  uints const lane = w.lane();

  uints table[7], place = 0u;
  SORA2_UNROLL
  for (int group = 0; group < 7; ++group) {
    table[group] = 0u;
    SORA2_UNROLL
    for (int bit = 0; bit < 5; ++bit)
      if (5 * group + bit < 32)
        table[group] = table[group] ^ ((0u - ((lane >> bit) & 1u)) & factors.row[5 * group + bit]);
  }
  SORA2_UNROLL
  for (std::uint32_t i = 0; i < 32; ++i) place = select(lane == i, factors.place[i], place);

  // A kernel reads whole words where it may. The first `absent` lanes get zero; the next one has the word at p.
  bool const words_align = !Warp::is_host && reinterpret_cast<std::uintptr_t>(bytes.data) % 4 == 0;
  auto const row_at = [&](std::byte const* p, std::uint32_t absent) {
    auto const there = lane >= absent;
    if (words_align)
      return w.template gather<std::uint32_t>(reinterpret_cast<std::uint32_t const*>(p),
                                              lane - absent, there, 0u);
    uints x = 0u;
    for (std::uint32_t i = 0; i < 4; ++i)
      x = x | (w.template gather<std::uint32_t>(p, ((lane - absent) << 2) + i, there, 0u)
               << static_cast<int>(8 * i));
    return x;
  };

  std::uint32_t const words = static_cast<std::uint32_t>(bytes.size / 4);
  std::uint32_t const absent =
      32 - words % 32;  // 1 to 32 lanes of the first row; the last of them takes the seed
  uints state = select(lane == absent - 1, crc_product(start, back), row_at(bytes.data, absent));
  std::byte const* p = bytes.data + 4 * std::size_t{words % 32};
  for (std::uint32_t left = words / 32; left > 0; --left, p += 128) {
    uints moved = w.shuffle(table[0], state & 31u);
    SORA2_UNROLL
    for (int group = 1; group < 7; ++group)
      moved = moved ^ w.shuffle(table[group], (state >> (5 * group)) & 31u);
    state = moved ^ row_at(p, 0u);
  }

  uints r = 0u;
  SORA2_UNROLL
  for (int i = 31; i >= 0; --i) {
    r = r ^ ((0u - ((state >> i) & 1u)) & place);
    place = (place >> 1) ^ ((0u - (place & 1u)) & crc_polynomial);
  }
  for (int bits = 16; bits > 0; bits >>= 1) r = r ^ w.shuffle_xor(r, bits);
  std::uint32_t result = w.broadcast(r, 0);
  for (std::size_t i = 4 * std::size_t{words}; i < bytes.size; ++i)
    result = crc_step(result, static_cast<std::uint8_t>(w.load_one(bytes.data + i)));
  return result;
}

}  // namespace detail

/// Any context; usable in constant expressions. `seed` is the value of the bytes before these.
[[nodiscard]] constexpr std::uint32_t crc32c(view<std::byte const> bytes, std::uint32_t seed = 0)
{
#if defined(__x86_64__)
  if (!std::is_constant_evaluated() && detail::crc_has_hardware())
    return ~detail::crc_hardware(~seed, bytes.data, bytes.size);
#endif
  return ~detail::crc_portable(~seed, bytes.data, bytes.size);
}

/// The same from all lanes of a warp; the result is uniform. A host warp leaves it to the CPU's instruction.
SORA2_TWO_SIDED
template <warp_context Warp>
[[nodiscard]] SORA2_HD SORA2_INLINE std::uint32_t crc32c(Warp const& w, view<std::byte const> bytes,
                                                         std::uint32_t seed = 0)
{
  if constexpr (unchecked_host_context<Warp>)
    return crc32c(bytes, seed);
  else
    return ~detail::crc_lanes(w, bytes, ~seed);
}

}  // namespace sora2
