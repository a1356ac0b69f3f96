/// LZ4 blocks, byte for byte those of the reference library, both ways; strict about malformed ones.
/// Smallest use: `auto const n = encode<lz4<>>(raw, packed); ... decode<lz4<>>(packed.sub(0, *n), raw)`.
/// Limits: blocks, not frames: no sizes, no checksum (the block header of block.hpp has both). At most 0x7E000000
/// bytes a block. Offsets reach 65535 bytes back. docs/formats/lz4.md says what is accepted and what is refused.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/codec/detail/lz4_block.hpp>
#include <sora2/codec/detail/lz4_lanes.hpp>
#include <sora2/codec/detail/lz4_scalar.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/ids.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/status.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/crc32c.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2 {

/// Settings of the encoder. They change which of many equivalent blocks is written; every lz4<> decodes all of them.
struct lz4_config {
  /// First step between probes, 1..65535: larger is faster and compresses less.
  std::uint32_t acceleration = 1;
  /// The step grows by one after every 2^skip_bits probes without a match.
  std::uint32_t skip_bits = 6;
  /// Bytes that must agree for a place to be tried, 4 or 5. Four find a little more in text pages up to 4 KiB, five
  /// more everywhere else, up to 15 % in differences of weights.
  std::uint32_t hash_bytes = 5;
  /// The encoder's scratch is 2^hash_bits 16-bit words: 16 KiB.
  std::uint32_t hash_bits = 13;

  friend constexpr bool operator==(lz4_config const&, lz4_config const&) = default;
};

namespace detail {

/// The CPU's warps take the scalar twin, which is faster; a warp that checks its scratch takes the lanes.
template <class Warp>
inline constexpr bool lz4_takes_scalar =
    Warp::is_host && std::same_as<typename Warp::template shared<std::uint16_t>, std::uint16_t>;

SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE result<std::size_t>
lz4_decode(Warp const& w, view<std::byte const> in, view<std::byte> out,
           view<std::byte const> dictionary, lz4_stop stop)
{
  if constexpr (lz4_takes_scalar<Warp>)
    return dictionary.empty() ? lz4_decode_scalar<false>(in, out, {}, stop)
                              : lz4_decode_scalar<true>(in, out, dictionary, stop);
  else
    return lz4_decode_lanes(w, in, out, dictionary, stop);
}

/// A block must fill the output it is decoded to.
SORA2_HD constexpr status lz4_filled(result<std::size_t> const& made, std::size_t size)
{
  if (!made) return made.error();
  return *made == size ? status::ok : status::wrong_shape;
}

}  // namespace detail

template <lz4_config Config = lz4_config{}>
struct lz4 {
  static_assert(Config.acceleration >= 1 && Config.acceleration <= 65535);
  static_assert(Config.hash_bytes == 4 || Config.hash_bytes == 5);
  static_assert(Config.hash_bits >= 8 && Config.hash_bits <= 16);
  static_assert(Config.skip_bits >= 5 && Config.skip_bits <= 12);

  static constexpr lz4_config config = Config;
  static constexpr level tier = level::fast;
  static constexpr codec_family family = codec_family::lz4;
  static constexpr bool scalar_on_host = true;
  static constexpr std::size_t largest_input = detail::lz4_largest_input;

  /// The same for all settings: what is written does not depend on them to be read.
  SORA2_HD static constexpr format_id format() { return format_id{}.mix("lz4"); }
  /// 0 for more bytes than a block can hold.
  SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return raw_bytes > largest_input ? 0 : raw_bytes + raw_bytes / 255 + 16;
  }

  template <class Warp>
  struct scratch {
    typename Warp::template shared<std::uint16_t> table[std::size_t{1} << Config.hash_bits];
  };

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  encode(Warp const& w, scratch<Warp>& s, view<std::byte const> in, view<std::byte> out)
  {
    if (in.size > largest_input) return status::input_too_large;
    constexpr std::uint32_t slots = 1u << Config.hash_bits;
    if constexpr (detail::lz4_takes_scalar<Warp>) {
      std::memset(s.table, 0, sizeof s.table);
      if (in.size <= 65536)
        return detail::lz4_encode_scalar<Config, detail::lz4_input::page>(s.table, in, out, {});
      return detail::lz4_encode_scalar<Config, detail::lz4_input::any>(s.table, in, out, {});
    } else {
      for (std::uint32_t i = 0; i < slots; i += 32)
        w.store(s.table + i, lanes<std::uint32_t, Warp>(0u));
      w.sync();
      return detail::lz4_encode_lanes<Config, false>(w, s.table, in, out, {});
    }
  }

  /// Decodes exactly `out.size` bytes; a block of any other length is refused (wrong_shape or output_too_small).
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, view<std::byte const> in,
                                             view<std::byte> out)
  {
    return detail::lz4_filled(detail::lz4_decode(w, in, out, {}, detail::lz4_stop::at_block_end),
                              out.size);
  }
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>&,
                                             view<std::byte const> in, view<std::byte> out)
  {
    return decode(w, in, out);
  }

  /// Decodes a block of unknown length and gives the length. The bytes of `out` behind it are undefined afterwards.
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  decode_whole(Warp const& w, view<std::byte const> in, view<std::byte> out,
               view<std::byte const> dictionary = {})
  {
    return detail::lz4_decode(w, in, out, dictionary, detail::lz4_stop::at_block_end);
  }
  /// Decodes the first `out.size` bytes and stops there, whatever follows; gives fewer when the block ends earlier.
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  decode_front(Warp const& w, view<std::byte const> in, view<std::byte> out,
               view<std::byte const> dictionary = {})
  {
    return detail::lz4_decode(w, in, out, dictionary, detail::lz4_stop::when_full);
  }
};

static_assert(byte_codec_policy<lz4<>>);

/// Bytes that blocks may refer to as if they stood before them, seen from a kernel or a call. Trivially copyable.
struct lz4_prefix {
  view<std::byte const> bytes;
  std::uint16_t const* table = nullptr;  ///< needed to encode only
  std::uint32_t id =
      0;  ///< CRC-32C of the bytes; goes into block headers, so that a wrong one is refused

  [[nodiscard]] SORA2_HD constexpr std::uint32_t table_id() const { return id; }
};

/// Owner of the encoder's table for one dictionary; host only. The bytes stay the caller's and must outlive it.
/// Smallest use: `lz4_dictionary<> d{bytes}; encode<lz4_primed<>>(raw, packed, d.reader())`.
template <lz4_config Config = lz4_config{}>
class lz4_dictionary {
 public:
  /// Of more than 65535 bytes the last 65535 count: no offset reaches further.
  explicit lz4_dictionary(view<std::byte const> bytes)
      : bytes_(detail::lz4_reachable(bytes)), id_(greatest(crc32c(bytes_), 1u))
  {
    detail::lz4_index_dictionary<Config>(bytes_, table_);
  }
  [[nodiscard]] lz4_prefix reader() const { return {bytes_, table_, id_}; }

 private:
  view<std::byte const> bytes_;
  std::uint32_t id_;
  std::uint16_t table_[std::size_t{1} << Config.hash_bits];
};

/// lz4 with a dictionary. A bare block does not know which one it was made with, and a wrong one gives wrong bytes; a
/// block of block.hpp knows, and refuses.
template <lz4_config Config = lz4_config{}>
struct lz4_primed {
  using plain = lz4<Config>;
  using model = lz4_prefix;

  static constexpr lz4_config config = Config;
  static constexpr level tier = plain::tier;
  static constexpr codec_family family = plain::family;
  static constexpr bool scalar_on_host = true;
  SORA2_HD static constexpr format_id format() { return format_id{}.mix("lz4 with dictionary"); }
  SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return plain::encoded_bound(raw_bytes);
  }

  template <class Warp>
  using scratch = typename plain::template scratch<Warp>;

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t> encode(Warp const& w, scratch<Warp>& s,
                                                          view<std::byte const> in,
                                                          view<std::byte> out, model const& prefix)
  {
    if (in.size > plain::largest_input) return status::input_too_large;
    if (prefix.bytes.size > detail::lz4_reach || prefix.table == nullptr)
      return status::wrong_table;
    constexpr std::uint32_t slots = 1u << Config.hash_bits;
    if constexpr (detail::lz4_takes_scalar<Warp>) {
      std::memcpy(s.table, prefix.table, sizeof s.table);
      return detail::lz4_encode_scalar<Config, detail::lz4_input::primed>(s.table, in, out,
                                                                          prefix.bytes);
    } else {
      for (std::uint32_t i = 0; i < slots; i += 32)
        w.store(s.table + i, w.template load<std::uint32_t>(prefix.table + i));
      w.sync();
      return detail::lz4_encode_lanes<Config, true>(w, s.table, in, out, prefix.bytes);
    }
  }
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>&,
                                             view<std::byte const> in, view<std::byte> out,
                                             model const& prefix)
  {
    return detail::lz4_filled(
        detail::lz4_decode(w, in, out, prefix.bytes, detail::lz4_stop::at_block_end), out.size);
  }
};

static_assert(byte_codec_policy<lz4_primed<>>);

}  // namespace sora2
