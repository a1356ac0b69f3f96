// Single operations of every warp this CPU has, on data in the first-level cache. One item is one lane.
#include <sora2/simt/dispatch.hpp>

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include <sora2/core/float16.hpp>

namespace {

using sora2::isa;
using sora2::lanes;
using sora2::view;

constexpr std::size_t rows = 64;  // of 32 lanes

struct data {
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(32 * rows),
                             table = std::vector<std::uint32_t>(4096);
  std::vector<float> reals = std::vector<float>(32 * rows);
  std::vector<sora2::float16> halves = std::vector<sora2::float16>(32 * rows);
  std::vector<std::uint8_t> octets = std::vector<std::uint8_t>(32 * rows);
  std::vector<std::byte> stream = std::vector<std::byte>(64 * rows);
  data()
  {
    std::uint32_t state = 1;
    auto const next = [&] { return state = state * 1664525u + 1013904223u; };
    for (auto& v : words) v = next();
    for (auto& v : table) v = next();
    for (auto& v : reals) v = static_cast<float>(static_cast<std::int32_t>(next())) * 1e-7f;
    for (auto& v : halves) v = sora2::to_float16(static_cast<float>(next() >> 16));
    for (auto& v : stream) v = static_cast<std::byte>(next() >> 24);
  }
};

template <class Step>
void add(char const* name, Step step)
{
  for (isa set : {isa::portable, isa::avx2, isa::avx512}) {
    if (set > sora2::best_isa()) continue;
    std::string const full = std::string("warp/") + name + "/" + isa_name(set);
    benchmark::RegisterBenchmark(full.c_str(), [set, step](benchmark::State& state) {
      data d;
      for (auto _ : state) {
        sora2::with_warp(set, [&](auto const& w) { step(w, d); });
        benchmark::ClobberMemory();
      }
      state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                              static_cast<std::int64_t>(32 * rows));
    });
  }
}

int register_all()
{
  add("load_half_store_float", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      w.store(&d.reals[i], w.template load<float>(&d.halves[i]));
  });
  add("load_float_store_half", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      w.store(&d.halves[i], w.template load<float>(&d.reals[i]));
  });
  add("load_word_store_octet", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      w.store(&d.octets[i], w.template load<std::uint32_t>(&d.words[i]));
  });
  add("load_octet_to_float", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      w.store(&d.reals[i], w.template load<float>(&d.octets[i]) * 0.5f);
  });
  add("round_to_int", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      w.store(&d.words[i], to_uint(round_to_int(w.template load<float>(&d.reals[i]))));
  });
  add("mul_hi", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32) {
      auto const x = w.template load<std::uint32_t>(&d.words[i]);
      w.store(&d.words[i], mul_hi(x, x + 77u));
    }
  });
  add("gather_16K", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32) {
      auto const at = w.template load<std::uint32_t>(&d.words[i]) & 4095u;
      w.store(&d.reals[i], float_of(w.template gather<std::uint32_t>(d.table.data(), at)));
    }
  });
  add("shuffle", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32) {
      auto const x = w.template load<std::uint32_t>(&d.words[i]);
      w.store(&d.words[i], w.shuffle(x, (w.lane() * 5u + 3u) & 31u));
    }
  });
  add("sum_float", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      d.reals[i] = w.sum(w.template load<float>(&d.reals[i])) * 0.01f;
  });
  add("greatest_of_float", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      d.reals[i] = w.greatest_of(w.template load<float>(&d.reals[i]));
  });
  add("prefix_sum", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      w.store(&d.words[i], w.prefix_sum(w.template load<std::uint32_t>(&d.words[i])));
  });
  add("load_n_24_of_32_half", [](auto const& w, data& d) {
    for (std::size_t i = 0; i < 32 * rows; i += 32)
      w.store(&d.reals[i], w.template load_n<float>(&d.halves[i], 24, 0.0f));
  });
  add("take_next_half_full", [](auto const& w, data& d) {
    sora2::word_source source{view<std::byte const>(d.stream)};
    for (std::size_t i = 0; i < 32 * rows; i += 32) {
      auto const need = (w.template load<std::uint32_t>(&d.words[i]) & 64u) == 64u;
      w.store(&d.reals[i], float_of(w.take_next(source, need)));
    }
  });
  add("put_before_half_full", [](auto const& w, data& d) {
    sora2::word_sink sink{view<std::byte>(d.stream)};
    for (std::size_t i = 0; i < 32 * rows; i += 32) {
      auto const x = w.template load<std::uint32_t>(&d.words[i]);
      w.put_before(sink, x, (x & 64u) == 64u);
    }
  });
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace
