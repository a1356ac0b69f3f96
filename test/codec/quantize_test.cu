// Quantisation in kernels: the bytes and values of the host, whatever the shape, the type or the damage.
#include <sora2/codec/quantize.hpp>

#include <doctest/doctest.h>

#include "support/quantize_pages.cuh"

namespace {

using namespace sora2;

using int8_tokens = quantize<>;
using int8_zeros =
    quantize<quantize_config{.symmetric = false, .group = 128, .scale = scale_kind::float32}>;
using int4_channels =
    quantize<quantize_config{.bits = 4, .along = axis::channel, .symmetric = false}>;

}  // namespace

TEST_SUITE("codec/quantize") {
  TEST_CASE("a kernel writes the streams that the host writes, in whatever room")
  {
    if (!support::have_device()) return;
    support::quantize_there<int8_tokens, float16>();
    support::quantize_there<int8_zeros, float>();
    support::quantize_there<int4_channels, bfloat16>();
  }

  TEST_CASE("a kernel answers to streams, good and bad, as the host does")
  {
    if (!support::have_device()) return;
    support::dequantize_there<int8_tokens, float16, float>();
    support::dequantize_there<int8_zeros, float, bfloat16>();
    support::dequantize_there<int4_channels, bfloat16, float16>();
  }
}
