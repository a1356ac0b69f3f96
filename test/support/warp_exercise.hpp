// Every operation of a warp, written twice: once with lanes, once as plain loops over 32 numbers. Both give the same rows.
// Smallest use: `exercise(w, scratch, in, out)` on any warp, in a kernel too; `support::expected_rows(in)` on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <sora2/core/float16.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/lanes.hpp>

namespace support {

using sora2::lanes;

/// What the operations are tried on. `from` are lane numbers, `count` shift counts, `at` distinct places below 64.
struct exercise_input {
  std::uint32_t a[32], b[32], from[32], count[32], at[32];
  std::uint32_t clash[32];  ///< places below 8, so that lanes clash
  std::int32_t s[32], t[32];
  float x[32], y[32], z[32], halves[32];  ///< `halves`: below 2^31, many halfway between integers
  std::uint8_t u8[64];
  std::int8_t s8[64];
  std::uint16_t u16[64];
  std::int16_t s16[64];
  sora2::float16 half[64];
  sora2::bfloat16 brain[64];
  std::byte bytes[64];
};
inline constexpr std::size_t exercise_rows =
    176;  ///< room; how many there are says `expected_rows`

template <class Warp>
struct exercise_scratch {
  typename Warp::template shared<std::uint32_t> words[64];
  typename Warp::template shared<std::uint8_t> octets[64];
  typename Warp::template shared<float> reals[64];
};

/// One row of 32 words per put.
template <class Warp>
struct row_writer {
  Warp const& w;
  std::uint32_t* next;

  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void put(lanes<std::uint32_t, Warp> const& x)
  {
    w.store(next, x);
    next += 32;
  }
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void put(lanes<std::int32_t, Warp> const& x) { put(to_uint(x)); }
  /// Which NaN an operation gives is the machine's business.
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void put(lanes<float, Warp> const& x)
  {
    put(select(x == x, bits_of(x), 0x7FC00000u));
  }
  /// Bits as they are.
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void put_exact(lanes<float, Warp> const& x) { put(bits_of(x)); }
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void put(sora2::lane_mask<Warp> const& m)
  {
    put(select(m, lanes<std::uint32_t, Warp>(1u), 0u));
  }
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE void put_same(std::uint32_t x) { put(lanes<std::uint32_t, Warp>(x)); }
};

SORA2_TWO_SIDED
template <sora2::warp_context Warp>
SORA2_HD SORA2_INLINE void exercise_integers(Warp const& w, exercise_input const& in,
                                             row_writer<Warp>& out)
{
  using uints = lanes<std::uint32_t, Warp>;
  uints const a = w.template load<std::uint32_t>(in.a), b = w.template load<std::uint32_t>(in.b);
  uints const n = w.template load<std::uint32_t>(in.count);
  auto const s = w.template load<std::int32_t>(in.s), t = w.template load<std::int32_t>(in.t);
  out.put(w.lane());
  out.put(a + b), out.put(a - b), out.put(a * b), out.put(-a), out.put(~a);
  out.put(a & b), out.put(a | b), out.put(a ^ b);
  out.put(a << 5), out.put(a >> 5), out.put(a << n), out.put(a >> n);
  out.put(a < b), out.put(a <= b), out.put(a > b), out.put(a >= b), out.put(a == b),
      out.put(a != b);
  out.put(mul_hi(a, b)), out.put(least(a, b)), out.put(greatest(a, b)), out.put(to_lanes_float(a));
  out.put(s + t), out.put(s - t), out.put(s * t), out.put(-s), out.put(~s);
  out.put(s << 5), out.put(s >> 5), out.put(s << n), out.put(s >> n);
  out.put(s < t), out.put(s <= t), out.put(s > t), out.put(s >= t), out.put(s == t),
      out.put(s != t);
  out.put(least(s, t)), out.put(greatest(s, t)), out.put(abs(s)), out.put(to_lanes_float(s));
  out.put(select(a < b, a, b)), out.put(select(a < b, 7u, b)), out.put(select(s < t, s, -7));
  out.put(to_int(a)), out.put(to_uint(s)), out.put(a + 3u), out.put(s < 5);
  auto const m = a < b, o = s < t;
  out.put(m & o), out.put(m | o), out.put(m ^ o), out.put(~m);
}

SORA2_TWO_SIDED
template <sora2::warp_context Warp>
SORA2_HD SORA2_INLINE void exercise_floats(Warp const& w, exercise_input const& in,
                                           row_writer<Warp>& out)
{
  auto const x = w.template load<float>(in.x), y = w.template load<float>(in.y),
             z = w.template load<float>(in.z);
  out.put(x + y), out.put(x - y), out.put(x * y), out.put(x / y);
  out.put(x * y + z), out.put(z - x * y), out.put(fma(x, y, z));
  out.put_exact(-x), out.put_exact(abs(x));
  out.put(x < y), out.put(x <= y), out.put(x > y), out.put(x >= y), out.put(x == y),
      out.put(x != y);
  out.put_exact(least(x, y)), out.put_exact(greatest(x, y)), out.put_exact(select(x < z, y, 2.5f));
  out.put(bits_of(x)), out.put_exact(float_of(w.template load<std::uint32_t>(in.a)));
  out.put(round_to_int(w.template load<float>(in.halves)));
  out.put(x * 3.0f);
}

SORA2_TWO_SIDED
template <sora2::warp_context Warp>
SORA2_HD SORA2_INLINE void exercise_collectives(Warp const& w, exercise_input const& in,
                                                row_writer<Warp>& out)
{
  auto const a = w.template load<std::uint32_t>(in.a), b = w.template load<std::uint32_t>(in.b);
  auto const from = w.template load<std::uint32_t>(in.from);
  auto const s = w.template load<std::int32_t>(in.s);
  auto const x = w.template load<float>(in.x), halves = w.template load<float>(in.halves);
  out.put(w.shuffle(a, from)), out.put(w.shuffle(s, from)), out.put_exact(w.shuffle(x, from));
  for (int bits = 0; bits < 32; bits += 3) out.put(w.shuffle_xor(a, bits));
  for (int bits = 1; bits < 32; bits *= 2) out.put_exact(w.shuffle_xor(x, bits));
  for (int bits = 1; bits < 32; bits *= 2) out.put(w.butterfly(halves, bits));
  out.put_same(w.broadcast(a, 0)), out.put_same(w.broadcast(a, 17)),
      out.put_same(w.broadcast(a, 31));
  out.put_same(w.ballot(a < b)), out.put_same(w.any(a < b)), out.put_same(w.all(a < b));
  out.put_same(w.any(a < a)), out.put_same(w.all(a == a)), out.put_same(w.any(w.lane() == 31u));
  out.put_same(w.sum(a)), out.put_same(static_cast<std::uint32_t>(w.sum(s)));
  out.put(lanes<float, Warp>(w.sum(halves)));
  out.put_same(w.greatest_of(a)), out.put_same(w.least_of(a));
  out.put_same(static_cast<std::uint32_t>(w.greatest_of(s))),
      out.put_same(static_cast<std::uint32_t>(w.least_of(s)));
  out.put_exact(lanes<float, Warp>(w.greatest_of(x))),
      out.put_exact(lanes<float, Warp>(w.least_of(x)));
  out.put(w.prefix_sum(a)), out.put(w.prefix_sum(s));
  out.put(w.previous_equal(w.template load<std::uint32_t>(in.clash)));
}

SORA2_TWO_SIDED
template <sora2::warp_context Warp>
SORA2_HD SORA2_INLINE void exercise_memory(Warp const& w, exercise_scratch<Warp>& s,
                                           exercise_input const& in, row_writer<Warp>& out)
{
  using uints = lanes<std::uint32_t, Warp>;
  uints const a = w.template load<std::uint32_t>(in.a), at = w.template load<std::uint32_t>(in.at);
  uints const clash = w.template load<std::uint32_t>(in.clash);
  auto const m = a < w.template load<std::uint32_t>(in.b);
  auto const x = w.template load<float>(in.x), halves = w.template load<float>(in.halves);
  out.put(w.template load<std::uint32_t>(in.u8)), out.put(w.template load<std::int32_t>(in.s8));
  out.put(w.template load<std::uint32_t>(in.u16)), out.put(w.template load<std::int32_t>(in.s16));
  out.put(w.template load<std::uint32_t>(in.s8)), out.put(w.template load<std::int32_t>(in.u16));
  out.put(w.template load<float>(in.u8)), out.put(w.template load<float>(in.s16));
  out.put(w.template load<float>(in.a)), out.put(w.template load<float>(in.s));
  out.put(w.template load<std::uint32_t>(in.bytes));
  out.put_exact(w.template load<float>(in.half)), out.put_exact(w.template load<float>(in.brain));
  for (std::uint32_t n = 0; n <= 33; n += 11) {
    out.put(w.template load_n<std::uint32_t>(in.u8, n, 99u));
    out.put_exact(w.template load_n<float>(in.half, n, -1.5f));
  }
  out.put(w.template gather<std::uint32_t>(in.u16, at)),
      out.put(w.template gather<std::uint32_t>(in.bytes, at, m, 5u));
  out.put(w.template gather<std::uint32_t>(in.a, at & 31u)),
      out.put(w.template gather<std::int32_t>(in.s, at & 31u, m, -3));
  out.put_exact(w.template gather<float>(in.half, at, m, 0.5f)),
      out.put_exact(w.template gather<float>(in.x, at & 31u));
  out.put_exact(w.template gather<float>(in.brain, at));
  lanes<std::uint32_t, Warp> first, second;
  w.gather_pair(in.a, at & 15u, first, second);
  out.put(first), out.put(second);

  // Scratch: fill, sync, change, sync, read.
  auto const show = [&] {
    w.sync();
    out.put(w.template load<std::uint32_t>(s.words)),
        out.put(w.template load<std::uint32_t>(s.words + 32));
    w.sync();
  };
  w.store(s.words, uints(0u)), w.store(s.words + 32, uints(1u));
  w.sync();
  w.scatter_distinct(s.words, at, a, m);
  show();
  w.scatter(s.words, clash, a, m);
  show();
  w.store_n(s.words + 8, 9, a);
  show();
  w.store_one(s.words + 5, 123456u);
  show();
  out.put_same(w.load_one(s.words + 5));
  w.sync();
  w.store(s.octets, a), w.store_n(s.octets + 32, 32, a);
  w.sync();
  w.scatter_distinct(s.octets, at, ~a, m);
  w.sync();
  out.put(w.template load<std::uint32_t>(s.octets)),
      out.put(w.template load<std::uint32_t>(s.octets + 32));
  w.store(s.reals, x), w.store(s.reals + 32, halves);
  w.sync();
  out.put_exact(w.template gather<float>(s.reals, at));
  w.sync();
}

SORA2_TWO_SIDED
template <sora2::warp_context Warp>
SORA2_HD SORA2_INLINE void exercise(Warp const& w, exercise_scratch<Warp>& s,
                                    exercise_input const& in, std::uint32_t* rows)
{
  row_writer<Warp> out{w, rows};
  exercise_integers(w, in, out);
  exercise_floats(w, in, out);
  exercise_collectives(w, in, out);
  exercise_memory(w, s, in, out);
  w.sync();
}

// ---- the same, slowly

struct named_row {
  std::string name;
  std::array<std::uint32_t, 32> value;
};

class row_list {
 public:
  std::vector<named_row> rows;

  template <class Function>
  void each(char const* name, Function f)
  {
    std::array<std::uint32_t, 32> value;
    for (std::uint32_t i = 0; i < 32; ++i) value[i] = word(f(i));
    add(name, value);
  }
  template <class Function>
  void each_exact(char const* name, Function f)
  {
    std::array<std::uint32_t, 32> value;
    for (std::uint32_t i = 0; i < 32; ++i) value[i] = exact(f(i));
    add(name, value);
  }
  template <class T>
  void same(char const* name, T x)
  {
    std::array<std::uint32_t, 32> value;
    value.fill(word(x));
    add(name, value);
  }
  static std::uint32_t exact(float x)
  {
    std::uint32_t u;
    std::memcpy(&u, &x, 4);
    return u;
  }

 private:
  [[gnu::noinline]] void add(char const* name, std::array<std::uint32_t, 32> const& value)
  {
    rows.push_back({name, value});
  }
  static std::uint32_t word(std::uint32_t x) { return x; }
  static std::uint32_t word(std::int32_t x) { return static_cast<std::uint32_t>(x); }
  static std::uint32_t word(bool x) { return x; }
  static std::uint32_t word(float x) { return std::isnan(x) ? 0x7FC00000u : exact(x); }
};

[[gnu::noinline]] inline float rounded_product(float x, float y) { return x * y; }

inline void expect_integers(exercise_input const& in, row_list& r)
{
  auto const unsigned_of = [](std::int32_t v) { return static_cast<std::uint32_t>(v); };
  auto const a = [&](auto i) { return in.a[i]; };
  auto const b = [&](auto i) { return in.b[i]; };
  auto const n = [&](auto i) { return in.count[i]; };
  auto const s = [&](auto i) { return in.s[i]; };
  auto const t = [&](auto i) { return in.t[i]; };
  r.each("lane", [](auto i) { return i; });
  r.each("u +", [&](auto i) { return a(i) + b(i); });
  r.each("u -", [&](auto i) { return a(i) - b(i); });
  r.each("u *", [&](auto i) { return a(i) * b(i); });
  r.each("u negative", [&](auto i) { return 0u - a(i); });
  r.each("u ~", [&](auto i) { return ~a(i); });
  r.each("u &", [&](auto i) { return a(i) & b(i); });
  r.each("u |", [&](auto i) { return a(i) | b(i); });
  r.each("u ^", [&](auto i) { return a(i) ^ b(i); });
  r.each("u << 5", [&](auto i) { return a(i) << 5; });
  r.each("u >> 5", [&](auto i) { return a(i) >> 5; });
  r.each("u << n", [&](auto i) { return a(i) << n(i); });
  r.each("u >> n", [&](auto i) { return a(i) >> n(i); });
  r.each("u <", [&](auto i) { return a(i) < b(i); });
  r.each("u <=", [&](auto i) { return a(i) <= b(i); });
  r.each("u >", [&](auto i) { return a(i) > b(i); });
  r.each("u >=", [&](auto i) { return a(i) >= b(i); });
  r.each("u ==", [&](auto i) { return a(i) == b(i); });
  r.each("u !=", [&](auto i) { return a(i) != b(i); });
  r.each("mul_hi",
         [&](auto i) { return static_cast<std::uint32_t>(std::uint64_t{a(i)} * b(i) >> 32); });
  r.each("u least", [&](auto i) { return a(i) < b(i) ? a(i) : b(i); });
  r.each("u greatest", [&](auto i) { return a(i) < b(i) ? b(i) : a(i); });
  r.each("u to float", [&](auto i) { return static_cast<float>(a(i)); });
  r.each("s +", [&](auto i) { return unsigned_of(s(i)) + unsigned_of(t(i)); });
  r.each("s -", [&](auto i) { return unsigned_of(s(i)) - unsigned_of(t(i)); });
  r.each("s *", [&](auto i) { return unsigned_of(s(i)) * unsigned_of(t(i)); });
  r.each("s negative", [&](auto i) { return 0u - unsigned_of(s(i)); });
  r.each("s ~", [&](auto i) { return ~s(i); });
  r.each("s << 5", [&](auto i) { return unsigned_of(s(i)) << 5; });
  r.each("s >> 5", [&](auto i) { return s(i) >> 5; });
  r.each("s << n", [&](auto i) { return unsigned_of(s(i)) << n(i); });
  r.each("s >> n", [&](auto i) { return s(i) >> n(i); });
  r.each("s <", [&](auto i) { return s(i) < t(i); });
  r.each("s <=", [&](auto i) { return s(i) <= t(i); });
  r.each("s >", [&](auto i) { return s(i) > t(i); });
  r.each("s >=", [&](auto i) { return s(i) >= t(i); });
  r.each("s ==", [&](auto i) { return s(i) == t(i); });
  r.each("s !=", [&](auto i) { return s(i) != t(i); });
  r.each("s least", [&](auto i) { return s(i) < t(i) ? s(i) : t(i); });
  r.each("s greatest", [&](auto i) { return s(i) < t(i) ? t(i) : s(i); });
  r.each("s abs", [&](auto i) { return s(i) < 0 ? 0u - unsigned_of(s(i)) : unsigned_of(s(i)); });
  r.each("s to float", [&](auto i) { return static_cast<float>(s(i)); });
  r.each("select", [&](auto i) { return a(i) < b(i) ? a(i) : b(i); });
  r.each("select scalar first", [&](auto i) { return a(i) < b(i) ? 7u : b(i); });
  r.each("select scalar second", [&](auto i) { return s(i) < t(i) ? s(i) : -7; });
  r.each("to_int", [&](auto i) { return static_cast<std::int32_t>(a(i)); });
  r.each("to_uint", [&](auto i) { return unsigned_of(s(i)); });
  r.each("u + scalar", [&](auto i) { return a(i) + 3u; });
  r.each("s < scalar", [&](auto i) { return s(i) < 5; });
  r.each("mask &", [&](auto i) { return a(i) < b(i) && s(i) < t(i); });
  r.each("mask |", [&](auto i) { return a(i) < b(i) || s(i) < t(i); });
  r.each("mask ^", [&](auto i) { return (a(i) < b(i)) != (s(i) < t(i)); });
  r.each("mask ~", [&](auto i) { return !(a(i) < b(i)); });
}

inline void expect_floats(exercise_input const& in, row_list& r)
{
  auto const x = [&](auto i) { return in.x[i]; };
  auto const y = [&](auto i) { return in.y[i]; };
  auto const z = [&](auto i) { return in.z[i]; };
  r.each("f +", [&](auto i) { return x(i) + y(i); });
  r.each("f -", [&](auto i) { return x(i) - y(i); });
  r.each("f *", [&](auto i) { return x(i) * y(i); });
  r.each("f /", [&](auto i) { return x(i) / y(i); });
  r.each("f * +", [&](auto i) { return rounded_product(x(i), y(i)) + z(i); });
  r.each("f - *", [&](auto i) { return z(i) - rounded_product(x(i), y(i)); });
  r.each("fma", [&](auto i) { return std::fma(x(i), y(i), z(i)); });
  r.each_exact("f negative",
               [&](auto i) { return std::copysign(x(i), std::signbit(x(i)) ? 1.0f : -1.0f); });
  r.each_exact("f abs", [&](auto i) { return std::fabs(x(i)); });
  r.each("f <", [&](auto i) { return x(i) < y(i); });
  r.each("f <=", [&](auto i) { return x(i) <= y(i); });
  r.each("f >", [&](auto i) { return x(i) > y(i); });
  r.each("f >=", [&](auto i) { return x(i) >= y(i); });
  r.each("f ==", [&](auto i) { return x(i) == y(i); });
  r.each("f !=", [&](auto i) { return x(i) != y(i); });
  r.each_exact("f least", [&](auto i) { return y(i) < x(i) ? y(i) : x(i); });
  r.each_exact("f greatest", [&](auto i) { return x(i) < y(i) ? y(i) : x(i); });
  r.each_exact("f select", [&](auto i) { return x(i) < z(i) ? y(i) : 2.5f; });
  r.each("bits_of", [&](auto i) { return row_list::exact(x(i)); });
  r.each("float_of", [&](auto i) { return in.a[i]; });
  r.each("round_to_int", [&](auto i) {
    double const v = in.halves[i], low = std::floor(v), rest = v - low;
    bool const up = rest > 0.5 || (rest == 0.5 && std::fmod(low, 2.0) != 0.0);
    return static_cast<std::int32_t>(up ? low + 1 : low);
  });
  r.each("f * scalar", [&](auto i) { return x(i) * 3.0f; });
}

/// Lane 0's value after rounds with the lanes at distance 16, 8, 4, 2, 1.
template <class T, class Step>
T butterfly(T const (&x)[32], Step step)
{
  std::array<T, 32> v;
  std::copy(x, x + 32, v.begin());
  for (std::uint32_t distance = 16; distance > 0; distance /= 2) {
    auto const before = v;
    for (std::uint32_t i = 0; i < 32; ++i) v[i] = step(before[i], before[i ^ distance]);
  }
  return v[0];
}

inline void expect_collectives(exercise_input const& in, row_list& r)
{
  r.each("shuffle u", [&](auto i) { return in.a[in.from[i]]; });
  r.each("shuffle s", [&](auto i) { return in.s[in.from[i]]; });
  r.each_exact("shuffle f", [&](auto i) { return in.x[in.from[i]]; });
  for (std::uint32_t bits = 0; bits < 32; bits += 3)
    r.each("shuffle_xor u", [&](auto i) { return in.a[i ^ bits]; });
  for (std::uint32_t bits = 1; bits < 32; bits *= 2)
    r.each_exact("shuffle_xor f", [&](auto i) { return in.x[i ^ bits]; });
  for (std::uint32_t bits = 1; bits < 32; bits *= 2)
    r.each("butterfly", [&](auto i) {
      float const x = in.halves[i], y = in.halves[i ^ bits];
      return (i & bits) == 0 ? x + y : y - x;
    });
  for (int from : {0, 17, 31}) r.same("broadcast", in.a[from]);
  std::uint32_t less = 0, total = 0, total_signed = 0;
  for (int i = 0; i < 32; ++i) {
    less |= std::uint32_t{in.a[i] < in.b[i]} << i;
    total += in.a[i];
    total_signed += static_cast<std::uint32_t>(in.s[i]);
  }
  r.same("ballot", less), r.same("any", less != 0), r.same("all", less == 0xFFFFFFFFu);
  r.same("any of none", false), r.same("all of all", true), r.same("any of the last", true);
  r.same("sum u", total), r.same("sum s", total_signed);
  r.same("sum f", butterfly(in.halves, [](float p, float q) { return p + q; }));
  r.same("greatest_of u", *std::max_element(in.a, in.a + 32));
  r.same("least_of u", *std::min_element(in.a, in.a + 32));
  r.same("greatest_of s", *std::max_element(in.s, in.s + 32));
  r.same("least_of s", *std::min_element(in.s, in.s + 32));
  r.same("greatest_of f",
         row_list::exact(butterfly(in.x, [](float p, float q) { return p < q ? q : p; })));
  r.same("least_of f",
         row_list::exact(butterfly(in.x, [](float p, float q) { return q < p ? q : p; })));
  std::array<std::uint32_t, 32> before{}, before_signed{};
  for (std::size_t i = 1; i < 32; ++i) {
    before[i] = before[i - 1] + in.a[i - 1];
    before_signed[i] = before_signed[i - 1] + static_cast<std::uint32_t>(in.s[i - 1]);
  }
  r.each("prefix_sum u", [&](auto i) { return before[i]; });
  r.each("prefix_sum s", [&](auto i) { return before_signed[i]; });
  r.each("previous_equal", [&](auto i) {
    std::uint32_t found = 32;
    for (std::uint32_t j = 0; j < i; ++j)
      if (in.clash[j] == in.clash[i]) found = j;
    return found;
  });
}

inline void expect_memory(exercise_input const& in, row_list& r)
{
  auto const chosen = [&](auto i) { return in.a[i] < in.b[i]; };
  auto const at = [&](auto i) { return in.at[i]; };
  r.each("load u8", [&](auto i) { return std::uint32_t{in.u8[i]}; });
  r.each("load s8", [&](auto i) { return std::int32_t{in.s8[i]}; });
  r.each("load u16", [&](auto i) { return std::uint32_t{in.u16[i]}; });
  r.each("load s16", [&](auto i) { return std::int32_t{in.s16[i]}; });
  r.each("load s8 as u", [&](auto i) { return static_cast<std::uint32_t>(in.s8[i]); });
  r.each("load u16 as s", [&](auto i) { return std::int32_t{in.u16[i]}; });
  r.each("load u8 as f", [&](auto i) { return static_cast<float>(in.u8[i]); });
  r.each("load s16 as f", [&](auto i) { return static_cast<float>(in.s16[i]); });
  r.each("load u32 as f", [&](auto i) { return static_cast<float>(in.a[i]); });
  r.each("load s32 as f", [&](auto i) { return static_cast<float>(in.s[i]); });
  r.each("load byte", [&](auto i) { return static_cast<std::uint32_t>(in.bytes[i]); });
  r.each_exact("load float16", [&](auto i) { return to_float(in.half[i]); });
  r.each_exact("load bfloat16", [&](auto i) { return to_float(in.brain[i]); });
  for (std::uint32_t n = 0; n <= 33; n += 11) {
    r.each("load_n u8", [&](auto i) { return i < n ? std::uint32_t{in.u8[i]} : 99u; });
    r.each_exact("load_n float16", [&](auto i) { return i < n ? to_float(in.half[i]) : -1.5f; });
  }
  r.each("gather u16", [&](auto i) { return std::uint32_t{in.u16[at(i)]}; });
  r.each("gather byte, masked",
         [&](auto i) { return chosen(i) ? static_cast<std::uint32_t>(in.bytes[at(i)]) : 5u; });
  r.each("gather u32", [&](auto i) { return in.a[at(i) & 31u]; });
  r.each("gather s32, masked", [&](auto i) { return chosen(i) ? in.s[at(i) & 31u] : -3; });
  r.each_exact("gather float16, masked",
               [&](auto i) { return chosen(i) ? to_float(in.half[at(i)]) : 0.5f; });
  r.each_exact("gather float", [&](auto i) { return in.x[at(i) & 31u]; });
  r.each_exact("gather bfloat16", [&](auto i) { return to_float(in.brain[at(i)]); });
  r.each("gather_pair, first", [&](auto i) { return in.a[2 * (at(i) & 15u)]; });
  r.each("gather_pair, second", [&](auto i) { return in.a[2 * (at(i) & 15u) + 1]; });

  std::array<std::uint32_t, 64> words{};
  auto const show = [&](char const* after) {
    for (std::uint32_t half : {0u, 32u}) r.each(after, [&](auto i) { return words[half + i]; });
  };
  for (std::size_t i = 32; i < 64; ++i) words[i] = 1;
  for (std::size_t i = 0; i < 32; ++i)
    if (chosen(i)) words[at(i)] = in.a[i];
  show("scratch after scatter_distinct");
  for (std::size_t i = 0; i < 32; ++i)
    if (chosen(i)) words[in.clash[i]] = in.a[i];
  show("scratch after scatter");
  for (std::size_t i = 0; i < 9; ++i) words[8 + i] = in.a[i];
  show("scratch after store_n");
  words[5] = 123456;
  show("scratch after store_one");
  r.same("load_one", 123456u);
  std::array<std::uint8_t, 64> octets{};
  for (std::size_t i = 0; i < 64; ++i) octets[i] = static_cast<std::uint8_t>(in.a[i % 32]);
  for (std::size_t i = 0; i < 32; ++i)
    if (chosen(i)) octets[at(i)] = static_cast<std::uint8_t>(~in.a[i]);
  for (std::uint32_t half : {0u, 32u})
    r.each("scratch of bytes", [&](auto i) { return std::uint32_t{octets[half + i]}; });
  r.each_exact("scratch of floats",
               [&](auto i) { return at(i) < 32 ? in.x[at(i)] : in.halves[at(i) - 32]; });
}

inline std::vector<named_row> expected_rows(exercise_input const& in)
{
  row_list r;
  expect_integers(in, r);
  expect_floats(in, r);
  expect_collectives(in, r);
  expect_memory(in, r);
  return r.rows;
}

/// Numbers of all sizes; with `special` also zeros of both signs, infinities, NaNs and subnormals.
inline exercise_input exercise_data(std::uint32_t seed, bool special)
{
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  auto const random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 32);
  };
  auto const real = [&] {
    float const rare[] = {0.0f,   -0.0f,   INFINITY, -INFINITY, std::nanf("1"), -std::nanf("77"),
                          1e-42f, -3e-39f, 3.4e38f};
    if (special && random() % 3 == 0) return rare[random() % 9];
    return std::ldexp(static_cast<float>(random() % 16777216u) - 8388608.0f,
                      static_cast<int>(random() % 12) - 20);
  };
  exercise_input in{};
  for (std::size_t i = 0; i < 32; ++i) {
    in.a[i] = random() >> random() % 32;
    in.b[i] = random() % 5 == 0 ? in.a[i] : random() >> random() % 32;
    in.s[i] = static_cast<std::int32_t>(random()) >> random() % 32;
    in.t[i] = random() % 5 == 0 ? in.s[i] : static_cast<std::int32_t>(random()) >> random() % 32;
    if (special && random() % 6 == 0) in.s[i] = INT32_MIN, in.a[i] = 0xFFFFFFFFu;
    in.from[i] = random() % 32;
    in.count[i] = random() % 32;
    in.clash[i] = random() % 8;
    in.x[i] = real();
    in.y[i] = random() % 5 == 0 ? in.x[i] : real();
    // So close to the negative product that a fused addition shows.
    in.z[i] = random() % 2 == 0 ? -rounded_product(in.x[i], in.y[i]) : real();
    in.halves[i] = random() % 2 == 0
                       ? static_cast<float>(static_cast<int>(random() % 4096) - 2048) + 0.5f
                       : static_cast<float>(static_cast<std::int32_t>(random()) / 2);
    in.at[i] = static_cast<std::uint32_t>(2 * i) + random() % 2;
  }
  for (std::size_t i = 31; i > 0; --i) std::swap(in.at[i], in.at[random() % (i + 1)]);
  for (std::size_t i = 0; i < 64; ++i) {
    in.u8[i] = static_cast<std::uint8_t>(random());
    in.s8[i] = static_cast<std::int8_t>(random());
    in.u16[i] = static_cast<std::uint16_t>(random());
    in.s16[i] = static_cast<std::int16_t>(random());
    in.half[i] = {static_cast<std::uint16_t>(random())};
    in.brain[i] = {static_cast<std::uint16_t>(random())};
    in.bytes[i] = static_cast<std::byte>(random());
  }
  return in;
}

}  // namespace support
