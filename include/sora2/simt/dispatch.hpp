/// Runs host work on the widest warp this CPU has, chosen at run time inside plain headers.
/// Smallest use: `auto const s = with_best_warp([&](auto const& w) -> status { return Codec::decode(w, scratch, in, out); });`.
/// Limits: host only. In a .cu file the function object names its return type, as above. The function object's body must be inlinable (codec members carry SORA2_INLINE), since the
/// instruction set is that of the entry it is inlined into. Blocks the caller; safe from any thread.
#pragma once

#include <cstdint>

#include <sora2/core/macros.hpp>
#include <sora2/simt/avx2_warp.hpp>
#include <sora2/simt/avx512_warp.hpp>
#include <sora2/simt/host_warp.hpp>

namespace sora2 {

/// Instruction sets the host backends are written for, in rising order.
enum class isa : std::uint8_t { portable, avx2, avx512 };

[[nodiscard]] constexpr char const* isa_name(isa set)
{
  return set == isa::avx512 ? "avx512" : set == isa::avx2 ? "avx2" : "portable";
}

/// The widest set that CPU and operating system support; asked once.
[[nodiscard]] inline isa best_isa()
{
#if defined(__x86_64__)
  static isa const best = [] {
    __builtin_cpu_init();
    bool const avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                      __builtin_cpu_supports("fma");
    bool const avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    return avx512 ? isa::avx512 : avx2 ? isa::avx2 : isa::portable;
  }();
  return best;
#else
  return isa::portable;
#endif
}

namespace detail {

#if SORA2_ON_DEVICE
/// Stands for host work in the compiler pass that makes code for the GPU. It would refuse the vectors that host lanes
/// consist of, wherever a two-sided function meets them, and no host function's code comes from that pass.
template <class Result>
inline Result only_on_host()
{
  __builtin_trap();
}
#elif !defined(__x86_64__)
template <class F>
SORA2_FLATTEN inline auto run_portable(F&& f)
{
  return f(host_warp{});
}
#else
/// Few machines get here: it is left to the compiler what to inline, for the sake of compile time.
template <class F>
inline auto run_portable(F&& f)
{
  return f(host_warp{});
}
template <class F>
SORA2_FLATTEN_AVX512 inline auto run_avx512(F&& f)
{
  return f(avx512_warp{});
}
template <class F>
SORA2_FLATTEN_AVX2 inline auto run_avx2(F&& f)
{
  return f(avx2_warp{});
}
#endif

}  // namespace detail

/// Runs `f(warp)` with the warp of the named set. `set` must be supported here (`set <= best_isa()`).
template <class F>
inline auto with_warp(isa set, F&& f)
{
#if SORA2_ON_DEVICE
  static_cast<void>(set);
  return detail::only_on_host<decltype(f(host_warp{}))>();
#else
#if defined(__x86_64__)
  if (set == isa::avx512) return detail::run_avx512(f);
  if (set == isa::avx2) return detail::run_avx2(f);
#endif
  static_cast<void>(set);
  return detail::run_portable(f);
#endif
}

/// The same with host_warp, compiled for it alone.
template <class F>
inline auto with_host_warp(F&& f)
{
#if SORA2_ON_DEVICE
  return detail::only_on_host<decltype(f(host_warp{}))>();
#else
  return detail::run_portable(f);
#endif
}

template <class F>
inline auto with_best_warp(F&& f)
{
  return with_warp(best_isa(), f);
}

}  // namespace sora2
