/// A block: one encoded page that says what it is, with a checksum over all of it.
/// Smallest use: `auto const n = write_block<lz4<>>(raw, bytes);`, `auto const s = read_block<lz4<>>(bytes, raw);`.
/// Limits: below 4 GiB; tiles of at most 255 planes and 65,535 columns. A page that does not get smaller is stored as it
/// came. Whatever is wrong with a block is a status, never data. The bytes are specified in docs/formats/block.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/codec/bulk.hpp>
#include <sora2/codec/detail/stages.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>
#include <sora2/core/ids.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/version.hpp>
#include <sora2/simt/crc32c.hpp>

namespace sora2 {

/// What a block's page consists of.
enum class value_type : std::uint8_t { bytes = 0, float16 = 1, bfloat16 = 2, float32 = 3 };

template <class T>
inline constexpr value_type value_type_of =
    std::is_same_v<std::remove_const_t<T>, float16>    ? value_type::float16
    : std::is_same_v<std::remove_const_t<T>, bfloat16> ? value_type::bfloat16
    : std::is_same_v<std::remove_const_t<T>, float>    ? value_type::float32
                                                       : value_type::bytes;

/// Bytes of one element.
[[nodiscard]] SORA2_HD constexpr std::size_t value_bytes(value_type t)
{
  return t == value_type::bytes ? 1 : t == value_type::float32 ? 4 : 2;
}

/// The first 32 bytes of every block, as they lie in memory.
struct block_header {
  static constexpr std::uint16_t right_magic = 0x3253;  ///< "S2"
  static constexpr std::uint8_t raw_flag = 1;

  std::uint16_t magic = right_magic;
  std::uint8_t format_version = SORA2_FORMAT_VERSION;
  level stored_level = level::raw;  ///< raw: the payload is the page itself
  std::uint8_t flags = raw_flag;
  value_type values = value_type::bytes;
  codec_family family = codec_family::raw;
  format_id format = {};           ///< of the codec with its config, also when stored raw
  std::uint32_t raw_bytes = 0;     ///< of the page
  std::uint32_t stored_bytes = 0;  ///< of the payload
  std::uint16_t columns = 0;       ///< 0 for bytes
  std::uint8_t planes = 0;
  std::uint8_t exact_rows =
      0;  ///< rows of every plane in front of the payload that the codec never saw
  std::uint32_t table_id = 0;  ///< table, base or dictionary the codec needs; 0: none
  std::uint32_t crc = 0;       ///< CRC-32C of the 28 bytes before it and the payload

  [[nodiscard]] SORA2_HD constexpr bool is_raw() const { return (flags & raw_flag) != 0; }
  /// Rows of each plane; 0 for bytes and for empty tiles.
  [[nodiscard]] SORA2_HD constexpr std::size_t rows() const
  {
    std::size_t const row = std::size_t{planes} * columns * value_bytes(values);
    return row == 0 ? 0 : raw_bytes / row;
  }
  /// Payload bytes of the exact rows, filled up to a multiple of 16 so that the codec's part is aligned like the block.
  [[nodiscard]] SORA2_HD constexpr std::size_t exact_bytes() const
  {
    return round_up(std::size_t{planes} * exact_rows * columns * value_bytes(values),
                    std::size_t{16});
  }
};
static_assert(sizeof(block_header) == 32 && std::is_trivially_copyable_v<block_header>);
static_assert(offsetof(block_header, format) == 8 && offsetof(block_header, columns) == 20 &&
              offsetof(block_header, crc) == 28);

struct block_options {
  std::uint32_t exact_rows =
      0;  ///< first rows of every plane that stay exact; at most 255; byte codecs need none
  std::uint32_t table_id =
      0;  ///< writing: goes into the header; reading: a block with another one is refused
};

/// Checks everything about a block but its checksum and its payload: the header against itself and against the length.
/// `raw_limit`: blocks of larger pages are refused, so that nobody allocates on the word of a damaged header.
[[nodiscard]] SORA2_HD inline result<block_header> read_header(view<std::byte const> block,
                                                               std::size_t raw_limit = 0xFFFFFFFFu)
{
  if (block.size < sizeof(block_header)) return status::corrupt_input;
  auto const h = load_le<block_header>(block.data);
  if (h.magic != block_header::right_magic) return status::corrupt_input;
  if (h.format_version != SORA2_FORMAT_VERSION) return status::wrong_version;
  bool const known = h.stored_level <= level::store && (h.flags & ~block_header::raw_flag) == 0 &&
                     h.values <= value_type::float32;
  if (!known || h.is_raw() != (h.stored_level == level::raw)) return status::corrupt_input;
  if (h.stored_bytes != block.size - sizeof(block_header)) return status::corrupt_input;
  if (h.is_raw() ? h.stored_bytes != h.raw_bytes || h.exact_rows != 0
                 : h.stored_bytes >= h.raw_bytes || h.stored_bytes < h.exact_bytes())
    return status::corrupt_input;
  if (h.values == value_type::bytes) {
    if (h.columns != 0 || h.planes != 0 || h.exact_rows != 0) return status::corrupt_input;
  } else if (h.raw_bytes != 0) {
    std::size_t const row = std::size_t{h.planes} * h.columns * value_bytes(h.values);
    if (row == 0 || h.raw_bytes % row != 0 || h.exact_rows > h.rows()) return status::corrupt_input;
  }
  if (h.raw_bytes > raw_limit) return status::input_too_large;
  return h;
}

/// Room in which every page of `raw_bytes` can be encoded. No block is longer than its page and the header, but a codec
/// may want more room while it tries.
template <codec_policy Codec>
[[nodiscard]] SORA2_HD constexpr std::size_t block_bound(std::size_t raw_bytes)
{
  return sizeof(block_header) + 16 +
         greatest(raw_bytes + Codec::encoded_bound(0), Codec::encoded_bound(raw_bytes));
}

namespace detail {

[[nodiscard]] SORA2_HD constexpr std::size_t byte_count(view<std::byte const> v) { return v.size; }
template <class T>
[[nodiscard]] SORA2_HD constexpr std::size_t byte_count(tile<T> t)
{
  return t.size() * sizeof(T);
}

/// The checksum of a whole block, header included.
SORA2_TWO_SIDED
template <class Warp>
SORA2_HD SORA2_INLINE std::uint32_t block_crc(Warp const& w, view<std::byte const> block)
{
  std::uint32_t const head = crc32c(w, block.sub(0, offsetof(block_header, crc)));
  return crc32c(w, block.from(sizeof(block_header)), head);
}

/// The first `rows` rows of every plane to dense bytes.
SORA2_TWO_SIDED
template <class Warp, class T>
SORA2_HD SORA2_INLINE void copy_rows(Warp const& w, tile<T const> from, std::uint32_t rows,
                                     std::byte* to)
{
  std::size_t const bytes = std::size_t{rows} * from.columns * sizeof(T);
  for (std::uint32_t p = 0; bytes != 0 && p < from.planes; ++p)
    w.copy(to + p * bytes, reinterpret_cast<std::byte const*>(from.row(p, 0)), bytes);
}

SORA2_TWO_SIDED
template <class From, class Warp, class T>
SORA2_HD SORA2_INLINE status convert_rows(Warp const& w, std::byte const* from, std::uint32_t rows,
                                          tile<T> to)
{
  std::size_t const count = std::size_t{rows} * to.columns;
  if constexpr (std::is_same_v<From, T>) {
    for (std::uint32_t p = 0; count != 0 && p < to.planes; ++p)
      w.copy(reinterpret_cast<std::byte*>(to.row(p, 0)), from + p * count * sizeof(T),
             count * sizeof(T));
  } else {
    bool const aligned = reinterpret_cast<std::uintptr_t>(from) % sizeof(From) == 0;
    if (!aligned && !unchecked_host_context<Warp> && count != 0) return status::unsupported;
    auto const* values = reinterpret_cast<From const*>(from);
    for (std::uint32_t p = 0; count != 0 && p < to.planes; ++p, values += count)
      for (std::size_t i = 0; i < count; i += 32) {
        auto const n = static_cast<std::uint32_t>(least(count - i, std::size_t{32}));
        w.store_n(to.row(p, 0) + i, n, w.template load_n<float>(values + i, n, 0.0f));
      }
  }
  return status::ok;
}

/// Dense bytes of a stored type to the first `rows` rows of every plane, converted where the tile has another type.
SORA2_TWO_SIDED
template <class Warp, class T>
SORA2_HD SORA2_INLINE status read_rows(Warp const& w, std::byte const* from, value_type stored,
                                       std::uint32_t rows, tile<T> to)
{
  if (stored == value_type::float16) return convert_rows<float16>(w, from, rows, to);
  if (stored == value_type::bfloat16) return convert_rows<bfloat16>(w, from, rows, to);
  return convert_rows<float>(w, from, rows, to);
}

/// The payload as the codec makes it, after `exact` rows; a status where the page must be stored raw or cannot be.
SORA2_TWO_SIDED
template <class Codec, class Warp, class In>
SORA2_HD SORA2_INLINE result<std::size_t>
encode_payload(Warp const& w, typename Codec::template scratch<Warp>& s, In in,
               view<std::byte> payload, block_header const& h, model_t<Codec> const& m)
{
  std::size_t const exact = h.exact_bytes();
  if (exact >= h.raw_bytes || exact > payload.size) return status::output_too_small;
  if constexpr (is_tile<In>) {
    if (exact != 0) {
      copy_rows(w, in, h.exact_rows, payload.data);
      std::size_t const used =
          std::size_t{h.planes} * h.exact_rows * h.columns * value_bytes(h.values);
      auto const fill = static_cast<std::uint32_t>(exact - used);
      w.store_n(payload.data + used, fill, lanes<std::uint32_t, Warp>(0u));
    }
    auto const n = encode_any<Codec>(w, s, in.rows_from(h.exact_rows), payload.from(exact), m);
    return n ? result<std::size_t>(exact + *n) : n;
  } else
    return encode_any<Codec>(w, s, in, payload, m);
}

}  // namespace detail

/// Encodes a tile or bytes as one block and gives its length. Collective.
/// Values that the codec refuses (not finite, unsupported) are stored raw, hence exact. A byte codec takes a dense tile.
/// Errors: output_too_small (`block_bound` is always enough), input_too_large, and those of the codec.
SORA2_TWO_SIDED
template <codec_policy Codec, warp_context Warp, class In>
[[nodiscard]] SORA2_HD SORA2_INLINE result<std::size_t>
encode_block(Warp const& w, typename Codec::template scratch<Warp>& s, In in, view<std::byte> out,
             block_options options = {}, model_t<Codec> const& m = {})
{
  std::size_t const raw = detail::byte_count(in);
  if (raw > 0xFFFFFFFFu) return status::input_too_large;
  if (out.size < sizeof(block_header)) return status::output_too_small;
  view<std::byte> const payload = out.from(sizeof(block_header));

  block_header h;
  h.family = Codec::family;
  h.format = Codec::format();
  h.raw_bytes = static_cast<std::uint32_t>(raw);
  h.table_id = options.table_id;
  if constexpr (requires { m.table_id(); })
    if (h.table_id == 0) h.table_id = m.table_id();
  if constexpr (detail::is_tile<In>) {
    if (in.planes > 255 || in.columns > 65535) return status::input_too_large;
    h.values = value_type_of<std::remove_pointer_t<decltype(in.data)>>;
    h.planes = static_cast<std::uint8_t>(in.planes);
    h.columns = static_cast<std::uint16_t>(in.columns);
    if constexpr (value_codec_policy<Codec>)
      h.exact_rows = static_cast<std::uint8_t>(least(least(options.exact_rows, 255u), in.rows));
  }

  result<std::size_t> const n = detail::encode_payload<Codec>(w, s, in, payload, h, m);
  if (!n && n.error() != status::non_finite && n.error() != status::unsupported &&
      n.error() != status::output_too_small)
    return n.error();
  if (n ? *n < raw : false) {
    h.stored_level = Codec::tier;
    h.flags = 0;
    h.stored_bytes = static_cast<std::uint32_t>(*n);
  } else {
    if (payload.size < raw) return status::output_too_small;
    h.exact_rows = 0;
    h.stored_bytes = h.raw_bytes;
    w.sync();
    if constexpr (detail::is_tile<In>)
      detail::copy_rows(w, in, in.rows, payload.data);
    else
      w.copy(payload.data, in.data, raw);
  }
  w.copy(out.data, reinterpret_cast<std::byte const*>(&h), sizeof h);
  w.sync();
  std::size_t const length = sizeof h + h.stored_bytes;
  h.crc = detail::block_crc(w, out.sub(0, length));
  w.sync();
  w.copy(out.data, reinterpret_cast<std::byte const*>(&h), sizeof h);
  w.sync();
  return length;
}

/// Decodes a block into a tile or bytes of exactly its page's shape. Collective. A value codec may decode to another
/// type than it encoded; in a kernel, raw and exact values then need a block at a multiple of their own size.
/// Errors: corrupt_input, wrong_version, wrong_format, wrong_shape, wrong_table, checksum_mismatch, and the codec's.
SORA2_TWO_SIDED
template <codec_policy Codec, warp_context Warp, class Out>
[[nodiscard]] SORA2_HD SORA2_INLINE status decode_block(Warp const& w,
                                                        typename Codec::template scratch<Warp>& s,
                                                        view<std::byte const> block, Out out,
                                                        block_options options = {},
                                                        model_t<Codec> const& m = {})
{
  auto const read = read_header(block);
  if (!read) return read.error();
  block_header const h = *read;
  if (h.family != Codec::family || !(h.format == Codec::format())) return status::wrong_format;
  if constexpr (detail::is_tile<Out>) {
    using T = std::remove_pointer_t<decltype(out.data)>;
    bool const same_type = h.values == value_type_of<T>;
    if (h.values == value_type::bytes || (byte_codec_policy<Codec> && !same_type))
      return status::wrong_shape;
    if (h.raw_bytes != out.size() * value_bytes(h.values)) return status::wrong_shape;
    if (h.raw_bytes != 0 && (h.planes != out.planes || h.columns != out.columns))
      return status::wrong_shape;
  } else if (h.raw_bytes != out.size ||
             (value_codec_policy<Codec> && h.values != value_type::bytes))
    return status::wrong_shape;
  if (options.table_id != 0) {
    if (options.table_id != h.table_id) return status::wrong_table;
  } else if constexpr (requires { m.table_id(); })
    if (m.table_id() != h.table_id) return status::wrong_table;
  if (detail::block_crc(w, block) != h.crc) return status::checksum_mismatch;

  view<std::byte const> const payload = block.from(sizeof(block_header));
  if constexpr (detail::is_tile<Out>) {
    std::uint32_t const exact = h.is_raw() ? out.rows : std::uint32_t{h.exact_rows};
    if (auto const s1 = detail::read_rows(w, payload.data, h.values, exact, out); s1 != status::ok)
      return s1;
    if (h.is_raw()) {
      w.sync();
      return status::ok;
    }
    return detail::decode_any<Codec>(w, s, payload.from(h.exact_bytes()), out.rows_from(exact), m);
  } else {
    if (!h.is_raw()) return detail::decode_any<Codec>(w, s, payload, out, m);
    w.copy(out.data, payload.data, payload.size);
    w.sync();
    return status::ok;
  }
}

/// Host: the same with the widest instruction set of this CPU. Blocks; safe from any thread.
template <byte_codec_policy Codec>
[[nodiscard]] result<std::size_t> write_block(view<std::byte const> in, view<std::byte> out,
                                              block_options options = {},
                                              model_t<Codec> const& m = {}, isa set = best_isa())
{
  return with_warp_for<Codec>(set, [&](auto const& w) -> result<std::size_t> {
    typename Codec::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return encode_block<Codec>(w, s, in, out, options, m);
  });
}
template <codec_policy Codec, class T>
  requires real_type<std::remove_const_t<T>>
[[nodiscard]] result<std::size_t> write_block(tile<T> in, view<std::byte> out,
                                              block_options options = {},
                                              model_t<Codec> const& m = {}, isa set = best_isa())
{
  return with_warp_for<Codec>(set, [&](auto const& w) -> result<std::size_t> {
    typename Codec::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return encode_block<Codec>(w, s, tile<T const>(in), out, options, m);
  });
}
template <byte_codec_policy Codec>
[[nodiscard]] status read_block(view<std::byte const> block, view<std::byte> out,
                                block_options options = {}, model_t<Codec> const& m = {},
                                isa set = best_isa())
{
  return with_warp_for<Codec>(set, [&](auto const& w) -> status {
    typename Codec::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return decode_block<Codec>(w, s, block, out, options, m);
  });
}
template <codec_policy Codec, real_type T>
[[nodiscard]] status read_block(view<std::byte const> block, tile<T> out,
                                block_options options = {}, model_t<Codec> const& m = {},
                                isa set = best_isa())
{
  return with_warp_for<Codec>(set, [&](auto const& w) -> status {
    typename Codec::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return decode_block<Codec>(w, s, block, out, options, m);
  });
}

}  // namespace sora2
