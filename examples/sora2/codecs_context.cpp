// Context-adaptive entropy coding with the model that needs no training.
#include <sora2/codec/context.hpp>

#include "codecs.hpp"

namespace program {

namespace {

template <class T>
using context_key = sora2::context<sora2::context_k>;
template <class T>
using context_value = sora2::context<sora2::context_v>;

}  // namespace

codec_pair context_codecs()
{
  return {make_page_codec<context_key>(), make_page_codec<context_value>()};
}

}  // namespace program
