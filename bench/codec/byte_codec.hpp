// What the benchmarks of byte codecs share: the pages, and one encode and one decode benchmark for each codec or peer.
// Smallest use: `add_codec<planes<>>("planes/byte2", page);`.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sora2/codec/bulk.hpp>
#include <sora2/core/float16.hpp>

#include "support/byte_pages.hpp"

namespace bench {

using bytes = std::vector<std::byte>;

/// A slow wave of float16 or float, as bytes.
template <class T>
bytes wave_page(std::size_t size)
{
  auto const values = support::wave<T>(size / sizeof(T), 3);
  bytes page(size);
  std::memcpy(page.data(), values.data(), values.size() * sizeof(T));
  return page;
}

/// Encodes and decodes one page over and over. encode(in, out) gives the stored bytes, 0 for failure.
struct page_functions {
  std::size_t room;
  std::function<std::size_t(bytes const&, bytes&)> encode;
  std::function<bool(sora2::view<std::byte const>, bytes&)> decode;
};

inline void add(std::string const& name, bytes const& page, page_functions const& f)
{
  auto const shared = std::make_shared<std::pair<bytes, page_functions>>(page, f);
  auto const rate = [](benchmark::State& state, std::size_t size) {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(size));
  };
  auto const encode = [shared, rate](benchmark::State& state) {
    auto const& [in, codec] = *shared;
    bytes out(codec.room);
    std::size_t n = 0;
    for (auto _ : state) {
      n = codec.encode(in, out);
      benchmark::ClobberMemory();
    }
    if (n == 0) return state.SkipWithError("not encoded");
    rate(state, in.size());
    state.counters["ratio"] = static_cast<double>(in.size()) / static_cast<double>(n);
  };
  auto const decode = [shared, rate](benchmark::State& state) {
    auto const& [in, codec] = *shared;
    bytes out(codec.room), back(in.size());
    std::size_t const n = codec.encode(in, out);
    for (auto _ : state) {
      if (!codec.decode({out.data(), n}, back)) return state.SkipWithError("not decoded");
      benchmark::ClobberMemory();
    }
    if (back != in) return state.SkipWithError("wrong bytes");
    rate(state, in.size());
  };
  benchmark::RegisterBenchmark((name + "/encode").c_str(), encode)->MinTime(0.05);
  benchmark::RegisterBenchmark((name + "/decode").c_str(), decode)->MinTime(0.05);
}

template <class Codec>
void add_codec(std::string const& name, bytes const& page, sora2::model_t<Codec> const& m = {})
{
  add(name, page,
      {Codec::encoded_bound(page.size()),
       [m](bytes const& in, bytes& out) {
         return sora2::encode<Codec>(sora2::view<std::byte const>(in), sora2::view<std::byte>(out),
                                     m)
             .value_or(0);
       },
       [m](sora2::view<std::byte const> in, bytes& back) {
         return sora2::decode<Codec>(in, sora2::view<std::byte>(back), m) == sora2::status::ok;
       }});
}

/// The speed to compare with: the page copied.
inline void add_memcpy(std::string const& name, bytes const& page)
{
  auto const copy = [page](benchmark::State& state) {
    bytes out(page.size() + 64);  // not at the source's distance in a memory page
    for (auto _ : state) {
      std::memcpy(out.data() + 64, page.data(), page.size());
      benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(page.size()));
  };
  benchmark::RegisterBenchmark((name + "/memcpy").c_str(), copy)->MinTime(0.05);
}

}  // namespace bench
