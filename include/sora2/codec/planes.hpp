/// Bytes or bits of equal weight side by side: the even parts of tensors come together for the coder behind.
/// Smallest use: `using packer = chain<planes<planes_config{.element = 2}>, lz4<>>;`.
/// Limits: makes nothing smaller by itself; pages below 4 GiB. What does not fill an element (or eight, for bits) is copied
/// at the end. The bytes are specified in docs/formats/planes.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sora2/codec/detail/element_lanes.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/bit_matrix.hpp>
#include <sora2/simt/register16.hpp>

namespace sora2 {

enum class plane_kind : std::uint8_t { byte = 0, bit = 1 };

struct planes_config {
  int element = 2;  ///< bytes: 1, 2, 4 or 8
  plane_kind kind = plane_kind::byte;
};

template <planes_config Config = planes_config{}>
struct planes {
  static_assert(Config.element == 1 || Config.element == 2 || Config.element == 4 ||
                    Config.element == 8,
                "sora2: planes takes elements of 1, 2, 4 or 8 bytes");

  static constexpr planes_config config = Config;
  static constexpr level tier = level::fast;
  static constexpr codec_family family = codec_family::planes;
  template <class Warp>
  struct scratch {};

  [[nodiscard]] SORA2_HD static constexpr format_id format()
  {
    return format_id{}
        .mix("planes")
        .mix(static_cast<std::uint32_t>(Config.element))
        .mix(static_cast<std::uint32_t>(Config.kind));
  }
  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return raw_bytes;
  }
  [[nodiscard]] SORA2_HD static constexpr std::size_t decoded_bytes(std::size_t stored)
  {
    return stored;
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  encode(Warp const& w, scratch<Warp>&, view<std::byte const> in, view<std::byte> out)
  {
    if (out.size < in.size) return status::output_too_small;
    if (in.size > 0xFFFFFFFFu) return status::input_too_large;
    std::size_t const count = whole(in.size);
    if constexpr (unchecked_host_context<Warp>)
      split_on_host(in.data, out.data, count);
    else if constexpr (Config.kind == plane_kind::byte)
      split_bytes(w, in.data, out.data, count);
    else
      split_bits(w, in.data, out.data, count);
    w.copy(out.data + count * element, in.data + count * element, in.size - count * element);
    w.sync();
    return in.size;
  }
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>&,
                                             view<std::byte const> in, view<std::byte> out)
  {
    if (in.size != out.size) return status::wrong_shape;
    if (in.size > 0xFFFFFFFFu) return status::input_too_large;
    std::size_t const count = whole(in.size);
    if constexpr (unchecked_host_context<Warp>)
      join_on_host(in.data, out.data, count);
    else if constexpr (Config.kind == plane_kind::byte)
      join_bytes(w, in.data, out.data, count);
    else
      join_bits(w, in.data, out.data, count);
    w.copy(out.data + count * element, in.data + count * element, in.size - count * element);
    w.sync();
    return status::ok;
  }

 private:
  static constexpr std::size_t element = static_cast<std::size_t>(Config.element);
  template <class Warp>
  using uints = lanes<std::uint32_t, Warp>;
  template <class Warp>
  using elements = detail::element_lanes<Config.element, Warp>;

  /// Elements that take part: all, or a multiple of 8 for bits.
  SORA2_HD static constexpr std::size_t whole(std::size_t bytes)
  {
    std::size_t const count = bytes / element;
    return Config.kind == plane_kind::byte ? count : count / 8 * 8;
  }
  SORA2_HD static std::uint32_t up_to_32(std::size_t left)
  {
    return static_cast<std::uint32_t>(least(left, std::size_t{32}));
  }

  // By lanes: lane = element.

  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void split_bytes(Warp const& w, std::byte const* in, std::byte* out,
                                                std::size_t count)
  {
    for (std::size_t i = 0; i < count; i += 32) {
      std::uint32_t const n = up_to_32(count - i);
      auto const x = detail::load_elements<Config.element>(w, in + i * element, n);
      for (std::size_t k = 0; k < element; ++k)
        w.store_n(reinterpret_cast<std::uint8_t*>(out + k * count + i), n, byte_of(x, k));
    }
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void join_bytes(Warp const& w, std::byte const* in, std::byte* out,
                                               std::size_t count)
  {
    for (std::size_t i = 0; i < count; i += 32) {
      std::uint32_t const n = up_to_32(count - i);
      elements<Warp> x{uints<Warp>(0u), uints<Warp>(0u)};
      for (std::size_t k = 0; k < element; ++k) {
        auto const* plane = reinterpret_cast<std::uint8_t const*>(in + k * count + i);
        auto const byte = w.template load_n<std::uint32_t>(plane, n, 0u);
        auto& part = k < 4 ? x.low : x.high;
        part = part | byte << static_cast<int>(8 * (k % 4));
      }
      detail::store_elements<Config.element>(w, out + i * element, n, x);
    }
  }
  template <class Warp>
  SORA2_HD SORA2_INLINE static uints<Warp> byte_of(elements<Warp> const& x, std::size_t k)
  {
    return (k < 4 ? x.low : x.high) >> static_cast<int>(8 * (k % 4)) & 0xFFu;
  }

  /// 32 elements at a time are a matrix of bits; its columns, one in each lane, go to the planes.
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void split_bits(Warp const& w, std::byte const* in, std::byte* out,
                                               std::size_t count)
  {
    for (std::size_t i = 0; i < count; i += 32) {
      std::uint32_t const n = up_to_32(count - i);
      auto const x = detail::load_elements<Config.element>(w, in + i * element, n);
      put_columns(w, out + i / 8, count / 8, 0, n, transpose_bits(w, x.low));
      if constexpr (element == 8)
        put_columns(w, out + i / 8, count / 8, 32, n, transpose_bits(w, x.high));
    }
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void join_bits(Warp const& w, std::byte const* in, std::byte* out,
                                              std::size_t count)
  {
    for (std::size_t i = 0; i < count; i += 32) {
      std::uint32_t const n = up_to_32(count - i);
      elements<Warp> x{uints<Warp>(0u), uints<Warp>(0u)};
      x.low = transpose_bits(w, get_columns(w, in + i / 8, count / 8, 0, n));
      if constexpr (element == 8)
        x.high = transpose_bits(w, get_columns(w, in + i / 8, count / 8, 32, n));
      detail::store_elements<Config.element>(w, out + i * element, n, x);
    }
  }
  /// Lane b holds n bits of plane first + b; n is a multiple of 8.
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void put_columns(Warp const& w, std::byte* out, std::size_t stride,
                                                std::uint32_t first, std::uint32_t n,
                                                uints<Warp> const& column)
  {
    auto const plane = w.lane() + first;
    auto const here = plane < std::uint32_t{8 * element};
    auto const at = plane * static_cast<std::uint32_t>(stride);
    if (n == 32 && stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(out) % 4 == 0)
      w.scatter_distinct(reinterpret_cast<std::uint32_t*>(out), at >> 2, column, here);
    else
      for (std::uint32_t k = 0; k < n / 8; ++k)
        w.scatter_distinct(reinterpret_cast<std::uint8_t*>(out), at + k,
                           column >> static_cast<int>(8 * k) & 0xFFu, here);
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static uints<Warp> get_columns(Warp const& w, std::byte const* in,
                                                       std::size_t stride, std::uint32_t first,
                                                       std::uint32_t n)
  {
    auto const plane = w.lane() + first;
    auto const here = plane < std::uint32_t{8 * element};
    auto const at = plane * static_cast<std::uint32_t>(stride);
    if (n == 32 && stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(in) % 4 == 0)
      return w.template gather<std::uint32_t>(reinterpret_cast<std::uint32_t const*>(in), at >> 2,
                                              here, 0u);
    uints<Warp> column(0u);
    for (std::uint32_t k = 0; k < n / 8; ++k)
      column = column | w.template gather<std::uint32_t>(reinterpret_cast<std::uint8_t const*>(in),
                                                         at + k, here, 0u)
                            << static_cast<int>(8 * k);
    return column;
  }

  // On the host: 16 or 64 elements at a time, bytes apart first, then their bits.

  static constexpr std::size_t run = Config.kind == plane_kind::byte ? 16 : 64;

  /// Where the bits of element i lie in plane b.
  template <class Byte>
  SORA2_INLINE static Byte* plane_at(Byte* planes_begin, std::size_t count, std::size_t b,
                                     std::size_t i)
  {
    return planes_begin + b * (count / 8) + i / 8;
  }

  SORA2_INLINE static void split_on_host(std::byte const* in, std::byte* out, std::size_t count)
  {
    std::size_t i = 0;
    for (; count - i >= run; i += run) {
      bytes16 v[run / 16][element];
      SORA2_UNROLL_ON_HOST
      for (std::size_t j = 0; j < run / 16; ++j) {
        SORA2_UNROLL_ON_HOST
        for (std::size_t k = 0; k < element; ++k)
          load_register(in + (i + 16 * j) * element + 16 * k, v[j][k]);
        sora2::split_bytes(v[j]);
      }
      if constexpr (Config.kind == plane_kind::byte) SORA2_UNROLL_ON_HOST
      for (std::size_t k = 0; k < element; ++k) store_register(out + k * count + i, v[0][k]);
      else SORA2_UNROLL_ON_HOST for (std::size_t k = 0; k < element; ++k)
      {
        bytes16 bits[4] = {v[0][k], v[1][k], v[2][k], v[3][k]};
        SORA2_UNROLL_ON_HOST
        for (bytes16& b : bits) transpose_bits(b);
        transpose_bytes(bits);
        SORA2_UNROLL_ON_HOST
        for (std::size_t b = 0; b < 4; ++b)
          store_halves(plane_at(out, count, 8 * k + 2 * b, i),
                       plane_at(out, count, 8 * k + 2 * b + 1, i), bits[b]);
      }
    }
    for (i = count - count % run; i < count; i += group) split_group(in, out, count, i);
  }
  SORA2_INLINE static void join_on_host(std::byte const* in, std::byte* out, std::size_t count)
  {
    std::size_t i = 0;
    for (; count - i >= run; i += run) {
      bytes16 v[run / 16][element];
      if constexpr (Config.kind == plane_kind::byte) SORA2_UNROLL_ON_HOST
      for (std::size_t k = 0; k < element; ++k) load_register(in + k * count + i, v[0][k]);
      else SORA2_UNROLL_ON_HOST for (std::size_t k = 0; k < element; ++k)
      {
        bytes16 bits[4];
        SORA2_UNROLL_ON_HOST
        for (std::size_t b = 0; b < 4; ++b)
          load_halves(plane_at(in, count, 8 * k + 2 * b, i),
                      plane_at(in, count, 8 * k + 2 * b + 1, i), bits[b]);
        transpose_bytes(bits);
        SORA2_UNROLL_ON_HOST
        for (bytes16& b : bits) transpose_bits(b);
        SORA2_UNROLL_ON_HOST
        for (std::size_t j = 0; j < 4; ++j) v[j][k] = bits[j];
      }
      SORA2_UNROLL_ON_HOST
      for (std::size_t j = 0; j < run / 16; ++j) {
        sora2::join_bytes(v[j]);
        SORA2_UNROLL_ON_HOST
        for (std::size_t k = 0; k < element; ++k)
          store_register(out + (i + 16 * j) * element + 16 * k, v[j][k]);
      }
    }
    for (i = count - count % run; i < count; i += group) join_group(in, out, count, i);
  }

  // The last elements: one at a time, or eight for bits.

  static constexpr std::size_t group = Config.kind == plane_kind::byte ? 1 : 8;

  static void split_group(std::byte const* in, std::byte* out, std::size_t count, std::size_t i)
  {
    for (std::size_t k = 0; k < element; ++k)
      if constexpr (Config.kind == plane_kind::byte)
        out[k * count + i] = in[i * element + k];
      else
        for (std::size_t b = 0; b < 8; ++b) {
          std::byte bits{};
          for (std::size_t e = 0; e < 8; ++e)
            bits |= (in[(i + e) * element + k] >> b & std::byte{1}) << e;
          out[(8 * k + b) * (count / 8) + i / 8] = bits;
        }
  }
  static void join_group(std::byte const* in, std::byte* out, std::size_t count, std::size_t i)
  {
    for (std::size_t k = 0; k < element; ++k)
      if constexpr (Config.kind == plane_kind::byte)
        out[i * element + k] = in[k * count + i];
      else
        for (std::size_t e = 0; e < 8; ++e) {
          std::byte bits{};
          for (std::size_t b = 0; b < 8; ++b)
            bits |= (in[(8 * k + b) * (count / 8) + i / 8] >> e & std::byte{1}) << b;
          out[(i + e) * element + k] = bits;
        }
  }
};

static_assert(byte_codec_policy<planes<>>);

}  // namespace sora2
