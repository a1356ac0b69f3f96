#include <sora2/core/view.hpp>

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <vector>

using sora2::as_bytes;
using sora2::tile;
using sora2::view;

static_assert(!std::is_constructible_v<view<float>, view<float const>>, "const is never cast away");
static_assert(!std::is_constructible_v<view<int>, std::vector<int> const&>);
static_assert(!std::is_constructible_v<tile<float>, tile<float const>>);

TEST_SUITE("core/view") {
  TEST_CASE("a view comes from a pointer, a vector or an array")
  {
    std::vector<int> v{1, 2, 3};
    std::array<int, 2> const a{7, 8};
    view<int> const from_vector = v;
    view<int const> const from_array = a;
    view<int const> const constant = from_vector;
    CHECK(from_vector.size == 3);
    CHECK(from_array[1] == 8);
    CHECK(constant.data == v.data());
    CHECK(from_vector.bytes() == 12);
    CHECK(std::accumulate(constant.begin(), constant.end(), 0) == 6);
  }

  TEST_CASE("parts of a view")
  {
    std::vector<int> v{1, 2, 3, 4};
    view<int> const all = v;
    CHECK(all.sub(1, 2).size == 2);
    CHECK(all.sub(1, 2)[0] == 2);
    CHECK(all.from(4).empty());
    CHECK(all.from(3)[0] == 4);
  }

  TEST_CASE("nothing is a view too")
  {
    view<int> const none;
    CHECK(none.empty());
    CHECK(as_bytes(none).size == 0);
    CHECK(none.from(0).empty());
  }

  TEST_CASE("a tile addresses [plane][row][column]")
  {
    std::vector<int> v(2 * 3 * 4);
    std::iota(v.begin(), v.end(), 0);
    tile<int> const t{v.data(), 2, 3, 4};
    CHECK(t.size() == 24);
    CHECK(t.row(1, 2)[3] == 23);
    CHECK(t.dense());
    CHECK(as_bytes(t).size == 96);
  }

  TEST_CASE("leaving out the first rows keeps the planes apart")
  {
    std::vector<int> v(2 * 3 * 4);
    std::iota(v.begin(), v.end(), 0);
    tile<int const> const t = tile<int>{v.data(), 2, 3, 4}.rows_from(2);
    CHECK(t.size() == 8);
    CHECK(t.row(0, 0)[0] == 8);
    CHECK(t.row(1, 0)[0] == 20);
    CHECK(!t.dense());
    CHECK(t.rows_from(1).size() == 0);
    CHECK(tile<int>{}.rows_from(0).size() == 0);
  }

  TEST_CASE("offsets do not wrap at 32 bits")
  {
    std::uint32_t const rows = 1u << 20, columns = 1u << 14;
    tile<char> t{nullptr, 3, rows, columns};
    CHECK(t.size() == std::size_t{3} << 34);
    CHECK(t.plane_stride == std::size_t{1} << 34);
  }
}
