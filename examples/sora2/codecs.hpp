// The compositions behind the policy names. Each family is compiled in its own file, codecs_*.cpp.
#pragma once

#include <cstdint>

#include <sora2/codec/quantize.hpp>
#include <sora2/core/float16.hpp>

#include "kv_file.hpp"
#include "page_codec.hpp"

namespace program {

codec_pair raw_codecs();
codec_pair int8_codecs();
codec_pair int4_codecs();
codec_pair int2_codecs();
codec_pair lz4_codecs();
codec_pair zstd_codecs();
codec_pair context_codecs();
codec_pair packed_int4_codecs();  ///< int4, then lz4 where that helps
codec_pair stored_int4_codecs();  ///< int4, then delta, planes and zstd

/// Whether this build has zstd, without which the last level does not exist.
bool has_zstd();

/// Entropy of the page's int4 symbols, mean over its channels, in bits a value: what the router
/// asks for.
double int4_entropy_bits(page const&, role);

/// Scales have the range of the values they belong to; float pages take the narrow scale and are
/// stored raw outside of it.
template <class T>
inline constexpr sora2::scale_kind scale_of =
    std::is_same_v<T, sora2::bfloat16> ? sora2::scale_kind::bfloat16 : sora2::scale_kind::float16;

template <class T>
using int4_key = sora2::quantize<sora2::quantize_config{.bits = 4,
                                                        .along = sora2::axis::channel,
                                                        .symmetric = false,
                                                        .rotate = false,
                                                        .scale = scale_of<T>}>;
template <class T>
using int4_value = sora2::quantize<sora2::quantize_config{.bits = 4,
                                                          .along = sora2::axis::token,
                                                          .symmetric = false,
                                                          .rotate = true,
                                                          .scale = scale_of<T>}>;

}  // namespace program
