#include <sora2/simt/host_warp.hpp>

#include <doctest/doctest.h>

#include "support/warp_checks.hpp"

static_assert(sora2::host_context<sora2::host_warp> &&
              sora2::unchecked_host_context<sora2::host_warp>);

TEST_SUITE("simt/host_warp") {
  TEST_CASE("every operation gives what plain loops give")
  {
    support::check_warp([](auto&& f) { f(sora2::host_warp{}); });
  }
}
