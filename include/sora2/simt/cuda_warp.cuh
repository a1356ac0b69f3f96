/// A warp of 32 lanes as 32 threads of a CUDA kernel.
/// Smallest use, in a kernel: `sora2::cuda_warp const w; w.store(q, w.load<float>(p) * 2.0f);`.
/// Limits: device only. All 32 threads of the warp make every call, in the same order and with the same scalars;
/// typed addresses are aligned as their type. Needs sm_70 or newer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/detail/elements.hpp>
#include <sora2/simt/lanes.hpp>

#if !defined(__CUDACC__)
#error "sora2/simt/cuda_warp.cuh needs nvcc (or another CUDA compiler)"
#endif

namespace sora2 {

struct cuda_warp;

template <>
struct lane_mask<cuda_warp> {
  bool value;

  operator bool() const = delete;
  __device__ friend lane_mask operator&(lane_mask x, lane_mask y) { return {x.value && y.value}; }
  __device__ friend lane_mask operator|(lane_mask x, lane_mask y) { return {x.value || y.value}; }
  __device__ friend lane_mask operator^(lane_mask x, lane_mask y) { return {x.value != y.value}; }
  __device__ friend lane_mask operator~(lane_mask x) { return {!x.value}; }
};

template <lane_type T>
struct lanes<T, cuda_warp> {
  T value;

  lanes() = default;
  __device__ lanes(T x) : value(x) {}

  /// Never fused with an addition around it, whatever the compiler's contraction setting.
  __device__ friend lanes operator*(lanes x, lanes y)
  {
    if constexpr (std::is_same_v<T, float>)
      return __fmul_rn(x.value, y.value);
    else
      return static_cast<T>(static_cast<wide>(x.value) * static_cast<wide>(y.value));
  }
  /// Correctly rounded.
  __device__ friend lanes operator/(lanes x, lanes y)
    requires std::is_same_v<T, float>
  {
    return __fdiv_rn(x.value, y.value);
  }

#define SORA2_LANES_BINARY(op)                                                       \
  __device__ friend lanes operator op(lanes x, lanes y)                              \
  {                                                                                  \
    return static_cast<T>(static_cast<wide>(x.value) op static_cast<wide>(y.value)); \
  }
#define SORA2_LANES_BITWISE(op)                         \
  __device__ friend lanes operator op(lanes x, lanes y) \
    requires(!std::is_same_v<T, float>)                 \
  {                                                     \
    return static_cast<T>(x.value op y.value);          \
  }
#define SORA2_LANES_COMPARE(op)                                        \
  __device__ friend lane_mask<cuda_warp> operator op(lanes x, lanes y) \
  {                                                                    \
    return {x.value op y.value};                                       \
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
#undef SORA2_LANES_BITWISE
#undef SORA2_LANES_COMPARE

  __device__ friend lanes operator-(lanes x)
  {
    if constexpr (std::is_same_v<T, float>)
      return -x.value;
    else
      return static_cast<T>(0u - static_cast<wide>(x.value));
  }
  __device__ friend lanes operator~(lanes x)
    requires(!std::is_same_v<T, float>)
  {
    return static_cast<T>(~x.value);
  }
  /// Shifts by a uniform count or per lane, 0..31; arithmetic for signed lanes.
  __device__ friend lanes operator<<(lanes x, int n)
    requires(!std::is_same_v<T, float>)
  {
    return static_cast<T>(static_cast<wide>(x.value) << n);
  }
  __device__ friend lanes operator>>(lanes x, int n)
    requires(!std::is_same_v<T, float>)
  {
    return static_cast<T>(x.value >> n);
  }
  __device__ friend lanes operator<<(lanes x, lanes<std::uint32_t, cuda_warp> n)
    requires(!std::is_same_v<T, float>)
  {
    return static_cast<T>(static_cast<wide>(x.value) << n.value);
  }
  __device__ friend lanes operator>>(lanes x, lanes<std::uint32_t, cuda_warp> n)
    requires(!std::is_same_v<T, float>)
  {
    return static_cast<T>(x.value >> n.value);
  }

 private:
  using wide = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
};

template <class T>
__device__ lanes<T, cuda_warp> select(lane_mask<cuda_warp> m, lanes<T, cuda_warp> x,
                                      lanes<T, cuda_warp> y)
{
  return m.value ? x : y;
}
/// Value of an integer as float, rounded to nearest.
template <class T>
  requires(!std::is_same_v<T, float>)
__device__ lanes<float, cuda_warp> to_lanes_float(lanes<T, cuda_warp> x)
{
  return static_cast<float>(x.value);
}
/// To nearest, ties to even.
__device__ inline lanes<std::int32_t, cuda_warp> round_to_int(lanes<float, cuda_warp> x)
{
  return __float2int_rn(x.value);
}
__device__ inline lanes<std::uint32_t, cuda_warp> mul_hi(lanes<std::uint32_t, cuda_warp> x,
                                                         lanes<std::uint32_t, cuda_warp> y)
{
  return __umulhi(x.value, y.value);
}
/// x * y + z with one rounding.
__device__ inline lanes<float, cuda_warp> fma(lanes<float, cuda_warp> x, lanes<float, cuda_warp> y,
                                              lanes<float, cuda_warp> z)
{
  return __fmaf_rn(x.value, y.value, z.value);
}

struct cuda_warp {
  static constexpr int width = 32;
  static constexpr bool is_host = false;
  static constexpr int chains = 2;
  template <class T>
  using shared = T;

  using uints = lanes<std::uint32_t, cuda_warp>;
  using mask = lane_mask<cuda_warp>;

  [[nodiscard]] __device__ uints lane() const
  {
    std::uint32_t i;
    asm("mov.u32 %0, %%laneid;" : "=r"(i));
    return i;
  }

  template <lane_type T, class U>
  [[nodiscard]] __device__ lanes<T, cuda_warp> load(U const* p) const
  {
    return read<T>(p + lane().value);
  }
  template <lane_type T, class U>
  [[nodiscard]] __device__ lanes<T, cuda_warp> load_n(U const* p, std::uint32_t n,
                                                      std::type_identity_t<T> fill) const
  {
    std::uint32_t const i = lane().value;
    return i < n ? read<T>(p + i) : fill;
  }
  template <class U, class T>
  __device__ void store(U* p, lanes<T, cuda_warp> x) const
  {
    write(p + lane().value, x.value);
  }
  template <class U, class T>
  __device__ void store_n(U* p, std::uint32_t n, lanes<T, cuda_warp> x) const
  {
    std::uint32_t const i = lane().value;
    if (i < n) write(p + i, x.value);
  }

  template <lane_type T, class U>
  [[nodiscard]] __device__ lanes<T, cuda_warp> gather(U const* p, uints at) const
  {
    return read<T>(p + at.value);
  }
  /// Lanes outside the mask get `fill` and touch no memory.
  template <lane_type T, class U>
  [[nodiscard]] __device__ lanes<T, cuda_warp> gather(U const* p, uints at, mask chosen,
                                                      std::type_identity_t<T> fill) const
  {
    return chosen.value ? read<T>(p + at.value) : fill;
  }
  /// Elements 2 * at and 2 * at + 1.
  template <class U>
  __device__ void gather_pair(U const* p, uints at, uints& first, uints& second) const
  {
    first = read<std::uint32_t>(p + 2 * at.value);
    second = read<std::uint32_t>(p + 2 * at.value + 1);
  }
  /// Where several lanes name one place, the highest lane's value stays. Costs a match over the warp.
  template <class U, class T>
  __device__ void scatter(U* p, uints at, lanes<T, cuda_warp> x, mask chosen) const
  {
    std::uint32_t const writers = ballot(chosen);
    if (chosen.value) {
      std::uint32_t const same_place = __match_any_sync(writers, at.value);
      if (static_cast<std::uint32_t>(31 - __clz(static_cast<int>(same_place))) == lane().value)
        write(p + at.value, x.value);
    }
  }
  /// The chosen lanes name different places.
  template <class U, class T>
  __device__ void scatter_distinct(U* p, uints at, lanes<T, cuda_warp> x, mask chosen) const
  {
    if (chosen.value) write(p + at.value, x.value);
  }

  template <class T>
  [[nodiscard]] __device__ lanes<T, cuda_warp> shuffle(lanes<T, cuda_warp> x, uints from) const
  {
    return __shfl_sync(every, x.value, static_cast<int>(from.value));
  }
  /// Lane i gets the value of lane i ^ bits; `bits` is uniform, 0..31.
  template <class T>
  [[nodiscard]] __device__ lanes<T, cuda_warp> shuffle_xor(lanes<T, cuda_warp> x, int bits) const
  {
    return __shfl_xor_sync(every, x.value, bits);
  }
  /// Lanes i and i + bits: the lower gets the sum of both, the upper the lower minus the upper. `bits` is uniform: 1, 2, 4, 8, 16.
  [[nodiscard]] __device__ lanes<float, cuda_warp> butterfly(lanes<float, cuda_warp> x,
                                                             int bits) const
  {
    float const y = __shfl_xor_sync(every, x.value, bits);
    return (lane().value & static_cast<std::uint32_t>(bits)) == 0 ? x.value + y : y - x.value;
  }
  template <class T>
  [[nodiscard]] __device__ T broadcast(lanes<T, cuda_warp> x, int from) const
  {
    return __shfl_sync(every, x.value, from);
  }

  [[nodiscard]] __device__ std::uint32_t ballot(mask m) const
  {
    return __ballot_sync(every, m.value);
  }
  [[nodiscard]] __device__ bool any(mask m) const { return __any_sync(every, m.value) != 0; }
  [[nodiscard]] __device__ bool all(mask m) const { return __all_sync(every, m.value) != 0; }

  /// Butterfly over distances 16, 8, 4, 2, 1: the same float result on every machine.
  template <class T>
  [[nodiscard]] __device__ T sum(lanes<T, cuda_warp> x) const
  {
    SORA2_UNROLL
    for (int bits = 16; bits > 0; bits >>= 1) x = x + shuffle_xor(x, bits);
    return x.value;
  }
  template <class T>
  [[nodiscard]] __device__ T greatest_of(lanes<T, cuda_warp> x) const
  {
    SORA2_UNROLL
    for (int bits = 16; bits > 0; bits >>= 1) x = sora2::greatest(x, shuffle_xor(x, bits));
    return same_in_all(x);
  }
  template <class T>
  [[nodiscard]] __device__ T least_of(lanes<T, cuda_warp> x) const
  {
    SORA2_UNROLL
    for (int bits = 16; bits > 0; bits >>= 1) x = sora2::least(x, shuffle_xor(x, bits));
    return same_in_all(x);
  }
  /// Exclusive; integers only, since the order of additions differs from machine to machine.
  template <class T>
    requires(!std::is_same_v<T, float>)
  [[nodiscard]] __device__ lanes<T, cuda_warp> prefix_sum(lanes<T, cuda_warp> x) const
  {
    std::uint32_t const i = lane().value;
    std::uint32_t total = static_cast<std::uint32_t>(x.value);
    SORA2_UNROLL
    for (std::uint32_t distance = 1; distance < 32; distance *= 2) {
      std::uint32_t const below = __shfl_up_sync(every, total, distance);
      total += i >= distance ? below : 0;
    }
    return static_cast<T>(total - static_cast<std::uint32_t>(x.value));
  }

  /// Lane i gets the highest lane below i with the same value, or 32 where there is none.
  [[nodiscard]] __device__ uints previous_equal(uints x) const
  {
    std::uint32_t const same = __match_any_sync(every, x.value) & below_me();
    return same == 0 ? 32u : static_cast<std::uint32_t>(31 - __clz(static_cast<int>(same)));
  }

  [[nodiscard]] __device__ uints take_next(word_source& source, mask need) const
  {
    std::uint32_t const bits = ballot(need), count = static_cast<std::uint32_t>(__popc(bits));
    std::uint32_t const rank = static_cast<std::uint32_t>(__popc(bits & below_me()));
    std::ptrdiff_t const left = (source.end - source.next) / 2;
    std::uint32_t const take = count <= left ? count : static_cast<std::uint32_t>(left);
    std::uint32_t x = 0;
    if (need.value && rank < take) x = read_word(source.next + 2 * rank);
    source.next += 2 * take;
    source.overrun = source.overrun || take < count;
    return x;
  }
  __device__ void put_before(word_sink& sink, uints x, mask chosen) const
  {
    std::uint32_t const bits = ballot(chosen);
    std::ptrdiff_t const bytes = 2 * __popc(bits);
    if (sink.overrun || sink.next - sink.begin < bytes) {
      sink.overrun = true;
      return;
    }
    sink.next -= bytes;
    if (chosen.value) write_word(sink.next + 2 * __popc(bits & below_me()), x.value);
  }

  /// Lane 0 writes.
  template <class U, class T>
  __device__ void store_one(U* p, T x) const
  {
    if (lane().value != 0) return;
    if constexpr (std::is_same_v<U, T>)
      *p = x;
    else
      write(p, x);
  }
  /// All lanes read the same element.
  template <class U>
  [[nodiscard]] __device__ U load_one(U const* p) const
  {
    return *p;
  }
  /// Disjoint bytes; in 16-byte steps where both addresses allow it.
  __device__ void copy(std::byte* to, std::byte const* from, std::size_t bytes) const
  {
    std::size_t done = 0;
    if (((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) & 15u) ==
        0) {
      for (std::size_t i = 16 * lane().value; i + 16 <= bytes; i += 16 * 32)
        *reinterpret_cast<uint4*>(to + i) = *reinterpret_cast<uint4 const*>(from + i);
      done = bytes & ~std::size_t{15};
    }
    for (std::size_t i = done + lane().value; i < bytes; i += 32) to[i] = from[i];
  }
  __device__ void sync() const { __syncwarp(); }

 private:
  static constexpr unsigned every = 0xFFFFFFFFu;

  __device__ static std::uint32_t below_me()
  {
    std::uint32_t m;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
    return m;
  }
  /// Zeros of both signs and NaNs compare in ways that depend on the lane: lane 0 decides.
  template <class T>
  __device__ T same_in_all(lanes<T, cuda_warp> x) const
  {
    if constexpr (std::is_same_v<T, float>)
      return broadcast(x, 0);
    else
      return x.value;
  }

  template <class T, class U>
    requires detail::loadable<T, U>
  __device__ static T read(U const* p)
  {
    if constexpr (std::is_same_v<U, float16>) {
      float16 const h = *p;
      float x;
      asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h.bits));
      // The instruction may drop a NaN's payload.
      return (h.bits & 0x7FFFu) > 0x7C00u ? to_float(h) : x;
    } else
      return detail::load_element<T>(p);
  }
  template <class U, class T>
    requires detail::storable<T, U>
  __device__ static void write(U* p, T x)
  {
    if constexpr (std::is_same_v<U, float16>) {
      std::uint16_t bits;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
      *p = x == x ? float16{bits} : to_float16(x);
    } else
      detail::store_element(p, x);
  }
  /// Little-endian words at any address.
  __device__ static std::uint32_t read_word(std::byte const* p)
  {
    if ((reinterpret_cast<std::uintptr_t>(p) & 1u) == 0)
      return *reinterpret_cast<std::uint16_t const*>(p);
    return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8;
  }
  __device__ static void write_word(std::byte* p, std::uint32_t x)
  {
    if ((reinterpret_cast<std::uintptr_t>(p) & 1u) == 0)
      *reinterpret_cast<std::uint16_t*>(p) = static_cast<std::uint16_t>(x);
    else {
      p[0] = static_cast<std::byte>(x);
      p[1] = static_cast<std::byte>(x >> 8);
    }
  }
};

static_assert(warp_context<cuda_warp> && !host_context<cuda_warp>);

}  // namespace sora2
