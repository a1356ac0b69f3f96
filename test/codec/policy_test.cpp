#include <sora2/codec/policy.hpp>

#include <doctest/doctest.h>

#include <vector>

#include "support/codecs.hpp"

namespace {

using sora2::result;
using sora2::status;
using sora2::view;

/// Adds a number that comes as the model: the smallest policy that needs a table from outside.
struct shifted {
  static constexpr int config = 0;
  static constexpr sora2::level tier = sora2::level::fast;
  static constexpr sora2::codec_family family = sora2::codec_family::user;
  static constexpr bool host_only = true;
  struct model {
    unsigned char by = 0;
  };
  template <class Warp>
  struct scratch {};
  static constexpr sora2::format_id format() { return sora2::format_id{}.mix("shifted"); }
  static constexpr std::size_t encoded_bound(std::size_t bytes) { return bytes; }

  template <class Warp>
  static result<std::size_t> encode(Warp const&, scratch<Warp>&, view<std::byte const> in,
                                    view<std::byte> out, model const& m)
  {
    if (out.size < in.size) return status::output_too_small;
    for (std::size_t i = 0; i < in.size; ++i)
      out[i] = std::byte(static_cast<unsigned char>(in[i]) + m.by);
    return in.size;
  }
  template <class Warp>
  static status decode(Warp const&, scratch<Warp>&, view<std::byte const> in, view<std::byte> out,
                       model const& m)
  {
    if (out.size != in.size) return status::corrupt_input;
    for (std::size_t i = 0; i < in.size; ++i)
      out[i] = std::byte(static_cast<unsigned char>(in[i]) - m.by);
    return status::ok;
  }
};

struct with_state : support::runs {
  int memory = 0;
};
struct nothing {};

static_assert(sora2::byte_codec_policy<shifted> && !sora2::value_codec_policy<shifted>);
static_assert(sora2::value_codec_policy<support::whole_numbers>);
static_assert(!sora2::byte_codec_policy<support::whole_numbers>);
static_assert(!sora2::codec_policy<with_state> && !sora2::codec_policy<nothing>);

static_assert(std::is_same_v<sora2::model_t<shifted>, shifted::model>);
static_assert(std::is_same_v<sora2::model_t<support::runs>, sora2::no_model>);
static_assert(sora2::is_host_only<shifted> && !sora2::is_host_only<support::runs>);
static_assert(sora2::device_codec_policy<support::runs> && !sora2::device_codec_policy<shifted>);

}  // namespace

TEST_SUITE("codec/policy") {
  TEST_CASE("one call serves policies with and without a model")
  {
    sora2::host_warp const w;
    std::vector<std::byte> const in(6, std::byte{7});
    std::vector<std::byte> packed(12), back(6);

    shifted::scratch<sora2::host_warp> a;
    auto const n = sora2::encode_with<shifted>(w, a, view<std::byte const>(in), packed, {.by = 5});
    REQUIRE(n.has_value());
    CHECK(*n == 6);
    CHECK(packed[0] == std::byte{12});
    CHECK(sora2::decode_with<shifted>(w, a, {packed.data(), *n}, view<std::byte>(back),
                                      {.by = 5}) == status::ok);
    CHECK(back == in);

    support::runs::scratch<sora2::host_warp> b;
    auto const m = sora2::encode_with<support::runs>(w, b, view<std::byte const>(in), packed, {});
    REQUIRE(m.has_value());
    CHECK(*m == 2);
    CHECK(sora2::decode_with<support::runs>(w, b, {packed.data(), *m}, view<std::byte>(back), {}) ==
          status::ok);
    CHECK(back == in);
  }
}
