#include <sora2/simt/avx512_warp.hpp>

#include <doctest/doctest.h>

#include <sora2/simt/dispatch.hpp>

#include "support/warp_checks.hpp"

#if defined(__x86_64__)
static_assert(sora2::unchecked_host_context<sora2::avx512_warp>);
#endif

TEST_SUITE("simt/avx512_warp") {
  TEST_CASE("every operation gives what plain loops give")
  {
    if (sora2::best_isa() < sora2::isa::avx512) {
      MESSAGE("this CPU has no AVX512: skipped");
      return;
    }
    support::check_warp([](auto&& f) { sora2::with_warp(sora2::isa::avx512, f); });
  }
}
