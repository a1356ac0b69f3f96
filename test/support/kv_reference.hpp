// Reference quantisers of K and V and attention over them, written as their definitions read. Values are
// [batch, seq, heads, dim] in double; the steps of the quantisers are single precision, as in common practice.
#pragma once

#include <sora2/core/float16.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace sora2_test {

struct kv_extent {
  std::size_t batch, seq, heads, dim;
  [[nodiscard]] std::size_t at(std::size_t b, std::size_t t, std::size_t h, std::size_t c) const
  {
    return ((b * seq + t) * heads + h) * dim + c;
  }
};

inline float to_half(float x) { return sora2::to_float(sora2::to_float16(x)); }

/// 4 bits, asymmetric, half-precision minimum and scale, over the values that `index` names.
template <class Index>
void int4_group(std::vector<float>& x, std::size_t count, Index&& index)
{
  float low = HUGE_VALF, high = -HUGE_VALF;
  for (std::size_t i = 0; i < count; ++i) {
    low = std::min(low, x[index(i)]);
    high = std::max(high, x[index(i)]);
  }
  float const zero = to_half(low);
  float scale = to_half((high - zero) / 15.0f);
  if (scale == 0) scale = 1;
  for (std::size_t i = 0; i < count; ++i) {
    float& v = x[index(i)];
    float const code = std::clamp(std::nearbyint((v - zero) / scale), 0.0f, 15.0f);
    v = code * scale + zero;
  }
}

inline std::vector<float> to_single(std::vector<double> const& x) { return {x.begin(), x.end()}; }
inline std::vector<double> to_double(std::vector<float> const& x) { return {x.begin(), x.end()}; }

/// The first `count` tokens of each sequence as they were.
inline void keep_first_tokens(std::vector<float>& x, std::vector<double> const& exact, kv_extent e,
                              std::size_t count)
{
  for (std::size_t b = 0; b < e.batch; ++b)
    for (std::size_t t = 0; t < std::min(count, e.seq); ++t)
      for (std::size_t i = 0; i < e.heads * e.dim; ++i)
        x[e.at(b, t, 0, i)] = static_cast<float>(exact[e.at(b, t, 0, i)]);
}

/// K: groups of 64 tokens in one channel, the first 4 tokens exact.
inline std::vector<double> int4_keys(std::vector<double> const& exact, kv_extent e)
{
  auto x = to_single(exact);
  for (std::size_t b = 0; b < e.batch; ++b)
    for (std::size_t t = 0; t < e.seq; t += 64)
      for (std::size_t h = 0; h < e.heads; ++h)
        for (std::size_t c = 0; c < e.dim; ++c)
          int4_group(x, std::min<std::size_t>(64, e.seq - t),
                     [&](std::size_t i) { return e.at(b, t + i, h, c); });
  keep_first_tokens(x, exact, e, 4);
  return to_double(x);
}

/// The orthogonal Hadamard matrix applied to one row; dim is a power of two.
inline void hadamard_row(float* row, std::size_t dim)
{
  for (std::size_t half = 1; half < dim; half *= 2)
    for (std::size_t start = 0; start < dim; start += 2 * half)
      for (std::size_t i = start; i < start + half; ++i) {
        float const a = row[i], b = row[i + half];
        row[i] = a + b;
        row[i + half] = a - b;
      }
  float const scale = 1 / std::sqrt(static_cast<float>(dim));
  for (std::size_t i = 0; i < dim; ++i) row[i] *= scale;
}

/// V: rotated rows, groups of 64 channels in one token, the first 4 tokens exact.
inline std::vector<double> int4_values(std::vector<double> const& exact, kv_extent e)
{
  auto x = to_single(exact);
  for (std::size_t row = 0; row < e.batch * e.seq * e.heads; ++row) {
    hadamard_row(&x[row * e.dim], e.dim);
    for (std::size_t c = 0; c < e.dim; c += 64)
      int4_group(x, std::min<std::size_t>(64, e.dim - c),
                 [&](std::size_t i) { return row * e.dim + c + i; });
    hadamard_row(&x[row * e.dim], e.dim);
  }
  keep_first_tokens(x, exact, e, 4);
  return to_double(x);
}

/// 8 bits, symmetric, blocks of 32 channels with a half-precision scale.
inline std::vector<double> q8_0(std::vector<double> const& exact)
{
  auto x = to_single(exact);
  for (std::size_t start = 0; start < x.size(); start += 32) {
    std::size_t const count = std::min<std::size_t>(32, x.size() - start);
    float largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[start + i]));
    float const scale = to_half(largest / 127.0f);
    for (std::size_t i = 0; i < count; ++i)
      x[start + i] = scale == 0 ? 0 : std::nearbyint(x[start + i] / scale) * scale;
  }
  return to_double(x);
}

/// Causal attention of the last `queries` positions; `q` is [batch, queries, query_heads, dim].
inline std::vector<double> plain_attention(std::vector<double> const& q, std::size_t queries,
                                           std::size_t query_heads, std::vector<double> const& k,
                                           std::vector<double> const& v, kv_extent e)
{
  std::vector<double> out(q.size(), 0.0), weight(e.seq);
  for (std::size_t b = 0; b < e.batch; ++b)
    for (std::size_t i = 0; i < queries; ++i)
      for (std::size_t h = 0; h < query_heads; ++h) {
        std::size_t const kv = h * e.heads / query_heads, visible = e.seq - queries + i + 1;
        double const* const query = &q[((b * queries + i) * query_heads + h) * e.dim];
        double* const o = &out[((b * queries + i) * query_heads + h) * e.dim];
        double largest = -HUGE_VAL, sum = 0;
        for (std::size_t t = 0; t < visible; ++t) {
          double score = 0;
          for (std::size_t c = 0; c < e.dim; ++c) score += query[c] * k[e.at(b, t, kv, c)];
          weight[t] = score / std::sqrt(static_cast<double>(e.dim));
          largest = std::max(largest, weight[t]);
        }
        for (std::size_t t = 0; t < visible; ++t) sum += weight[t] = std::exp(weight[t] - largest);
        for (std::size_t t = 0; t < visible; ++t)
          for (std::size_t c = 0; c < e.dim; ++c) o[c] += weight[t] / sum * v[e.at(b, t, kv, c)];
      }
  return out;
}

}  // namespace sora2_test
