// What the benchmarks of chains and tiers share: float16 pages of 4 KiB in a working set of one page or of 64.
// Smallest use: `for (auto const& set : bench::page_sets()) bench::add_page_step("x/decode", set, step);`.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <sora2/core/float16.hpp>
#include <sora2/core/view.hpp>

#include "support/byte_pages.hpp"

namespace bench {

/// Pages of 32 rows, and what became of each.
struct page_set {
  static constexpr std::uint32_t rows = 32, columns = 64;
  static constexpr std::size_t page_values = rows * columns, page_bytes = 2 * page_values;
  static constexpr std::size_t room = 4 * page_bytes;
  static constexpr std::size_t apart = 32;  ///< values that keep a copy off its source's place

  std::string name;
  std::size_t pages;
  std::vector<sora2::float16> values, back;
  std::vector<std::byte> packed;
  std::vector<std::size_t> lengths;

  explicit page_set(std::size_t count)
      : name(std::to_string(count * page_bytes / 1024) + "K"),
        pages(count),
        values(support::wave<sora2::float16>(count * page_values, 3)),
        back(values.size() + apart),
        packed(count * room),
        lengths(count)
  {
    // Every row four times: even the codes of a row leave something to find.
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = values[i / (4 * columns) * (4 * columns) + i % columns];
  }
  [[nodiscard]] sora2::tile<sora2::float16 const> page(std::size_t i) const
  {
    return {values.data() + i * page_values, 1, rows, columns};
  }
  [[nodiscard]] sora2::tile<sora2::float16> to(std::size_t i)
  {
    return {back.data() + apart + i * page_values, 1, rows, columns};
  }
  [[nodiscard]] sora2::view<std::byte> space(std::size_t i)
  {
    return {packed.data() + i * room, room};
  }
  [[nodiscard]] sora2::view<std::byte const> stream(std::size_t i) const
  {
    return {packed.data() + i * room, lengths[i]};
  }
};

inline std::vector<std::shared_ptr<page_set>> page_sets()
{
  return {std::make_shared<page_set>(1), std::make_shared<page_set>(64)};
}

/// Runs prepare(set, page) once and step(set, page) over and over, for all pages; both give false for failure.
template <class Prepare, class Step>
void add_step(std::string const& name, std::shared_ptr<page_set> const& set, Prepare prepare,
              Step step)
{
  auto const run = [=](benchmark::State& state) {
    for (std::size_t i = 0; i < set->pages; ++i)
      if (!prepare(*set, i)) return state.SkipWithError("not prepared");
    for (auto _ : state) {
      for (std::size_t i = 0; i < set->pages; ++i)
        if (!step(*set, i)) return state.SkipWithError("failed");
      benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(set->pages * page_set::page_bytes));
  };
  benchmark::RegisterBenchmark((name + "/" + set->name).c_str(), run)->MinTime(0.05);
}

/// One way to encode and to decode: encode(page, room) gives a result, decode(stream, page) a status.
template <class Encode, class Decode>
void add_codec(std::string const& group, std::string const& way,
               std::shared_ptr<page_set> const& set, Encode encode, Decode decode)
{
  auto const write = [encode](page_set& s, std::size_t i) {
    auto const n = encode(s.page(i), s.space(i));
    s.lengths[i] = n.value_or(0);
    return n.has_value();
  };
  auto const read = [decode](page_set& s, std::size_t i) {
    return decode(s.stream(i), s.to(i)) == sora2::status::ok;
  };
  add_step(
      group + "/encode/" + way, set, [](page_set&, std::size_t) { return true; }, write);
  add_step(group + "/decode/" + way, set, write, read);
}

/// The speed to compare with: the pages copied.
inline void add_copy(std::string const& group, std::shared_ptr<page_set> const& set)
{
  add_step(
      group + "/memcpy", set, [](page_set&, std::size_t) { return true; },
      [](page_set& s, std::size_t i) {
        std::memcpy(s.to(i).data, s.page(i).data, page_set::page_bytes);
        return true;
      });
}

}  // namespace bench
