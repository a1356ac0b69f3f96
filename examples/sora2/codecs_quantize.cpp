// int8, int4, int2, and the entropy of int4 symbols.
#include <sora2/codec/quantize.hpp>
#include <sora2/route/entropy.hpp>

#include <vector>

#include "codecs.hpp"

namespace program {

namespace {

using sora2::axis;
using sora2::quantize;
using sora2::quantize_config;

template <class T>
using int8_key = quantize<quantize_config{.bits = 8, .along = axis::channel, .scale = scale_of<T>}>;
template <class T>
using int8_value = quantize<quantize_config{
    .bits = 8, .along = axis::token, .rotate = true, .scale = scale_of<T>}>;
template <class T>
using int2_key = quantize<quantize_config{
    .bits = 2, .along = axis::channel, .symmetric = false, .scale = scale_of<T>}>;
template <class T>
using int2_value = quantize<quantize_config{
    .bits = 2, .along = axis::token, .symmetric = false, .rotate = true, .scale = scale_of<T>}>;

}  // namespace

codec_pair int8_codecs() { return {make_page_codec<int8_key>(), make_page_codec<int8_value>()}; }
codec_pair int4_codecs() { return {make_page_codec<int4_key>(), make_page_codec<int4_value>()}; }
codec_pair int2_codecs() { return {make_page_codec<int2_key>(), make_page_codec<int2_value>()}; }

double int4_entropy_bits(page const& p, role part)
{
  static codec_pair const int4 = int4_codecs();
  constexpr std::size_t stride = 8;  // a sample of the channels tells the mean
  thread_local std::vector<std::byte> block;
  thread_local std::vector<std::uint8_t> symbols;
  page_codec const& codec = part == role::key ? int4.key : int4.value;
  block.resize(codec.bound(p));
  auto const n = codec.write(p, block, 0);
  double const unknown = 16;
  if (!n) return unknown;
  auto const header = sora2::read_header({block.data(), *n});
  if (!header || header->is_raw())
    return unknown;  // values that are not finite, or too few to gain

  // The payload begins with the codes: rows of columns, the even column in the low half of a byte.
  symbols.clear();
  std::size_t const row_bytes = (p.dim + 1) / 2;
  for (std::size_t row = 0; row < std::size_t{p.heads} * p.tokens; ++row)
    for (std::size_t c = 0; c < p.dim; c += stride) {
      std::byte const two = block[sizeof(sora2::block_header) + row * row_bytes + c / 2];
      symbols.push_back(static_cast<std::uint8_t>(two) >> (c % 2 * 4) & 15);
    }
  auto const columns = static_cast<std::uint32_t>((p.dim + stride - 1) / stride);
  return sora2::channel_entropy_bits(
      sora2::tile<std::uint8_t const>{symbols.data(), p.heads, p.tokens, columns});
}

}  // namespace program
