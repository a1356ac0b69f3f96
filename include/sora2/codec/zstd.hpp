/// zstd frames through libzstd, strictly: one page in, exactly that page out. Component sora2::zstd.
/// Smallest use: `using packer = chain<delta<>, zstd<zstd_config{.level = 9}>>;`.
/// Limits: host only; a kernel that meets such a block answers `status::not_resident`. Decoding writes straight into the
/// output and allocates nothing on a frame's word, whatever window or size it claims. Each thread keeps one encoder and one
/// decoder for each codec it used, sized by the largest page.
#pragma once

#if !__has_include(<zstd.h>)
#error \
    "sora2/codec/zstd.hpp is the component sora2::zstd: it needs <zstd.h> of libzstd (Debian: libzstd-dev)"
#else

#include <zstd.h>
#include <zstd_errors.h>

#include <cstddef>
#include <cstdint>

#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/crc32c.hpp>

namespace sora2 {

struct zstd_config {
  int level = 3;         ///< 1 to 22, or negative for speed
  bool checksum = true;  ///< 4 bytes a frame; a block has its own checksum
};

/// A dictionary that encoder and decoder share: trained by zstd, or any bytes that pages look like.
struct zstd_dictionary {
  view<std::byte const> bytes;
  std::uint32_t id = 0;

  constexpr zstd_dictionary() = default;
  /// The id is the CRC-32C of the bytes, never 0.
  explicit zstd_dictionary(view<std::byte const> content) : bytes(content), id(crc32c(content))
  {
    id += id == 0;
  }
  [[nodiscard]] SORA2_HD constexpr std::uint32_t table_id() const { return id; }
};

namespace detail {

[[nodiscard]] inline status zstd_status(std::size_t code)
{
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_dstSize_tooSmall: return status::output_too_small;
    case ZSTD_error_checksum_wrong: return status::checksum_mismatch;
    case ZSTD_error_dictionary_wrong:
    case ZSTD_error_dictionary_corrupted: return status::wrong_table;
    case ZSTD_error_memory_allocation: return status::out_of_memory;
    default: return status::corrupt_input;
  }
}

inline constexpr std::uint32_t zstd_magic = 0xFD2FB528u;
/// Frames of these 16 numbers hold no data and are skipped.
[[nodiscard]] inline bool is_skippable(std::uint32_t magic)
{
  return (magic & 0xFFFFFFF0u) == 0x184D2A50u;
}

/// A context of libzstd and the dictionary it has taken in.
template <class Context, Context* (*Create)(), std::size_t (*Free)(Context*)>
struct zstd_context {
  Context* context = Create();
  std::uint32_t dictionary_id = 0;
  std::size_t dictionary_bytes = 0;

  zstd_context() = default;
  zstd_context(zstd_context const&) = delete;
  zstd_context& operator=(zstd_context const&) = delete;
  ~zstd_context() { Free(context); }

  template <class Load>
  [[nodiscard]] status use(zstd_dictionary const& d, Load load)
  {
    if (context == nullptr) return status::out_of_memory;
    if (dictionary_id == d.id && dictionary_bytes == d.bytes.size) return status::ok;
    std::size_t const code = load(context, d.bytes.data, d.bytes.size);
    bool const failed = ZSTD_isError(code) != 0;
    if (failed) static_cast<void>(load(context, nullptr, 0));
    dictionary_id = failed ? 0 : d.id;
    dictionary_bytes = failed ? 0 : d.bytes.size;
    return failed ? zstd_status(code) : status::ok;
  }
};
using zstd_encoder = zstd_context<ZSTD_CCtx, ZSTD_createCCtx, ZSTD_freeCCtx>;
using zstd_decoder = zstd_context<ZSTD_DCtx, ZSTD_createDCtx, ZSTD_freeDCtx>;

}  // namespace detail

/// What the frames say they hold together: `status::not_found` when one does not say, `corrupt_input` when they are none.
/// For information: allocate on it only below a limit of your own.
[[nodiscard]] inline result<std::size_t> zstd_content_bytes(view<std::byte const> in)
{
  if (in.size == 0) return status::corrupt_input;
  std::size_t total = 0;
  while (in.size != 0) {
    std::size_t const length = ZSTD_findFrameCompressedSize(in.data, in.size);
    if (ZSTD_isError(length) != 0) return status::corrupt_input;
    if (!detail::is_skippable(load_le<std::uint32_t>(in.data))) {
      unsigned long long const size = ZSTD_getFrameContentSize(in.data, in.size);
      if (size == ZSTD_CONTENTSIZE_UNKNOWN) return status::not_found;
      if (size == ZSTD_CONTENTSIZE_ERROR || size > SIZE_MAX - total) return status::corrupt_input;
      total += static_cast<std::size_t>(size);
    }
    in = in.from(length);
  }
  return total;
}

template <zstd_config Config = zstd_config{}>
struct zstd {
  static_assert(Config.level >= -100 && Config.level <= 22,
                "sora2: zstd has the levels 1 to 22, and negative ones");

  static constexpr zstd_config config = Config;
  static constexpr level tier = level::store;
  static constexpr codec_family family = codec_family::zstd;
  static constexpr bool host_only = true;
  static constexpr bool scalar_on_host = true;
  using model = zstd_dictionary;
  template <class Warp>
  struct scratch {};

  /// Any level is read by any other: the level is not part of the format.
  [[nodiscard]] SORA2_HD static constexpr format_id format() { return format_id{}.mix("zstd"); }
  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    constexpr std::size_t block = 131072;
    return raw_bytes + (raw_bytes >> 8) + (raw_bytes < block ? (block - raw_bytes) >> 11 : 0);
  }

  template <host_context Warp>
  static result<std::size_t> encode(Warp const&, scratch<Warp>&, view<std::byte const> in,
                                    view<std::byte> out, model const& m = {})
  {
    thread_local detail::zstd_encoder own;
    if (own.context == nullptr) return status::out_of_memory;
    ZSTD_CCtx_setParameter(own.context, ZSTD_c_compressionLevel, Config.level);
    ZSTD_CCtx_setParameter(own.context, ZSTD_c_checksumFlag, Config.checksum ? 1 : 0);
    if (auto const s = own.use(m, ZSTD_CCtx_loadDictionary); s != status::ok) return s;
    std::size_t const n = ZSTD_compress2(own.context, out.data, out.size, in.data, in.size);
    if (ZSTD_isError(n) != 0) return detail::zstd_status(n);
    return n;
  }
  /// Whole frames that give exactly `out.size` bytes; anything before, between or behind them is an error.
  template <host_context Warp>
  static status decode(Warp const&, scratch<Warp>&, view<std::byte const> in, view<std::byte> out,
                       model const& m = {})
  {
    auto const n = decode_up_to(in, out, m);
    if (!n) return n.error();
    return *n == out.size ? status::ok : status::wrong_shape;
  }
  /// The same where the size is not known: gives the length of the content, at most `out.size`.
  [[nodiscard]] static result<std::size_t> decode_up_to(view<std::byte const> in,
                                                        view<std::byte> out, model const& m = {})
  {
    if (!frames_are_known(in)) return status::corrupt_input;
    thread_local detail::zstd_decoder own;
    if (auto const s = own.use(m, ZSTD_DCtx_loadDictionary); s != status::ok) return s;
    std::byte nothing;  // an empty page may have no address
    std::size_t const n = ZSTD_decompressDCtx(own.context, out.size == 0 ? &nothing : out.data,
                                              out.size, in.data, in.size);
    if (ZSTD_isError(n) != 0) return detail::zstd_status(n);
    return n;
  }

 private:
  /// At least one frame, none of the formats before 1.0, nothing cut.
  [[nodiscard]] static bool frames_are_known(view<std::byte const> in)
  {
    if (in.size == 0) return false;
    while (in.size != 0) {
      if (in.size < 4) return false;
      auto const magic = load_le<std::uint32_t>(in.data);
      if (magic != detail::zstd_magic && !detail::is_skippable(magic)) return false;
      std::size_t const length = ZSTD_findFrameCompressedSize(in.data, in.size);
      if (ZSTD_isError(length) != 0 || length > in.size) return false;
      in = in.from(length);
    }
    return true;
  }
};

static_assert(byte_codec_policy<zstd<>>);

}  // namespace sora2

#endif
