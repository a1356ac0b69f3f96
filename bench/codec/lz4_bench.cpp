// lz4 beside liblz4's level 1 and memcpy, on whole buffers and on pages of 4, 16 and 64 KiB.
// Bytes a second are those of the raw pages; `ratio` is raw by stored bytes.
#include <sora2/codec/lz4.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sora2/codec/bulk.hpp>

#include "support/byte_pages.hpp"
#include "support/lz4_pages.hpp"

#if defined(SORA2_HAS_LZ4)
#include <lz4.h>
#endif

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

struct data_set {
  std::string name;
  bytes raw;
};

#if defined(SORA2_SHARED_DIR)
bytes file(std::string const& name)
{
  bool found = false;
  return support::file_bytes(SORA2_SHARED_DIR "/data/" + name, found);
}
#else
bytes file(std::string const&) { return {}; }
#endif
/// The tensors of a safetensors file, in a row.
bytes tensors(bytes content)
{
  std::uint64_t header = 0;
  if (content.size() > 8) std::memcpy(&header, content.data(), 8);
  content.erase(content.begin(),
                content.begin() + static_cast<std::ptrdiff_t>(
                                      std::min<std::uint64_t>(content.size(), header + 8)));
  return content;
}
/// 4-bit codes, two a byte, of tiles of 64 tokens with one scale a channel.
bytes codes_of(bytes const& halves)
{
  constexpr std::size_t tokens = 64, channels = 64;
  bytes codes;
  std::vector<float> x(tokens * channels);
  for (std::size_t at = 0; at + 2 * x.size() <= halves.size(); at += 2 * x.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      float16 h;
      std::memcpy(&h, halves.data() + at + 2 * i, 2);
      x[i] = to_float(h);
    }
    std::vector<float> low(x.begin(), x.begin() + channels), high = low;
    for (std::size_t i = 0; i < x.size(); ++i) {
      low[i % channels] = least(low[i % channels], x[i]);
      high[i % channels] = greatest(high[i % channels], x[i]);
    }
    unsigned before = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      float const span = high[i % channels] - low[i % channels];
      unsigned const code =
          span > 0 ? static_cast<unsigned>((x[i] - low[i % channels]) / span * 15.0f + 0.5f) : 0;
      if (i % 2 == 1) codes.push_back(static_cast<std::byte>(before | code << 4));
      before = code;
    }
  }
  return codes;
}
/// Zigzag differences of 16-bit elements as integers.
bytes differences(bytes const& from, bytes const& to)
{
  bytes out(std::min(from.size(), to.size()));
  for (std::size_t i = 0; i + 2 <= out.size(); i += 2) {
    std::uint16_t a, b;
    std::memcpy(&a, from.data() + i, 2);
    std::memcpy(&b, to.data() + i, 2);
    auto const d = static_cast<std::int16_t>(b - a);
    auto const z = static_cast<std::uint16_t>(d << 1 ^ d >> 15);
    std::memcpy(out.data() + i, &z, 2);
  }
  return out;
}
bytes joined(std::vector<bytes> const& parts)
{
  bytes all;
  for (auto const& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

std::vector<data_set> data_sets()
{
  bool found = false;
  bytes const sample =
      tensors(support::file_bytes(SORA2_SAMPLE_DIR "/code_2048.safetensors", found));
  std::vector<data_set> sets = {
      {"text", joined({file("text/dpkg.log"), file("text/prose.txt"), file("text/source.py"),
                       file("text/tokenizer.json")})},
      {"kv_fp16",
       {sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(
                                             std::min<std::size_t>(sample.size(), 1u << 19))}},
      {"kv_int4", codes_of(sample)},
      {"weights_delta", differences(tensors(file("weights/pair_bf16_step100.safetensors")),
                                    tensors(file("weights/pair_bf16_step110.safetensors")))},
      {"frames", tensors(file("frames/bikes_luma.safetensors"))},
      {"words", support::text(1u << 19, 1)},
      {"zeros", bytes(1u << 19)},
      {"noise", support::noise(1u << 19, 1)}};
  std::erase_if(sets, [](data_set const& s) { return s.raw.size() < 65536; });
  for (auto& s : sets) s.raw.resize(std::min<std::size_t>(s.raw.size(), 1u << 19));
  return sets;
}

/// Pages in a row and the room for their blocks. Blocks to decode are liblz4's where it is there, for both decoders.
struct pages {
  bytes raw, blocks, back;
  std::size_t page, room, count;
  std::vector<std::size_t> sizes;
  lz4<>::scratch<host_warp> scratch;

  pages(bytes const& all, std::size_t page_bytes)
      : raw(all),
        page(std::min(page_bytes, all.size())),
        room(lz4<>::encoded_bound(page)),
        count(all.size() / page),
        sizes(count)
  {
    blocks.resize(count * room);
    back.resize(count * page);
  }
  view<std::byte const> from(std::size_t i) const { return {raw.data() + i * page, page}; }
  view<std::byte> to(std::size_t i) { return {back.data() + i * page, page}; }
  view<std::byte> block_room(std::size_t i) { return {blocks.data() + i * room, room}; }
  view<std::byte const> block(std::size_t i) const { return {blocks.data() + i * room, sizes[i]}; }

  void encode(std::size_t i)
  {
    auto const n = sora2::encode<lz4<>>(from(i), block_room(i));
    sizes[i] = n ? *n : 0;
  }
  bool decode(std::size_t i) { return sora2::decode<lz4<>>(block(i), to(i)) == status::ok; }
#if defined(SORA2_HAS_LZ4)
  void encode_peer(std::size_t i)
  {
    auto const* in = reinterpret_cast<char const*>(from(i).data);
    auto* out = reinterpret_cast<char*>(block_room(i).data);
    sizes[i] = static_cast<std::size_t>(
        LZ4_compress_default(in, out, static_cast<int>(page), static_cast<int>(room)));
  }
  bool decode_peer(std::size_t i)
  {
    auto const* in = reinterpret_cast<char const*>(block(i).data);
    return LZ4_decompress_safe(in, reinterpret_cast<char*>(to(i).data), static_cast<int>(sizes[i]),
                               static_cast<int>(page)) == static_cast<int>(page);
  }
#endif
};

/// Runs `step` over all pages in every iteration.
template <class Step>
void measure(benchmark::State& state, pages& p, bool with_ratio, Step step)
{
  for (auto _ : state) {
    for (std::size_t i = 0; i < p.count; ++i) step(i);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(p.count * p.page));
  std::size_t stored = 0;
  for (auto n : p.sizes) stored += n;
  if (with_ratio)
    state.counters["ratio"] = static_cast<double>(p.count * p.page) / static_cast<double>(stored);
}

int register_all()
{
  for (auto& set : data_sets())
    for (std::size_t size : {std::size_t{4096}, std::size_t{16384}, std::size_t{65536}, SIZE_MAX}) {
      auto const p = std::make_shared<pages>(set.raw, size);
      std::string const name = "lz4/" + set.name + "/" +
                               (size == SIZE_MAX ? "whole" : std::to_string(size / 1024) + "K") +
                               "/";
      auto const add = [&](char const* what, std::function<void(benchmark::State&)> f) {
        benchmark::RegisterBenchmark((name + what).c_str(), std::move(f))->MinTime(0.05);
      };
      add("encode/sora2",
          [p](benchmark::State& s) { measure(s, *p, true, [&](std::size_t i) { p->encode(i); }); });
      auto const decoding = [p](benchmark::State& s, auto step) {
        for (std::size_t i = 0; i < p->count; ++i)
#if defined(SORA2_HAS_LZ4)
          p->encode_peer(i);
#else
          p->encode(i);
#endif
        std::fill(p->back.begin(), p->back.end(), std::byte{});
        for (std::size_t i = 0; i < p->count; ++i)
          if (!step(i)) return s.SkipWithError("not decoded");
        if (!std::equal(p->back.begin(), p->back.end(), p->raw.begin()))
          return s.SkipWithError("wrong bytes");
        measure(s, *p, false, step);
      };
      add("decode/sora2",
          [=](benchmark::State& s) { decoding(s, [p](std::size_t i) { return p->decode(i); }); });
#if defined(SORA2_HAS_LZ4)
      add("encode/liblz4", [p](benchmark::State& s) {
        measure(s, *p, true, [&](std::size_t i) { p->encode_peer(i); });
      });
      add("decode/liblz4", [=](benchmark::State& s) {
        decoding(s, [p](std::size_t i) { return p->decode_peer(i); });
      });
#endif
      add("memcpy", [p](benchmark::State& s) {
        measure(s, *p, false,
                [&](std::size_t i) { std::memcpy(p->to(i).data, p->from(i).data, p->page); });
      });
    }
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace
