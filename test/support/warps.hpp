// All the ways a codec runs on this machine, for tests that compare them.
// Smallest use: `support::on_all_warps([&](auto const& w) { ... });`.
#pragma once

#include <doctest/doctest.h>

#include <sora2/simt/audit_warp.hpp>
#include <sora2/simt/dispatch.hpp>

namespace support {

/// Calls f(warp) with the warp that watches memory, and checks that it saw nothing wrong.
template <class F>
void on_audit_warp(F&& f)
{
  sora2::audit_log log;
  f(sora2::audit_warp{log});
  for (auto const& fault : log.records()) FAIL_CHECK(sora2::audit_fault_name(fault.what));
  CHECK(log.count() == 0);
}

/// Calls f(warp) with the host warp, with those of wider instruction sets that this CPU has, and with audit_warp.
template <class F>
void on_all_warps(F&& f)
{
  for (sora2::isa set : {sora2::isa::portable, sora2::isa::avx2, sora2::isa::avx512})
    if (set <= sora2::best_isa()) sora2::with_warp(set, f);
  on_audit_warp(f);
}

/// A host warp that says it is none: it runs what a kernel runs, and meets host-only codecs like one.
struct kernel_like_warp;

}  // namespace support

template <>
inline constexpr bool sora2::detail::has_vector_lanes<support::kernel_like_warp> = true;

namespace support {

struct kernel_like_warp : sora2::detail::vector_warp<kernel_like_warp> {
  static constexpr bool is_host = false;
};
static_assert(sora2::warp_context<kernel_like_warp> && !sora2::host_context<kernel_like_warp>);

}  // namespace support
