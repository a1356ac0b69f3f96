// One codec behind plain function pointers, so that a policy can be chosen by name at run time. The
// library composes at compile time; this file is the only place where the program gives that up.
#pragma once

#include <sora2/codec/block.hpp>
#include <sora2/store/safetensors.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace program {

/// One head group of one KV page as it is coded: [head][token][channel], in the tensor's own type.
struct page {
  std::byte* data = nullptr;
  sora2::dtype type = sora2::dtype::f16;  ///< f16, bf16 or f32
  std::uint32_t heads = 0, tokens = 0, dim = 0;

  [[nodiscard]] std::size_t bytes() const
  {
    return std::size_t{heads} * tokens * dim * sora2::dtype_bits(type) / 8;
  }
};

/// Calls `f` with the page as a tile of its own value type.
template <class F>
auto with_tile(page const& p, F&& f)
{
  using sora2::tile;
  if (p.type == sora2::dtype::f32)
    return f(tile<float>{reinterpret_cast<float*>(p.data), p.heads, p.tokens, p.dim});
  if (p.type == sora2::dtype::bf16)
    return f(tile<sora2::bfloat16>{reinterpret_cast<sora2::bfloat16*>(p.data), p.heads, p.tokens,
                                   p.dim});
  return f(
      tile<sora2::float16>{reinterpret_cast<sora2::float16*>(p.data), p.heads, p.tokens, p.dim});
}

struct page_codec {
  bool before_rope = false;  ///< wants K as it is before RoPE, where that is known
  std::size_t (*bound)(page const&) = nullptr;
  sora2::result<std::size_t> (*write)(page const&, sora2::view<std::byte> block,
                                      std::uint32_t exact_rows) = nullptr;
  sora2::status (*read)(sora2::view<std::byte const> block, page const&) = nullptr;
  /// Whether a block was written by this codec for such a page (stored raw or not).
  bool (*wrote)(sora2::block_header const&, page const&) = nullptr;
};

/// `Codec<T>` is the codec of pages of type T.
template <template <class> class Codec>
page_codec make_page_codec()
{
  using namespace sora2;
  page_codec c;
  c.bound = [](page const& p) {
    return with_tile(p, [&]<class T>(tile<T>) { return block_bound<Codec<T>>(p.bytes()); });
  };
  c.write = [](page const& p, view<std::byte> block, std::uint32_t exact_rows) {
    return with_tile(p, [&]<class T>(tile<T> values) {
      return write_block<Codec<T>>(values, block, {.exact_rows = exact_rows});
    });
  };
  c.read = [](view<std::byte const> block, page const& p) {
    return with_tile(p,
                     [&]<class T>(tile<T> values) { return read_block<Codec<T>>(block, values); });
  };
  c.wrote = [](block_header const& h, page const& p) {
    return with_tile(p, [&]<class T>(tile<T>) {
      return h.family == Codec<T>::family && h.format == Codec<T>::format();
    });
  };
  return c;
}

/// K and V are coded apart: K has steady channels, V does not.
struct codec_pair {
  page_codec key, value;
};

}  // namespace program
