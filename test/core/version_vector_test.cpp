#include <sora2/core/version_vector.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

using namespace sora2;

namespace {

using vector = version_vector<4>;
using parts = std::initializer_list<vector::part>;

vector of(parts all)
{
  vector v;
  for (auto const& p : all) REQUIRE(v.set(p.source, p.version) == status::ok);
  return v;
}

constexpr std::uint32_t a = 1, b = 2, c = 3;

static_assert(std::is_trivially_copyable_v<vector>);
static_assert([] {
  vector x, y;
  bool const stored = x.set(a, 2) == status::ok && y.set(b, 1) == status::ok;
  return stored && x.compare(y) == version_order::concurrent;
}());

}  // namespace

TEST_SUITE("core/version_vector") {
  TEST_CASE("order and merge of the listed cases")
  {
    std::uint64_t const last = std::numeric_limits<std::uint64_t>::max();
    struct {
      parts x, y;
      version_order order;
      parts merged;
    } const cases[] = {
        {{}, {}, version_order::equal, {}},
        {{{0, a}}, {}, version_order::equal, {}},
        {{{1, a}}, {}, version_order::after, {{1, a}}},
        {{}, {{3, b}}, version_order::before, {{3, b}}},
        {{{1, a}, {2, b}}, {{1, a}, {2, b}}, version_order::equal, {{1, a}, {2, b}}},
        {{{2, a}, {1, b}}, {{1, a}, {2, b}}, version_order::concurrent, {{2, a}, {2, b}}},
        {{{1, a}}, {{1, a}, {0, b}}, version_order::equal, {{1, a}}},
        {{{1, a}, {5, c}},
         {{2, a}, {1, b}, {5, c}},
         version_order::before,
         {{2, a}, {1, b}, {5, c}}},
        {{{last, a}}, {{0, a}}, version_order::after, {{last, a}}},
        {{{3, a}}, {{3, b}}, version_order::concurrent, {{3, a}, {3, b}}},
    };
    for (auto const& each : cases) {
      vector const x = of(each.x), y = of(each.y);
      CHECK(x.compare(y) == each.order);
      version_order const back = each.order == version_order::before  ? version_order::after
                                 : each.order == version_order::after ? version_order::before
                                                                      : each.order;
      CHECK(y.compare(x) == back);
      vector m = x, n = y;
      CHECK(m.merge(y) == status::ok);
      CHECK(n.merge(x) == status::ok);
      CHECK(m == of(each.merged));
      CHECK(n == m);
      CHECK(m.size() == each.merged.size());
    }
  }

  TEST_CASE("parts lie in rising order of sources, whatever order they came in")
  {
    vector const v = of({{7, 30}, {5, 10}, {6, 20}, {8, 25}});
    REQUIRE(v.size() == 4);
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      CHECK(v[i].source > before);
      CHECK(v.version(v[i].source) == v[i].version);
      before = v[i].source;
    }
    CHECK(v.version(20) == 6);
    CHECK(v.version(21) == 0);
  }

  TEST_CASE("one source too many is refused and changes nothing; version 0 makes room")
  {
    vector v = of({{1, 1}, {2, 2}, {3, 3}, {4, 4}});
    vector const before = v;
    CHECK(v.set(5, 1) == status::unsupported);
    CHECK(v.set(5, 0) == status::ok);
    CHECK(v.merge(of({{9, 1}, {1, 9}})) == status::unsupported);
    CHECK(v == before);
    CHECK(v.version(1) == 1);
    CHECK(v.set(2, 0) == status::ok);
    CHECK(v.set(5, 1) == status::ok);
    CHECK(v == of({{1, 1}, {3, 3}, {4, 4}, {1, 5}}));
  }
}
