/// Data per lane: what codecs compute with. Every warp context specialises the two templates below.
/// Smallest use: `lanes<float, Warp> x = w.template load<float>(p); w.store(q, x * step);`.
/// Limits: T is std::uint32_t, std::int32_t or float. A plain scalar means "the same in all lanes" and converts to lanes;
/// only collectives of the warp (`any`, `ballot`, `sum`, ...) turn lanes into scalars. A mask has no conversion to bool.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>

namespace sora2 {

template <class T>
concept lane_type =
    std::same_as<T, std::uint32_t> || std::same_as<T, std::int32_t> || std::same_as<T, float>;

/// One T per lane: 32 in a host object, 1 in a device thread. Has + - *, / for floats, & | ^ << >> for integers (which
/// wrap; unary - and ~ too), comparisons that give lane_mask, and these functions by argument-dependent lookup:
/// select(mask, a, b), least, greatest, abs, mul_hi (upper half of a 32 x 32 bit product), fma (one rounding),
/// to_int / to_uint (wrap), to_lanes_float, round_to_int (nearest, ties to even; |x| < 2^31), bits_of, float_of.
/// No product is fused with an addition, on any machine; scalars outside of lanes have no such promise.
template <lane_type T, class Warp>
struct lanes;

/// One truth value per lane: & | ^ ~ and the collectives.
template <class Warp>
struct lane_mask;

// Every warp has `select` for two lanes of one type; the rest follows from it.
SORA2_TWO_SIDED
template <class T, class W>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<T, W> select(lane_mask<W> const& m, lanes<T, W> const& x,
                                                       std::type_identity_t<T> y)
{
  return select(m, x, lanes<T, W>(y));
}
SORA2_TWO_SIDED
template <class T, class W>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<T, W>
select(lane_mask<W> const& m, std::type_identity_t<T> x, lanes<T, W> const& y)
{
  return select(m, lanes<T, W>(x), y);
}
/// Where a comparison is false because of a NaN, the first operand stays.
SORA2_TWO_SIDED
template <class T, class W>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<T, W> least(lanes<T, W> const& x,
                                                      std::type_identity_t<lanes<T, W>> const& y)
{
  return select(y < x, y, x);
}
SORA2_TWO_SIDED
template <class T, class W>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<T, W> greatest(lanes<T, W> const& x,
                                                         std::type_identity_t<lanes<T, W>> const& y)
{
  return select(x < y, y, x);
}

/// Same bits, other type.
SORA2_TWO_SIDED
template <class W>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<std::uint32_t, W> bits_of(lanes<float, W> const& x)
{
  return bit_cast<lanes<std::uint32_t, W>>(x);
}
SORA2_TWO_SIDED
template <class W>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<float, W> float_of(lanes<std::uint32_t, W> const& x)
{
  return bit_cast<lanes<float, W>>(x);
}
SORA2_TWO_SIDED
template <class T, class W>
  requires(!std::same_as<T, float>)
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<std::int32_t, W> to_int(lanes<T, W> const& x)
{
  return bit_cast<lanes<std::int32_t, W>>(x);
}
SORA2_TWO_SIDED
template <class T, class W>
  requires(!std::same_as<T, float>)
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<std::uint32_t, W> to_uint(lanes<T, W> const& x)
{
  return bit_cast<lanes<std::uint32_t, W>>(x);
}
SORA2_TWO_SIDED
template <class T, class W>
[[nodiscard]] SORA2_HD SORA2_INLINE lanes<T, W> abs(lanes<T, W> const& x)
{
  if constexpr (std::same_as<T, float>)
    return float_of(bits_of(x) & lanes<std::uint32_t, W>(0x7FFFFFFFu));
  else
    return greatest(x, -x);
}

/// A stream of little-endian 16-bit words being read. Past its end, reads give zeros and `overrun` stays set.
struct word_source {
  std::byte const* next = nullptr;
  std::byte const* end = nullptr;
  bool overrun = false;

  constexpr word_source() = default;
  SORA2_HD constexpr explicit word_source(view<std::byte const> v)
      : next(v.data), end(v.data + v.size)
  {}
};

/// A stream of little-endian 16-bit words being written downwards from the end of a buffer.
/// When the room ends, nothing more is written and `overrun` stays set. What lies below the cursor is free for scribbling.
struct word_sink {
  std::byte* next = nullptr;   ///< the last word written; the next one goes below
  std::byte* begin = nullptr;  ///< start of the room
  bool overrun = false;

  constexpr word_sink() = default;
  SORA2_HD constexpr explicit word_sink(view<std::byte> v) : next(v.data + v.size), begin(v.data) {}
};

/// What a codec may ask of its warp. Calls are collective: all lanes make them, with the same scalars.
/// - lane(): 0..31 · load<T>(p): lane i reads p[i] and converts (std::uint8_t, std::int8_t, 16- and 32-bit integers,
///   float16, bfloat16, float) · load_n<T>(p, n, fill): lanes >= n get fill and touch no memory · store, store_n likewise
/// - gather<T>(p, at) and gather<T>(p, at, mask, fill), places below 2^31 · gather_pair(p, at, x, y): elements 2 * at and
///   2 * at + 1 of 32 bits · scatter(p, at, x, mask): one winner, the
///   highest lane, on conflicts; costs a match over the warp · scatter_distinct: the same where there are no conflicts
/// - shuffle(x, from), shuffle_xor(x, bits), butterfly(x, bits): sum in the lower, difference in the upper lane of each
///   pair i, i ^ bits, for floats and one bit · broadcast(x, lane) · ballot, any, all · sum (fixed butterfly order 16, 8, 4, 2, 1),
///   greatest_of, least_of · prefix_sum (exclusive; integers only)
/// - previous_equal(x): the highest lane below with the same value, or 32; integers only
/// - take_next(source, need): needy lanes read the next words in lane order, others get 0
/// - put_before(sink, x, mask): chosen lanes write their low 16 bits below the cursor, in lane order
/// - store_one(p, value), load_one(p): one lane writes, all read · copy(to, from, bytes): disjoint bytes
/// - chains: how many loops that wait for memory it does well to run side by side
/// - shared<T>: element type of scratch, touched through the calls above only · sync(): orders scratch and memory in the warp
template <class W>
concept warp_context =
    requires(W const& w, float const* p, float* q, typename W::template shared<std::uint32_t>* s,
             lanes<float, W> x, lanes<std::uint32_t, W> u, lane_mask<W> m, word_source& source,
             word_sink& sink) {
      requires W::width == 32 && W::chains >= 1;
      {
        w.lane()
      } -> std::same_as<lanes<std::uint32_t, W>>;
      {
        w.template load<float>(p)
      } -> std::same_as<lanes<float, W>>;
      {
        w.template load_n<float>(p, 7, 0.0f)
      } -> std::same_as<lanes<float, W>>;
      w.store(q, x);
      w.store_n(q, 7, x);
      {
        w.template gather<std::uint32_t>(s, u)
      } -> std::same_as<lanes<std::uint32_t, W>>;
      w.gather_pair(s, u, u, u);
      w.scatter(s, u, u, m);
      w.scatter_distinct(s, u, u, m);
      {
        w.shuffle(x, u)
      } -> std::same_as<lanes<float, W>>;
      {
        w.shuffle_xor(x, 1)
      } -> std::same_as<lanes<float, W>>;
      {
        w.butterfly(x, 1)
      } -> std::same_as<lanes<float, W>>;
      {
        w.broadcast(x, 0)
      } -> std::same_as<float>;
      {
        w.ballot(m)
      } -> std::same_as<std::uint32_t>;
      {
        w.any(m)
      } -> std::same_as<bool>;
      {
        w.sum(x)
      } -> std::same_as<float>;
      {
        w.prefix_sum(u)
      } -> std::same_as<lanes<std::uint32_t, W>>;
      {
        w.take_next(source, m)
      } -> std::same_as<lanes<std::uint32_t, W>>;
      w.put_before(sink, u, m);
      w.sync();
    };

/// Contexts that run on the CPU. Bulk host entries accept no others.
template <class W>
concept host_context = warp_context<W> && W::is_host;

/// Those whose scratch is plain memory, so that a call may take a shortcut past the lanes. audit_warp is none of them:
/// it runs what a kernel runs.
template <class W>
concept unchecked_host_context =
    host_context<W> && std::same_as<typename W::template shared<std::uint32_t>, std::uint32_t>;

}  // namespace sora2
