// Small K/V files for tests: smooth channels with outliers for K, noise for V, as caches of models have.
#pragma once

#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>
#include <sora2/store/safetensors.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace sora2_test {

/// A tensor that owns its bytes.
struct owned_tensor {
  std::string name;
  sora2::dtype type = sora2::dtype::f16;
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> data;

  [[nodiscard]] sora2::tensor_view view() const { return {name, type, shape, data}; }
};

inline std::vector<double> numbers(sora2::tensor_view const& t)
{
  std::vector<double> out;
  std::size_t const bytes = sora2::dtype_bits(t.type) / 8;
  for (std::size_t i = 0; i + bytes <= t.data.size; i += bytes) {
    auto const* const p = t.data.data + i;
    out.push_back(t.type == sora2::dtype::f32 ? sora2::load_le<float>(p)
                  : t.type == sora2::dtype::bf16
                      ? sora2::to_float(sora2::load_le<sora2::bfloat16>(p))
                      : sora2::to_float(sora2::load_le<sora2::float16>(p)));
  }
  return out;
}

inline owned_tensor make_tensor(std::string name, sora2::dtype type,
                                std::vector<std::uint64_t> shape, std::vector<double> const& values)
{
  owned_tensor t{std::move(name), type, std::move(shape), {}};
  for (double const x : values) {
    auto const f = static_cast<float>(x);
    std::byte bytes[4];
    std::size_t const n = sora2::dtype_bits(type) / 8;
    if (type == sora2::dtype::f32)
      sora2::store_le(bytes, f);
    else if (type == sora2::dtype::bf16)
      sora2::store_le(bytes, sora2::to_bfloat16(f));
    else
      sora2::store_le(bytes, sora2::to_float16(f));
    t.data.insert(t.data.end(), bytes, bytes + n);
  }
  return t;
}

struct sample_shape {
  std::uint64_t batch = 1, seq = 130, heads = 2, dim = 64;
};

inline owned_tensor sample_tensor(std::string name, bool key, sora2::dtype type, sample_shape s,
                                  unsigned seed)
{
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> mean(s.heads * s.dim), spread(s.heads * s.dim);
  for (auto& m : mean) m = key ? 3 * normal(random) : 0;
  for (auto& x : spread) x = key ? std::exp(0.7 * normal(random)) : 0.3;
  std::vector<double> values;
  for (std::uint64_t token = 0; token < s.batch * s.seq; ++token)
    for (std::size_t c = 0; c < mean.size(); ++c)
      values.push_back(mean[c] + spread[c] * normal(random));
  return make_tensor(std::move(name), type, {s.batch, s.seq, s.heads, s.dim}, values);
}

inline void save(std::string const& path, std::vector<owned_tensor> const& tensors,
                 sora2::text_metadata const& metadata = {})
{
  std::vector<sora2::tensor_view> views;
  for (auto const& t : tensors) views.push_back(t.view());
  auto const why = sora2::save_safetensors(path, views, metadata);
  if (why.code != sora2::status::ok) throw std::runtime_error(why.message);
}

inline sora2::safetensors_file load(std::string const& path)
{
  auto file = sora2::safetensors_file::open(path);
  if (!file) throw std::runtime_error(file.error().message);
  return std::move(*file);
}

/// Plain L2: the norm of the difference over the norm of the exact values.
inline double relative_error(std::vector<double> const& exact, std::vector<double> const& got)
{
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    difference += (exact[i] - got[i]) * (exact[i] - got[i]);
    norm += exact[i] * exact[i];
  }
  return norm == 0 ? (difference == 0 ? 0 : HUGE_VAL) : std::sqrt(difference / norm);
}

}  // namespace sora2_test
