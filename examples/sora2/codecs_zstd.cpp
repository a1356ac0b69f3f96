// zstd on the page's own bytes, and int4 packed further for the store. Without libzstd neither
// exists.
#include "codecs.hpp"

#if SORA2_HAS_ZSTD
#include <sora2/codec/chain.hpp>
#include <sora2/codec/delta.hpp>
#include <sora2/codec/planes.hpp>
#include <sora2/codec/zstd.hpp>
#endif

namespace program {

#if SORA2_HAS_ZSTD

namespace {

template <class T>
using plain_zstd = sora2::zstd<>;

/// 32 bytes are the int4 codes of one token of 64 channels, the usual head: K moves little from
/// token to token.
using from_last_token =
    sora2::delta<sora2::delta_config{.element = 1, .distance = 32, .zigzag = true}>;
using byte_planes = sora2::planes<sora2::planes_config{.element = 2}>;

template <class T>
using stored_key = sora2::chain<int4_key<T>, from_last_token, byte_planes, sora2::zstd<>>;
/// V has no memory of the last token: a difference would only add the noise of two.
template <class T>
using stored_value = sora2::chain<int4_value<T>, byte_planes, sora2::zstd<>>;

}  // namespace

bool has_zstd() { return true; }
codec_pair zstd_codecs() { return {make_page_codec<plain_zstd>(), make_page_codec<plain_zstd>()}; }
codec_pair stored_int4_codecs()
{
  return {make_page_codec<stored_key>(), make_page_codec<stored_value>()};
}

#else

bool has_zstd() { return false; }
codec_pair zstd_codecs() { return {}; }
codec_pair stored_int4_codecs() { return {}; }

#endif

}  // namespace program
