// CRC-32C by the CPU's instruction, by tables and by the lanes of the best warp, beside memcpy of the same bytes.
#include <sora2/simt/crc32c.hpp>

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include <sora2/simt/dispatch.hpp>

namespace {

using sora2::view;

std::vector<std::byte> noise(std::size_t n)
{
  std::vector<std::byte> v(n);
  std::uint32_t state = 1;
  for (auto& b : v) b = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
  return v;
}

template <class Function>
void add(std::string const& name, std::size_t size, Function f)
{
  benchmark::RegisterBenchmark(name.c_str(), [size, f](benchmark::State& state) {
    auto const bytes = noise(size);
    for (auto _ : state) {
      auto value = f(view<std::byte const>(bytes));
      benchmark::DoNotOptimize(value);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(size));
  });
}

int register_all()
{
  for (std::size_t size : {64u, 1024u, 4096u, 16384u, 262'144u}) {
    std::string const end = "/" + std::to_string(size);
    add("crc32c/best" + end, size, [](view<std::byte const> b) { return sora2::crc32c(b); });
    add("crc32c/tables" + end, size,
        [](view<std::byte const> b) { return ~sora2::detail::crc_portable(~0u, b.data, b.size); });
    add("crc32c/lanes" + end, size, [](view<std::byte const> b) {
      return sora2::with_best_warp(
          [&](auto const& w) { return ~sora2::detail::crc_lanes(w, b, ~0u); });
    });
    add("crc32c/memcpy" + end, size, [](view<std::byte const> b) {
      static std::vector<std::byte> to(262'144);
      std::memcpy(to.data(), b.data, b.size);
      benchmark::ClobberMemory();
      return to.data();
    });
  }
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace
