#include <sora2/core/version.hpp>

#include <doctest/doctest.h>

static_assert(SORA2_VERSION ==
              SORA2_VERSION_MAJOR * 10000 + SORA2_VERSION_MINOR * 100 + SORA2_VERSION_PATCH);

TEST_SUITE("core/version") {
  TEST_CASE("the format version is what the golden streams were written with")
  {
    CHECK(SORA2_FORMAT_VERSION == 1);
  }
}
