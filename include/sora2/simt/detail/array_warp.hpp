/// Operations of a host warp written over plain arrays of 32: what no instruction set does better. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/detail/elements.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2::detail {

/// Shared by all host warps. `Self` is the warp; it hides members by faster ones and adds the rest.
template <class Self>
struct array_warp {
  static constexpr int width = 32;
  static constexpr bool is_host = true;
  static constexpr int chains = 1;
  template <class T>
  using shared = T;

  template <lane_type T, class U>
  [[nodiscard]] SORA2_INLINE lanes<T, Self> gather(U const* p,
                                                   lanes<std::uint32_t, Self> const& at) const
  {
    std::uint32_t index[32];
    T x[32];
    to_array(at, index);
    for (int i = 0; i < 32; ++i) x[i] = load_element<T>(p + index[i]);
    return from_array(x);
  }
  /// Lanes outside the mask get `fill` and touch no memory: they read what a chosen lane reads anyway.
  template <lane_type T, class U>
  [[nodiscard]] SORA2_INLINE lanes<T, Self> gather(U const* p, lanes<std::uint32_t, Self> const& at,
                                                   lane_mask<Self> const& chosen,
                                                   std::type_identity_t<T> fill) const
  {
    std::uint32_t const bits = self().ballot(chosen);
    if (bits == 0) return fill;
    std::uint32_t const safe = broadcast(at, lowest_bit(bits));
    return select(chosen, self().template gather<T>(p, select(chosen, at, safe)), fill);
  }
  /// Elements 2 * at and 2 * at + 1.
  template <class U>
  SORA2_INLINE void gather_pair(U const* p, lanes<std::uint32_t, Self> const& at,
                                lanes<std::uint32_t, Self>& first,
                                lanes<std::uint32_t, Self>& second) const
  {
    first = self().template gather<std::uint32_t>(p, at << 1);
    second = self().template gather<std::uint32_t>(p, (at << 1) + 1u);
  }
  /// Where several lanes name one place, the highest lane's value stays.
  template <class U, class T>
  SORA2_INLINE void scatter(U* p, lanes<std::uint32_t, Self> const& at, lanes<T, Self> const& x,
                            lane_mask<Self> const& chosen) const
  {
    std::uint32_t index[32];
    T y[32];
    to_array(at, index);
    to_array(x, y);
    for (std::uint32_t bits = self().ballot(chosen); bits != 0; bits &= bits - 1) {
      int const i = lowest_bit(bits);
      store_element(p + index[i], y[i]);
    }
  }

  /// The chosen lanes name different places.
  template <class U, class T>
  SORA2_INLINE void scatter_distinct(U* p, lanes<std::uint32_t, Self> const& at,
                                     lanes<T, Self> const& x, lane_mask<Self> const& chosen) const
  {
    self().scatter(p, at, x, chosen);
  }

  /// Lanes i and i + bits: the lower gets the sum of both, the upper the lower minus the upper. `bits` is uniform: 1, 2, 4, 8, 16.
  [[nodiscard]] SORA2_INLINE lanes<float, Self> butterfly(lanes<float, Self> const& x,
                                                          int bits) const
  {
    auto const y = self().shuffle_xor(x, bits);
    return select((self().lane() & static_cast<std::uint32_t>(bits)) == 0u, x + y, y - x);
  }
  template <class T>
  [[nodiscard]] SORA2_INLINE T broadcast(lanes<T, Self> const& x, int from) const
  {
    T y[32];
    to_array(x, y);
    return y[from & 31];
  }
  template <class T>
  [[nodiscard]] SORA2_INLINE T greatest_of(lanes<T, Self> const& x) const
  {
    lanes<T, Self> y = x;
    for (int bits = 16; bits > 0; bits >>= 1) y = sora2::greatest(y, self().shuffle_xor(y, bits));
    return self().broadcast(y, 0);
  }
  template <class T>
  [[nodiscard]] SORA2_INLINE T least_of(lanes<T, Self> const& x) const
  {
    lanes<T, Self> y = x;
    for (int bits = 16; bits > 0; bits >>= 1) y = sora2::least(y, self().shuffle_xor(y, bits));
    return self().broadcast(y, 0);
  }
  /// Exclusive; integers only, since the order of additions differs from machine to machine.
  template <class T>
    requires(!std::same_as<T, float>)
  [[nodiscard]] SORA2_INLINE lanes<T, Self> prefix_sum(lanes<T, Self> const& x) const
  {
    std::uint32_t total = 0;
    T y[32];
    to_array(x, y);
    for (T& v : y) {
      std::uint32_t const next = total + static_cast<std::uint32_t>(v);
      v = static_cast<T>(total);
      total = next;
    }
    return from_array(y);
  }

  /// Lane i gets the highest lane below i with the same value, or 32 where there is none.
  [[nodiscard]] SORA2_INLINE lanes<std::uint32_t, Self>
  previous_equal(lanes<std::uint32_t, Self> const& x) const
  {
    std::uint32_t y[32], previous[32];
    to_array(x, y);
    for (std::uint32_t i = 0; i < 32; ++i) {
      previous[i] = 32;
      for (std::uint32_t j = 0; j < i; ++j) previous[i] = y[j] == y[i] ? j : previous[i];
    }
    return from_array(previous);
  }

  /// One lane writes.
  template <class U, class T>
  SORA2_INLINE void store_one(U* p, T x) const
  {
    if constexpr (std::is_same_v<U, T>)
      write_element(p, x);
    else
      store_element(p, x);
  }
  /// All lanes read the same element.
  template <class U>
  [[nodiscard]] SORA2_INLINE U load_one(U const* p) const
  {
    return read_element(p);
  }
  /// Disjoint bytes.
  SORA2_INLINE void copy(std::byte* to, std::byte const* from, std::size_t bytes) const
  {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  SORA2_INLINE void sync() const {}

 protected:
  template <class T>
  SORA2_INLINE static lanes<T, Self> from_array(T const (&x)[32])
  {
    lanes<T, Self> out;
    static_assert(sizeof out == sizeof x);
    std::memcpy(&out, x, sizeof out);
    return out;
  }
  template <class T>
  SORA2_INLINE static void to_array(lanes<T, Self> const& x, T (&out)[32])
  {
    std::memcpy(out, &x, sizeof x);
  }

 private:
  SORA2_INLINE Self const& self() const { return static_cast<Self const&>(*this); }
};

}  // namespace sora2::detail
