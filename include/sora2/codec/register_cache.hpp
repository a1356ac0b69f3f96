/// N values in N * Bits / 32 registers of one thread: a cache that never touches memory.
/// Smallest use: `auto const r = register_cache<float16, 64, 8>::pack(values); float x = r.value<5>();`.
/// Limits: indices are compile-time constants, so that every word stays in a register. 16-bit types at 16 bits are kept
/// exactly; otherwise codes are symmetric, one float scale for each 64 values. Infinities become the largest value of their
/// group that is finite, NaNs become 0. Two-sided, constexpr, no status: packing cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>
#include <sora2/core/macros.hpp>

namespace sora2 {

template <real_type T, int N, int Bits>
struct register_cache {
  static_assert(Bits == 16 || Bits == 8 || Bits == 4 || Bits == 2,
                "sora2: a register cache holds 16, 8, 4 or 2 bits a value");
  static_assert(N > 0 && N * Bits % 32 == 0, "sora2: a register cache fills whole 32-bit words");

  using row = T[std::size_t{N}];
  static constexpr int size = N;
  static constexpr int words = N * Bits / 32;
  static constexpr int group = 64;  ///< values that share a scale
  static constexpr bool exact = Bits == 16 && sizeof(T) == 2;
  static constexpr int scales = exact ? 0 : (N + group - 1) / group;
  static constexpr std::int32_t top_code = (1 << (Bits - 1)) - 1;

  std::uint32_t word[std::size_t{words + scales}];  ///< the codes, then the scales as their bits

  /// All values; the scale of a group is its largest finite magnitude over the largest code.
  [[nodiscard]] SORA2_HD static constexpr register_cache pack(row const& values)
  {
    register_cache r{};
    if constexpr (!exact) r.measure_all(values, std::make_integer_sequence<int, scales>{});
    r.store_all(values, std::make_integer_sequence<int, N>{});
    return r;
  }
  SORA2_HD constexpr void unpack(row& out) const
  {
    load_all(out, std::make_integer_sequence<int, N>{});
  }

  template <int I>
  [[nodiscard]] SORA2_HD constexpr T load() const
  {
    static_assert(I >= 0 && I < N);
    if constexpr (exact)
      return T{static_cast<std::uint16_t>(code_bits<I>())};
    else
      return from_float<T>(value<I>());
  }
  /// The same as float, without rounding to T.
  template <int I>
  [[nodiscard]] SORA2_HD constexpr float value() const
  {
    static_assert(I >= 0 && I < N);
    if constexpr (exact)
      return to_float(T{static_cast<std::uint16_t>(code_bits<I>())});
    else {
      std::uint32_t const top = 1u << (Bits - 1);
      return static_cast<float>(static_cast<std::int32_t>((code_bits<I>() ^ top) - top)) *
             scale<I>();
    }
  }
  /// Replaces one value; what lies outside of the group's range becomes the end of the range.
  template <int I>
  SORA2_HD constexpr void store(T x)
  {
    static_assert(I >= 0 && I < N);
    if constexpr (exact)
      set_bits<I>(x.bits);
    else
      set_bits<I>(static_cast<std::uint32_t>(code_of(to_float(x), scale<I>())));
  }

  /// The scale that value I is coded with.
  template <int I>
    requires(!exact)
  [[nodiscard]] SORA2_HD constexpr float scale() const
  {
    return bit_cast<float>(word[words + I / group]);
  }
  /// Sets the range of the group that value I lies in to [-magnitude, magnitude]; its codes keep their bits.
  template <int I>
    requires(!exact)
  SORA2_HD constexpr void set_range(float magnitude)
  {
    word[words + I / group] =
        bit_cast<std::uint32_t>(least(magnitude / static_cast<float>(top_code), top_scale));
  }

  [[nodiscard]] SORA2_HD friend constexpr bool operator==(register_cache const& a,
                                                          register_cache const& b)
  {
    bool same = true;
    for (int i = 0; i < words + scales; ++i) same = same && a.word[i] == b.word[i];
    return same;
  }

 private:
  static constexpr std::uint32_t code_mask = 0xFFFFFFFFu >> (32 - Bits);
  /// The largest scale whose top code is finite: that of the largest float may have been rounded up.
  static constexpr float top_scale = [] {
    std::uint32_t bits = bit_cast<std::uint32_t>(0x1.FFFFFEp127f / static_cast<float>(top_code));
    while (double{bit_cast<float>(bits)} * top_code > 0x1.FFFFFEp127) --bits;
    return bit_cast<float>(bits);
  }();

  template <int I>
  [[nodiscard]] SORA2_HD constexpr std::uint32_t code_bits() const
  {
    return word[I * Bits / 32] >> (I * Bits % 32) & code_mask;
  }
  template <int I>
  SORA2_HD constexpr void set_bits(std::uint32_t code)
  {
    std::uint32_t& w = word[I * Bits / 32];
    w = (w & ~(code_mask << (I * Bits % 32))) | (code & code_mask) << (I * Bits % 32);
  }

  /// Nearest code, ties to even. Divides, since a product could be fused with what follows on one machine only.
  [[nodiscard]] SORA2_HD static constexpr std::int32_t code_of(float x, float step)
  {
    if (!(x == x) || step == 0) return 0;
    float const q = x / step;
    if (q >= static_cast<float>(top_code)) return top_code;
    if (q <= static_cast<float>(-top_code)) return -top_code;
    auto const below = static_cast<std::int32_t>(q);
    float const rest = q - static_cast<float>(below);
    if (rest > 0.5f || (rest == 0.5f && below % 2 != 0)) return below + 1;
    if (rest < -0.5f || (rest == -0.5f && below % 2 != 0)) return below - 1;
    return below;
  }
  [[nodiscard]] SORA2_HD static constexpr float magnitude_of(float x)
  {
    std::uint32_t const bits = bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu;
    return bits < 0x7F800000u ? bit_cast<float>(bits) : 0.0f;
  }

  template <int... G>
  SORA2_HD constexpr void measure_all(row const& values, std::integer_sequence<int, G...>)
  {
    (measure<G>(values, std::make_integer_sequence<int, least(group, N - G * group)>{}), ...);
  }
  template <int G, int... I>
  SORA2_HD constexpr void measure(row const& values, std::integer_sequence<int, I...>)
  {
    float most = 0;
    ((most = greatest(most, magnitude_of(to_float(values[G * group + I])))), ...);
    set_range<G * group>(most);
  }
  template <int... I>
  SORA2_HD constexpr void store_all(row const& values, std::integer_sequence<int, I...>)
  {
    (store<I>(values[I]), ...);
  }
  template <int... I>
  SORA2_HD constexpr void load_all(row& out, std::integer_sequence<int, I...>) const
  {
    ((out[I] = load<I>()), ...);
  }
};

static_assert(std::is_trivial_v<register_cache<float16, 64, 8>>);
static_assert(sizeof(register_cache<float16, 64, 16>) == 128, "exact: no scale");
static_assert(sizeof(register_cache<float16, 64, 8>) == 64 + 4 &&
              sizeof(register_cache<float, 64, 4>) == 32 + 4 &&
              sizeof(register_cache<bfloat16, 128, 2>) == 32 + 8);

}  // namespace sora2
