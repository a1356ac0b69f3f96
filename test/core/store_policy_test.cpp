#include <sora2/core/store_policy.hpp>

#include <doctest/doctest.h>

using namespace sora2;

namespace {

struct forgets_to_flush {
  status put(view<std::byte const>, view<std::byte const>) { return status::ok; }
  status erase(view<std::byte const>) { return status::ok; }
  template <class Take>
  status read(view<std::byte const>, Take&&)
  {
    return status::not_found;
  }
};
static_assert(!store_policy<forgets_to_flush>);

}  // namespace

TEST_SUITE("core/store_policy") {
  TEST_CASE("no_store keeps nothing and says so")
  {
    no_store none;
    std::byte const bytes[4]{};
    CHECK(none.put({bytes, 4}, {bytes, 4}) == status::unsupported);
    bool called = false;
    CHECK(none.read({bytes, 4}, [&](view<std::byte const>) { called = true; }) ==
          status::not_found);
    CHECK_FALSE(called);
    CHECK(none.erase({bytes, 4}) == status::ok);
    CHECK(none.flush() == status::ok);
  }
}
