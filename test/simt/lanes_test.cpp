#include <sora2/simt/lanes.hpp>

#include <doctest/doctest.h>

#include <vector>

#include <sora2/simt/audit_warp.hpp>
#include <sora2/simt/dispatch.hpp>

using sora2::lanes;

namespace {

struct no_warp {};

// Of the operations a warp needs these take part in the concept; the tests of each warp try them all.
static_assert(sora2::warp_context<sora2::host_warp> && sora2::warp_context<sora2::audit_warp>);
static_assert(!sora2::warp_context<no_warp> && !sora2::warp_context<int>);
static_assert(sora2::lane_type<float> && sora2::lane_type<std::int32_t> &&
              !sora2::lane_type<double> && !sora2::lane_type<std::uint8_t> &&
              !sora2::lane_type<bool>);

// Lanes never turn into scalars or conditions by themselves.
using host_lanes = lanes<float, sora2::host_warp>;
using host_mask = sora2::lane_mask<sora2::host_warp>;
static_assert(std::is_convertible_v<float, host_lanes> &&
              !std::is_convertible_v<host_lanes, float>);
static_assert(!std::is_convertible_v<host_mask, bool> && !std::is_constructible_v<bool, host_mask>);
static_assert(std::is_trivially_copyable_v<host_lanes> &&
              std::is_trivially_default_constructible_v<host_lanes>);
static_assert(sizeof(host_lanes) == 128);

// Integers do not load from floats, floats do not store as integers: conversions are written out.
static_assert(sora2::detail::loadable<float, std::uint8_t> &&
              sora2::detail::loadable<float, sora2::float16>);
static_assert(!sora2::detail::loadable<std::uint32_t, float> &&
              !sora2::detail::loadable<std::int32_t, sora2::float16>);
static_assert(sora2::detail::storable<float, sora2::bfloat16> &&
              sora2::detail::storable<std::int32_t, std::byte>);
static_assert(!sora2::detail::storable<float, std::uint8_t> &&
              !sora2::detail::storable<std::uint32_t, float>);
static_assert(!sora2::detail::loadable<std::uint32_t, bool> &&
              !sora2::detail::loadable<std::uint32_t, std::uint64_t>);

}  // namespace

TEST_SUITE("simt/lanes") {
  TEST_CASE("sources and sinks start at the ends of their views")
  {
    std::vector<std::byte> bytes(10);
    sora2::word_source const source{sora2::view<std::byte const>(bytes)};
    CHECK(source.next == bytes.data());
    CHECK(source.end == bytes.data() + 10);
    CHECK(!source.overrun);
    sora2::word_sink const sink{sora2::view<std::byte>(bytes)};
    CHECK(sink.next == bytes.data() + 10);
    CHECK(sink.begin == bytes.data());
    CHECK(!sink.overrun);
  }

  TEST_CASE("an empty source gives zeros and says so, once and for all")
  {
    sora2::word_source source;
    sora2::host_warp const w;
    CHECK(w.sum(w.take_next(source, w.lane() == 3u)) == 0);
    CHECK(source.overrun);
    static_cast<void>(w.take_next(source, w.lane() > 99u));
    CHECK(source.overrun);
  }

  TEST_CASE("words come out of a sink in the order in which a source gives them, last group first")
  {
    std::vector<std::byte> bytes(200);
    sora2::word_sink sink{sora2::view<std::byte>(bytes)};
    sora2::with_best_warp([&](auto const& w) {
      w.put_before(sink, w.lane() + 1000u, (w.lane() & 1u) == 0u);
      w.put_before(sink, w.lane() + 2000u, w.lane() < 3u);
    });
    sora2::word_source source{sora2::view<std::byte const>(
        sink.next, static_cast<std::size_t>(bytes.data() + 200 - sink.next))};
    std::uint32_t first[32], second[32];
    sora2::with_best_warp([&](auto const& w) {
      w.store(first, w.take_next(source, w.lane() < 3u));
      w.store(second, w.take_next(source, (w.lane() & 1u) == 0u));
    });
    for (std::uint32_t i = 0; i < 32; ++i) {
      CHECK(first[i] == (i < 3 ? 2000 + i : 0));
      CHECK(second[i] == (i % 2 == 0 ? 1000 + i : 0));
    }
    CHECK(source.next == source.end);
    CHECK(!source.overrun);
  }
}
