// All the ways a codec runs on this machine, for tests that compare them.
// Smallest use: `support::on_all_warps([&](auto const& w) { ... });`.
#pragma once

#include <sora2/simt/dispatch.hpp>

namespace support {

/// A host warp that takes no host shortcuts: it runs what a kernel runs, and meets host-only codecs like one.
struct plain_lanes;

}  // namespace support

template <>
inline constexpr bool sora2::detail::has_vector_lanes<support::plain_lanes> = true;

namespace support {

struct plain_lanes : sora2::detail::vector_warp<plain_lanes> {
  static constexpr bool is_host = false;
};
static_assert(sora2::warp_context<plain_lanes> && !sora2::host_context<plain_lanes>);

/// Calls f(warp) with the host warp, those of wider instruction sets that this CPU has, and plain_lanes.
template <class F>
void on_all_warps(F&& f)
{
  for (sora2::isa set : {sora2::isa::portable, sora2::isa::avx2, sora2::isa::avx512})
    if (set <= sora2::best_isa()) sora2::with_warp(set, f);
  f(plain_lanes{});
}

}  // namespace support
