#include <sora2/core/status.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

TEST_SUITE("core/status") {
  TEST_CASE("every status has its own name")
  {
    std::set<std::string> names;
    int const count = static_cast<int>(sora2::status::cuda_failure) + 1;
    for (int i = 0; i < count; ++i) names.insert(sora2::status_name(static_cast<sora2::status>(i)));
    CHECK(static_cast<int>(names.size()) == count);
    CHECK(names.count("unknown") == 0);
    CHECK(std::string{sora2::status_name(static_cast<sora2::status>(250))} == "unknown");
    CHECK(std::string{sora2::status_name(sora2::status::corrupt_input)} == "corrupt_input");
  }

  TEST_CASE("it is one byte") { static_assert(sizeof(sora2::status) == 1); }
}
