// lz4 on the page's own bytes, and int4 packed further by lz4.
#include <sora2/codec/chain.hpp>
#include <sora2/codec/lz4.hpp>

#include "codecs.hpp"

namespace program {

namespace {

template <class T>
using plain_lz4 = sora2::lz4<>;
template <class T>
using packed_key = sora2::chain<int4_key<T>, sora2::lz4<>>;
template <class T>
using packed_value = sora2::chain<int4_value<T>, sora2::lz4<>>;

}  // namespace

codec_pair lz4_codecs() { return {make_page_codec<plain_lz4>(), make_page_codec<plain_lz4>()}; }
codec_pair packed_int4_codecs()
{
  return {make_page_codec<packed_key>(), make_page_codec<packed_value>()};
}

}  // namespace program
