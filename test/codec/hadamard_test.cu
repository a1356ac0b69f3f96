// Rotated quantisation in kernels: the bytes and values of the host, whatever the shape, the type or the damage.
#include <sora2/codec/hadamard.hpp>

#include <doctest/doctest.h>

#include "support/quantize_pages.cuh"

namespace {

using namespace sora2;

using int4_tokens = quantize<quantize_config{.bits = 4, .symmetric = false, .rotate = true}>;
using int2_channels = quantize<quantize_config{
    .bits = 2, .along = axis::channel, .rotate = true, .group = 32, .scale = scale_kind::bfloat16}>;

}  // namespace

TEST_SUITE("codec/hadamard") {
  TEST_CASE("a kernel rotates and codes as the host does")
  {
    if (!support::have_device()) return;
    support::quantize_there<int4_tokens, float16>();
    support::quantize_there<int2_channels, float>();
  }

  TEST_CASE("a kernel decodes and rotates back as the host does")
  {
    if (!support::have_device()) return;
    support::dequantize_there<int4_tokens, float16, float>();
    support::dequantize_there<int2_channels, float, bfloat16>();
  }
}
