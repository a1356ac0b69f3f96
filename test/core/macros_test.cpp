#include <sora2/core/macros.hpp>

#include <doctest/doctest.h>

namespace {

SORA2_HD constexpr int twice(int x) { return 2 * x; }
SORA2_TWO_SIDED
template <class T>
SORA2_HD SORA2_INLINE T thrice(T x)
{
  return 3 * x;
}

}  // namespace

TEST_SUITE("core/macros") {
  TEST_CASE("two-sided functions are ordinary functions on the host")
  {
    CHECK(twice(4) == 8);
    CHECK(thrice(4) == 12);
    CHECK(SORA2_ON_DEVICE == 0);
    SORA2_EXPECTS(twice(1) == 2);
  }
}
