// Blosc as a peer: shuffle or bitshuffle before lz4 or zstd, one block, one thread.
#pragma once

#if SORA2_HAS_BLOSC

#include <blosc.h>

#include "byte_codec.hpp"

namespace bench {

/// `shuffle`: BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
inline void add_blosc(std::string const& name, bytes const& page, char const* coder, int level,
                      int shuffle, std::size_t element)
{
  add(name, page,
      {page.size() + BLOSC_MAX_OVERHEAD,
       [=](bytes const& in, bytes& out) {
         int const n = blosc_compress_ctx(level, shuffle, element, in.size(), in.data(), out.data(),
                                          out.size(), coder, in.size(), 1);
         return static_cast<std::size_t>(n < 0 ? 0 : n);
       },
       [](sora2::view<std::byte const> in, bytes& back) {
         return blosc_decompress_ctx(in.data, back.data(), back.size(), 1) ==
                static_cast<int>(back.size());
       }});
}

}  // namespace bench

#endif
