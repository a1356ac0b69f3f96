#include "attention_reference.hpp"

#include <algorithm>
#include <cmath>

namespace program {

namespace {

/// Eight sums side by side: the compiler may not reorder a single one.
double dot(double const* a, double const* b, std::size_t n)
{
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

std::vector<double> attention(kv_tensor const& q, kv_tensor const& k, kv_tensor const& v)
{
  auto const queries = to_numbers(q), keys = to_numbers(k), values = to_numbers(v);
  std::size_t const dim = q.shape.dim, out_dim = v.shape.dim, seq = k.shape.seq;
  std::size_t const shared_by = k.shape.heads == 0 ? 1 : q.shape.heads / k.shape.heads;
  double const scale = 1 / std::sqrt(static_cast<double>(dim));
  std::vector<double> out(q.shape.batch * q.shape.seq * q.shape.heads * out_dim, 0.0);
  std::vector<double> weights(seq);

  for (std::size_t b = 0; b < q.shape.batch; ++b)
    for (std::size_t i = 0; i < q.shape.seq; ++i)
      for (std::size_t h = 0; h < q.shape.heads; ++h) {
        std::size_t const row = (b * q.shape.seq + i) * q.shape.heads + h;
        std::size_t const visible = seq - q.shape.seq + i + 1, kv_head = h / shared_by;
        auto const kv_row = [&](std::size_t token) {
          return (b * seq + token) * k.shape.heads + kv_head;
        };
        double largest = -HUGE_VAL;
        for (std::size_t t = 0; t < visible; ++t) {
          weights[t] = scale * dot(&queries[row * dim], &keys[kv_row(t) * dim], dim);
          largest = std::max(largest, weights[t]);
        }
        double sum = 0;
        for (std::size_t t = 0; t < visible; ++t)
          sum += weights[t] = std::exp(weights[t] - largest);
        double* const o = &out[row * out_dim];
        for (std::size_t t = 0; t < visible; ++t)
          for (std::size_t c = 0; c < out_dim; ++c)
            o[c] += weights[t] / sum * values[kv_row(t) * out_dim + c];
      }
  return out;
}

}  // namespace program
