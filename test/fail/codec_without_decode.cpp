// expect: constraints not satisfied | no matching function | no matching member function
// A policy that misses a part of the concept is refused where it is used, not deep inside.
#include <sora2/codec/bulk.hpp>

struct one_way {
  struct config_type {};
  static constexpr config_type config{};
  static constexpr sora2::level tier = sora2::level::fast;
  static constexpr sora2::codec_family family = sora2::codec_family::user;
  template <class Warp>
  struct scratch {};
  static constexpr sora2::format_id format() { return {}; }
  static constexpr std::size_t encoded_bound(std::size_t bytes) { return bytes; }

  template <class Warp>
  static sora2::result<std::size_t> encode(Warp const&, scratch<Warp>&,
                                           sora2::view<std::byte const> in, sora2::view<std::byte>)
  {
    return in.size;
  }
#ifdef SORA2_FIXED
  template <class Warp>
  static sora2::status decode(Warp const&, scratch<Warp>&, sora2::view<std::byte const>,
                              sora2::view<std::byte>)
  {
    return sora2::status::ok;
  }
#endif
};

sora2::result<std::size_t> use(sora2::view<std::byte const> in, sora2::view<std::byte> out);

sora2::result<std::size_t> use(sora2::view<std::byte const> in, sora2::view<std::byte> out)
{
  return sora2::encode<one_way>(in, out);
}
