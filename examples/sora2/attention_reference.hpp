// Causal attention written as the textbook has it, in double precision: what a decoded cache is
// judged by.
#pragma once

#include <vector>

#include "kv_file.hpp"

namespace program {

/// The queries are those of the last positions of each sequence: query i of n sees the keys 0 ..
/// seq - n + i. Several query heads share a KV head in turn. `k` and `v` are [batch, seq, kv_heads,
/// dim]; scores are scaled by 1/sqrt(dim).
std::vector<double> attention(kv_tensor const& q, kv_tensor const& k, kv_tensor const& v);

}  // namespace program
