// A codec that never gains anything, so that every block holds its page as it came: also the
// shortest own codec there is.
#include <sora2/codec/policy.hpp>

#include "codecs.hpp"

namespace program {

namespace {

struct keep_config {};

struct keep {
  static constexpr keep_config config{};
  static constexpr sora2::level tier = sora2::level::raw;
  static constexpr sora2::codec_family family = sora2::codec_family::raw;
  template <class Warp>
  struct scratch {};

  static constexpr sora2::format_id format() { return sora2::format_id{}.mix("keep"); }
  static constexpr std::size_t encoded_bound(std::size_t raw_bytes) { return raw_bytes; }

  template <sora2::warp_context Warp>
  static sora2::result<std::size_t> encode(Warp const&, scratch<Warp>&,
                                           sora2::view<std::byte const>, sora2::view<std::byte>)
  {
    return sora2::status::unsupported;
  }
  template <sora2::warp_context Warp>
  static sora2::status decode(Warp const&, scratch<Warp>&, sora2::view<std::byte const>,
                              sora2::view<std::byte>)
  {
    return sora2::status::corrupt_input;
  }
};
static_assert(sora2::byte_codec_policy<keep>);

template <class T>
using keep_values = keep;

}  // namespace

codec_pair raw_codecs() { return {make_page_codec<keep_values>(), make_page_codec<keep_values>()}; }

}  // namespace program
