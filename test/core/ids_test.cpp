#include <sora2/core/ids.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using sora2::format_id;

namespace {

static_assert(format_id{}.mix("lz4").value == format_id{}.mix("lz4").value);
static_assert(!(format_id{}.mix("lz4") == format_id{}.mix("lz5")));
// Names are closed off, so that "ab" + "c" and "a" + "bc" differ.
static_assert(!(format_id{}.mix("ab").mix("c") == format_id{}.mix("a").mix("bc")));
// Part of the format: this value may never change.
static_assert(format_id{}.mix("sora2").mix(1u).value == 0x99FE1229u);

}  // namespace

TEST_SUITE("core/ids") {
  TEST_CASE("ids of many configurations differ")
  {
    std::set<std::uint32_t> seen;
    for (std::uint32_t a = 0; a < 200; ++a)
      for (std::uint32_t b = 0; b < 50; ++b)
        seen.insert(format_id{}.mix("quantize").mix(a).mix(b).value);
    CHECK(seen.size() == 10000);
  }

  TEST_CASE("levels have the protocol's names")
  {
    CHECK(std::string{sora2::level_name(sora2::level::registers)} == "L1");
    CHECK(std::string{sora2::level_name(sora2::level::raw)} == "raw");
    CHECK(std::string{sora2::level_name(static_cast<sora2::level>(9))} == "unknown");
  }

  TEST_CASE("pages sort by sequence, layer, index")
  {
    CHECK(sora2::page_id{1, 2, 3} < sora2::page_id{1, 2, 4});
    CHECK(sora2::page_id{1, 9, 9} < sora2::page_id{2, 0, 0});
    CHECK(sora2::page_id{1, 2, 3} == sora2::page_id{1, 2, 3});
  }
}
