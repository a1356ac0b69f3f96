// Group quantisation of float16 pages of 64 tokens in a 256 KiB working set, beside memcpy of the same bytes.
#include <sora2/codec/quantize.hpp>

#include "value_codec.hpp"

namespace {

using namespace sora2;

template <quantize_config Config>
using q = quantize<Config>;

int register_all()
{
  bench::page_shape const page{1, 64, 128};
  bench::add_working_set_memcpy("quantize");
  bench::add_value_codec<q<quantize_config{.bits = 8}>>("quantize/int8_token", page);
  bench::add_value_codec<q<quantize_config{.bits = 8, .along = axis::channel}>>(
      "quantize/int8_channel", page);
  bench::add_value_codec<q<quantize_config{.bits = 8, .rotate = true}>>(
      "quantize/int8_token_rotated", page);
  bench::add_value_codec<q<quantize_config{.bits = 4, .symmetric = false}>>("quantize/int4_token",
                                                                            page);
  bench::add_value_codec<q<quantize_config{.bits = 4, .along = axis::channel, .symmetric = false}>>(
      "quantize/int4_channel", page);
  bench::add_value_codec<q<quantize_config{.bits = 4, .symmetric = false, .rotate = true}>>(
      "quantize/int4_token_rotated", page);
  return 0;
}
int const registered = register_all();

}  // namespace
