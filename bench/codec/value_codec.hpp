// What the benchmarks of value codecs share: encode and decode of float16 pages in a working set that fits the cache.
// Smallest use: `add_value_codec<quantize<>>("quantize/int8", {1, 64, 128});`.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <sora2/codec/bulk.hpp>
#include <sora2/core/float16.hpp>

namespace bench {

struct page_shape {
  std::uint32_t planes, rows, columns;
  [[nodiscard]] std::size_t size() const { return std::size_t{planes} * rows * columns; }
};

inline constexpr std::size_t working_set = 262144;  ///< bytes of float16

/// Normal-like values whose channels have different sizes, as keys have.
inline std::vector<sora2::float16> value_pages(page_shape shape)
{
  std::vector<sora2::float16> values(working_set / 2 / shape.size() * shape.size());
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      random = random * 1664525u + 1013904223u;
      sum += static_cast<float>(static_cast<std::int32_t>(random)) * 0x1p-31f;
    }
    values[i] = sora2::to_float16(sum * static_cast<float>(1 + i % shape.columns % 7));
  }
  return values;
}

inline void count_bytes(benchmark::State& state, std::size_t bytes)
{
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(bytes));
}

template <class Codec>
void add_value_codec(std::string const& name, page_shape shape)
{
  using sora2::float16;
  struct work {
    std::vector<float16> values, back;
    std::vector<std::vector<std::byte>> packed;
    std::vector<std::size_t> lengths;
  };
  auto const w = std::make_shared<work>();
  w->values = w->back = value_pages(shape);
  std::size_t const pages = w->values.size() / shape.size();
  auto const tile_at = [shape](std::vector<float16>& v, std::size_t page) {
    return sora2::tile<float16>{v.data() + page * shape.size(), shape.planes, shape.rows,
                                shape.columns};
  };
  w->lengths.resize(pages);
  std::vector<std::byte> room(Codec::encoded_bound(2 * shape.size()));
  std::size_t stored = 0;
  for (std::size_t p = 0; p < pages; ++p) {
    auto const n = sora2::encode<Codec>(tile_at(w->values, p), sora2::view<std::byte>(room));
    w->lengths[p] = n.value_or(0);
    w->packed.emplace_back(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(w->lengths[p]));
    stored += w->lengths[p];
  }
  double const bits = 8.0 * static_cast<double>(stored) / static_cast<double>(w->values.size());
  auto const encode = [=](benchmark::State& state) mutable {
    for (auto _ : state)
      for (std::size_t p = 0; p < pages; ++p)
        if (!sora2::encode<Codec>(tile_at(w->values, p), sora2::view<std::byte>(room)))
          return state.SkipWithError("not encoded");
    count_bytes(state, 2 * w->values.size());
    state.counters["bits_per_value"] = bits;
  };
  auto const decode = [=](benchmark::State& state) {
    for (auto _ : state)
      for (std::size_t p = 0; p < pages; ++p)
        if (sora2::decode<Codec>(sora2::view<std::byte const>(w->packed[p]), tile_at(w->back, p)) !=
            sora2::status::ok)
          return state.SkipWithError("not decoded");
    count_bytes(state, 2 * w->values.size());
  };
  benchmark::RegisterBenchmark((name + "/encode").c_str(), encode)->MinTime(0.05);
  benchmark::RegisterBenchmark((name + "/decode").c_str(), decode)->MinTime(0.05);
}

/// The speed to compare with: the working set copied.
inline void add_working_set_memcpy(std::string const& name)
{
  auto const copy = [](benchmark::State& state) {
    std::vector<std::byte> from(working_set), to(working_set + 64);
    for (auto _ : state) {
      std::memcpy(to.data() + 64, from.data(), working_set);
      benchmark::ClobberMemory();
    }
    count_bytes(state, working_set);
  };
  benchmark::RegisterBenchmark((name + "/memcpy").c_str(), copy)->MinTime(0.05);
}

}  // namespace bench
