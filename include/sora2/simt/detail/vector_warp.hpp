/// The operations of a warp whose lanes are four 8-wide vectors, in portable vector code. Host only.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>
#include <sora2/simt/detail/array_warp.hpp>
#include <sora2/simt/detail/elements.hpp>
#include <sora2/simt/detail/vector_lanes.hpp>

namespace sora2::detail {

/// Operations every host warp of this shape shares. `Self` is the warp; it may hide members by faster ones.
template <class Self>
struct vector_warp : array_warp<Self> {
  using uints = lanes<std::uint32_t, Self>;
  using mask = lane_mask<Self>;
  using steps = vector_steps<Self>;

  [[nodiscard]] SORA2_INLINE uints lane() const
  {
    using part = v8<std::uint32_t>;
    return {part{0, 1, 2, 3, 4, 5, 6, 7}, part{8, 9, 10, 11, 12, 13, 14, 15},
            part{16, 17, 18, 19, 20, 21, 22, 23}, part{24, 25, 26, 27, 28, 29, 30, 31}};
  }

  template <lane_type T, class U>
  [[nodiscard]] SORA2_INLINE lanes<T, Self> load(U const* p) const
  {
    lanes<T, Self> x;
    steps::template load<T>(p, x.a);
    steps::template load<T>(p + 8, x.b);
    steps::template load<T>(p + 16, x.c);
    steps::template load<T>(p + 24, x.d);
    return x;
  }
  template <lane_type T, class U>
  [[nodiscard]] SORA2_INLINE lanes<T, Self> load_n(U const* p, std::uint32_t n,
                                                   std::type_identity_t<T> fill) const
  {
    lanes<T, Self> x(fill);
    load_first<T>(p, n, x.a);
    if (n > 8) load_first<T>(p + 8, n - 8, x.b);
    if (n > 16) load_first<T>(p + 16, n - 16, x.c);
    if (n > 24) load_first<T>(p + 24, n - 24, x.d);
    return x;
  }
  template <class U, class T>
  SORA2_INLINE void store(U* p, lanes<T, Self> const& x) const
  {
    steps::template store<U, T>(p, x.a);
    steps::template store<U, T>(p + 8, x.b);
    steps::template store<U, T>(p + 16, x.c);
    steps::template store<U, T>(p + 24, x.d);
  }
  template <class U, class T>
  SORA2_INLINE void store_n(U* p, std::uint32_t n, lanes<T, Self> const& x) const
  {
    store_first<U, T>(p, n, x.a);
    if (n > 8) store_first<U, T>(p + 8, n - 8, x.b);
    if (n > 16) store_first<U, T>(p + 16, n - 16, x.c);
    if (n > 24) store_first<U, T>(p + 24, n - 24, x.d);
  }

  template <class T>
  [[nodiscard]] SORA2_INLINE lanes<T, Self> shuffle(lanes<T, Self> const& x,
                                                    uints const& from) const
  {
    T y[32];
    to_array(x, y);
    return self().template gather<T>(y, from & 31u);
  }
  /// Lane i gets the value of lane i ^ bits; `bits` is uniform, 0..31.
  template <class T>
  [[nodiscard]] SORA2_INLINE lanes<T, Self> shuffle_xor(lanes<T, Self> const& x, int bits) const
  {
    lanes<T, Self> y = (bits & 16) ? lanes<T, Self>{x.c, x.d, x.a, x.b} : x;
    if (bits & 8) y = {y.b, y.a, y.d, y.c};
    if (bits & 4) y = within<4, 5, 6, 7, 0, 1, 2, 3>(y);
    if (bits & 2) y = within<2, 3, 0, 1, 6, 7, 4, 5>(y);
    if (bits & 1) y = within<1, 0, 3, 2, 5, 4, 7, 6>(y);
    return y;
  }
  [[nodiscard]] SORA2_INLINE lanes<float, Self> butterfly(lanes<float, Self> const& x,
                                                          int bits) const
  {
    if ((bits & 16) != 0) return {x.a + x.c, x.b + x.d, x.a - x.c, x.b - x.d};
    if ((bits & 8) != 0) return {x.a + x.b, x.a - x.b, x.c + x.d, x.c - x.d};
    auto const distance = static_cast<std::uint32_t>(bits);
    auto const flip = (self().lane() & distance)
                      << (32 - bit_width(distance));  // upper lanes' sign
    return self().shuffle_xor(x, bits) + float_of(bits_of(x) ^ flip);
  }

  [[nodiscard]] SORA2_INLINE std::uint32_t ballot(mask const& m) const
  {
    return steps::ballot(m.a) | steps::ballot(m.b) << 8 | steps::ballot(m.c) << 16 |
           steps::ballot(m.d) << 24;
  }
  [[nodiscard]] SORA2_INLINE bool any(mask const& m) const { return self().ballot(m) != 0; }
  [[nodiscard]] SORA2_INLINE bool all(mask const& m) const
  {
    return self().ballot(m) == 0xFFFFFFFFu;
  }

  /// Butterfly over distances 16, 8, 4, 2, 1: the same float result on every machine.
  template <class T>
  [[nodiscard]] SORA2_INLINE T sum(lanes<T, Self> const& x) const
  {
    using wrapping = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
    v8<T> const parts = (x.a + x.c) + (x.b + x.d);
    wrapping y[8];
    std::memcpy(y, &parts, sizeof y);
    return static_cast<T>(((y[0] + y[4]) + (y[2] + y[6])) + ((y[1] + y[5]) + (y[3] + y[7])));
  }

  /// In the order of the same butterfly, which decides between zeros of different sign.
  template <class T>
  [[nodiscard]] SORA2_INLINE T greatest_of(lanes<T, Self> const& x) const
  {
    v8<T> const low = x.a < x.c ? x.c : x.a, high = x.b < x.d ? x.d : x.b;
    v8<T> y = low < high ? high : low;
    v8<T> const apart4 = __builtin_shufflevector(y, y, 4, 5, 6, 7, 0, 1, 2, 3);
    y = y < apart4 ? apart4 : y;
    v8<T> const apart2 = __builtin_shufflevector(y, y, 2, 3, 0, 1, 6, 7, 4, 5);
    y = y < apart2 ? apart2 : y;
    return y[0] < y[1] ? y[1] : y[0];
  }
  template <class T>
  [[nodiscard]] SORA2_INLINE T least_of(lanes<T, Self> const& x) const
  {
    v8<T> const low = x.c < x.a ? x.c : x.a, high = x.d < x.b ? x.d : x.b;
    v8<T> y = high < low ? high : low;
    v8<T> const apart4 = __builtin_shufflevector(y, y, 4, 5, 6, 7, 0, 1, 2, 3);
    y = apart4 < y ? apart4 : y;
    v8<T> const apart2 = __builtin_shufflevector(y, y, 2, 3, 0, 1, 6, 7, 4, 5);
    y = apart2 < y ? apart2 : y;
    return y[1] < y[0] ? y[1] : y[0];
  }

  [[nodiscard]] SORA2_INLINE uints take_next(word_source& source, mask const& need) const
  {
    std::uint32_t x[32] = {};
    std::uint32_t const bits = self().ballot(need);
    std::size_t const left = static_cast<std::size_t>(source.end - source.next) / 2;
    std::byte const* p = source.next;
    if (static_cast<std::size_t>(popcount(bits)) <= left) {
      for (std::uint32_t m = bits; m != 0; m &= m - 1, p += 2)
        x[lowest_bit(m)] = load_le<std::uint16_t>(p);
    } else {
      std::size_t taken = 0;
      for (std::uint32_t m = bits; m != 0 && taken < left; m &= m - 1, p += 2, ++taken)
        x[lowest_bit(m)] = load_le<std::uint16_t>(p);
      source.overrun = true;
    }
    source.next = p;
    return from_array(x);
  }
  SORA2_INLINE void put_before(word_sink& sink, uints const& x, mask const& chosen) const
  {
    std::uint32_t const bits = self().ballot(chosen);
    std::size_t const need = 2 * static_cast<std::size_t>(popcount(bits));
    if (sink.overrun || static_cast<std::size_t>(sink.next - sink.begin) < need) {
      sink.overrun = true;
      return;
    }
    std::uint32_t y[32];
    to_array(x, y);
    sink.next -= need;
    std::byte* p = sink.next;
    for (std::uint32_t m = bits; m != 0; m &= m - 1, p += 2)
      store_le(p, static_cast<std::uint16_t>(y[lowest_bit(m)]));
  }

 private:
  using array_warp<Self>::from_array;
  using array_warp<Self>::to_array;
  SORA2_INLINE Self const& self() const { return static_cast<Self const&>(*this); }

  /// The first n of eight elements, n > 0; others keep their value.
  template <class T, class U>
  SORA2_INLINE static void load_first(U const* p, std::uint32_t n, v8<T>& out)
  {
    if (n >= 8) return steps::template load<T>(p, out);
    T y[8];
    std::memcpy(y, &out, sizeof y);
    // The constant bound is for g++ at -O1, which forgets that n is below 8 and warns in the user's code.
    for (std::uint32_t i = 0; i < 7 && i < n; ++i) y[i] = load_element<T>(p + i);
    std::memcpy(&out, y, sizeof y);
  }
  template <class U, class T>
  SORA2_INLINE static void store_first(U* p, std::uint32_t n, v8<T> const& x)
  {
    if (n >= 8) return steps::template store<U, T>(p, x);
    T y[8];
    std::memcpy(y, &x, sizeof y);
    for (std::uint32_t i = 0; i < 7 && i < n; ++i) store_element(p + i, y[i]);
  }
  template <int A, int B, int C, int D, int E, int F, int G, int H, class T>
  SORA2_INLINE static lanes<T, Self> within(lanes<T, Self> const& x)
  {
    return {__builtin_shufflevector(x.a, x.a, A, B, C, D, E, F, G, H),
            __builtin_shufflevector(x.b, x.b, A, B, C, D, E, F, G, H),
            __builtin_shufflevector(x.c, x.c, A, B, C, D, E, F, G, H),
            __builtin_shufflevector(x.d, x.d, A, B, C, D, E, F, G, H)};
  }
};

}  // namespace sora2::detail
