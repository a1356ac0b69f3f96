#include <sora2/core/result.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

using sora2::result;
using sora2::status;

namespace {

constexpr result<int> half(int x)
{
  if (x % 2 != 0) return status::unsupported;
  return x / 2;
}
static_assert(half(8) && *half(8) == 4);
static_assert(!half(7) && half(7).error() == status::unsupported);
static_assert(std::is_trivially_copyable_v<result<int>>);

}  // namespace

TEST_SUITE("core/result") {
  TEST_CASE("a value comes with status ok, an error without value")
  {
    CHECK(half(4).has_value());
    CHECK(half(4).error() == status::ok);
    CHECK(half(4).value() == 2);
    CHECK(half(3).value_or(9) == 9);
    CHECK(half(4).value_or(9) == 2);
  }

  TEST_CASE("value() of an error throws the status")
  {
    try {
      static_cast<void>(half(5).value());
      FAIL("no exception");
    } catch (sora2::error const& e) {
      CHECK(e.code() == status::unsupported);
      CHECK(std::string{e.what()} == "unsupported");
    }
  }

  TEST_CASE("move-only values move out")
  {
    result<std::unique_ptr<int>> r(std::make_unique<int>(5));
    CHECK(**r == 5);
    std::unique_ptr<int> const p = *std::move(r);
    CHECK(*p == 5);
  }

  TEST_CASE("members are reached through the arrow")
  {
    result<std::string> r(std::string("abc"));
    CHECK(r->size() == 3);
  }
}
