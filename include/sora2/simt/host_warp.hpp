/// A warp of 32 lanes on any CPU: four 8-wide vectors that the compiler maps to what the machine has.
/// Smallest use: `quantize<>::encode(host_warp{}, scratch, in, out)`.
/// Limits: host only; runs at the instruction set of the surrounding code. Bulk work goes through `with_best_warp`. In a
/// .cu file everything does (or through `with_warp`): nvcc refuses vectors where a two-sided function meets them.
#pragma once

#include <sora2/simt/detail/vector_warp.hpp>

namespace sora2 {

struct host_warp : detail::vector_warp<host_warp> {};

static_assert(host_context<host_warp>);

}  // namespace sora2
