// A codec of your own: it meets the same concept, runs on every warp, and composes like the shipped ones.
#include <cstdio>
#include <cstring>
#include <vector>

#include <sora2/codec/bulk.hpp>

namespace mine {

struct sign_config {
  float magnitude = 1.0f;  ///< what +1 and -1 decode to
};

/// Keeps the sign of every value: one bit each.
template <sign_config Config = sign_config{}>
struct sign {
  static constexpr sign_config config = Config;
  static constexpr sora2::level tier = sora2::level::registers;
  static constexpr sora2::codec_family family = sora2::codec_family::user;
  static constexpr sora2::format_id format()
  {
    return sora2::format_id{}
        .mix("mine::sign")
        .mix(sora2::bit_cast<std::uint32_t>(config.magnitude));
  }
  static constexpr std::size_t encoded_bound(std::size_t raw_bytes) { return raw_bytes / 16 + 4; }
  template <class Warp>
  struct scratch {};

  SORA2_TWO_SIDED
  template <sora2::warp_context Warp, class T>
  SORA2_HD SORA2_INLINE static sora2::result<std::size_t>
  encode(Warp const& w, scratch<Warp>&, sora2::tile<T const> in, sora2::view<std::byte> out)
  {
    std::size_t const words = sora2::div_up(in.size(), std::size_t{32});
    if (!in.dense()) return sora2::status::wrong_shape;
    if (out.size < 4 * words) return sora2::status::output_too_small;
    for (std::size_t i = 0; i < words; ++i) {
      auto const left = static_cast<std::uint32_t>(in.size() - 32 * i);
      auto const x = w.template load_n<float>(in.data + 32 * i, left, 0.0f);
      std::uint32_t const negative = w.ballot(x < 0.0f);
      for (std::uint32_t byte = 0; byte < 4; ++byte)
        w.store_one(out.data + 4 * i + byte, static_cast<std::byte>(negative >> (8 * byte)));
    }
    w.sync();
    return 4 * words;
  }

  SORA2_TWO_SIDED
  template <sora2::warp_context Warp, class T>
  SORA2_HD SORA2_INLINE static sora2::status
  decode(Warp const& w, scratch<Warp>&, sora2::view<std::byte const> in, sora2::tile<T> out)
  {
    std::size_t const words = sora2::div_up(out.size(), std::size_t{32});
    if (!out.dense() || in.size != 4 * words) return sora2::status::corrupt_input;
    for (std::size_t i = 0; i < words; ++i) {
      auto const negative = sora2::load_le<std::uint32_t>(in.data + 4 * i);
      auto const bit = (sora2::lanes<std::uint32_t, Warp>(negative) >> w.lane()) & 1u;
      auto const x =
          select(bit == 1u, -config.magnitude, sora2::lanes<float, Warp>(config.magnitude));
      w.store_n(out.data + 32 * i, static_cast<std::uint32_t>(out.size() - 32 * i), x);
    }
    w.sync();
    return sora2::status::ok;
  }
};

static_assert(sora2::value_codec_policy<sign<>>);

}  // namespace mine

int main()
{
  std::vector<float> const values{1.5f, -2.0f, 0.25f, -0.5f, 3.0f};
  using codec = mine::sign<mine::sign_config{.magnitude = 0.5f}>;
  std::vector<std::byte> packed(codec::encoded_bound(4 * values.size()));
  auto const bytes = sora2::encode<codec>(sora2::tile<float const>{values.data(), 1, 1, 5}, packed);
  if (!bytes) return std::fprintf(stderr, "encode: %s\n", sora2::status_name(bytes.error())), 1;
  packed.resize(*bytes);

  std::vector<float> back(values.size());
  auto const s = sora2::decode<codec>(packed, sora2::tile<float>{back.data(), 1, 1, 5});
  if (s != sora2::status::ok) return std::fprintf(stderr, "decode: %s\n", sora2::status_name(s)), 1;
  for (float x : back) std::printf("%g ", static_cast<double>(x));
  std::printf("from %zu bytes\n", *bytes);
}
