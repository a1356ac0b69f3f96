// Streams of every format, as they were written once: reading them gives the page they were made from, and where a format
// leaves the encoder no choice, writing gives the same bytes. test/golden/README.md says how to make new ones.
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <sora2/codec/block.hpp>
#include <sora2/codec/chain.hpp>
#include <sora2/codec/context.hpp>
#include <sora2/codec/delta.hpp>
#include <sora2/codec/lz4.hpp>
#include <sora2/codec/planes.hpp>
#include <sora2/codec/quantize.hpp>
#include <sora2/codec/rans.hpp>
#if SORA2_HAS_ZSTD
#include <sora2/codec/zstd.hpp>
#endif
#include <support/byte_pages.hpp>

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

std::string const folder = SORA2_TEST_DATA_DIR "/../golden/";

/// A random walk of small integers, in steps that every value type holds exactly.
template <class T>
std::vector<T> walk(std::size_t count)
{
  support::random_source next(7);
  std::vector<T> values(count);
  int at = 0;
  for (T& v : values) {
    at += static_cast<int>(next.below(9)) - 4;
    if (at > 200 || at < -200) at /= 2;
    v = from_float<T>(static_cast<float>(at) / 16.0f);
  }
  return values;
}
template <class T>
bytes walk_bytes(std::size_t count)
{
  auto const values = walk<T>(count);
  auto const raw = as_bytes(view<T const>(values));
  return bytes(raw.begin(), raw.end());
}

bytes stored(char const* name)
{
  bool found = false;
  bytes const block = support::file_bytes(folder + name + ".block", found);
  REQUIRE_MESSAGE(found, name);
  return block;
}
/// The hash of the page that must come out, in decimal, beside the block.
void check_page(char const* name, view<std::byte const> page)
{
  bool found = false;
  bytes const text = support::file_bytes(folder + name + ".fnv1a", found);
  REQUIRE_MESSAGE(found, name);
  std::string const hash(reinterpret_cast<char const*>(text.data()), text.size());
  CHECK(hash == std::to_string(support::fnv1a(page)) + "\n");
}

bool rewrite = false;  // only the test case that makes new streams sets it

void write_file(std::string const& path, void const* data, std::size_t size)
{
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  CHECK(std::fwrite(data, 1, size, file) == size);
  std::fclose(file);
}
void keep(char const* name, bytes const& block, view<std::byte const> page)
{
  std::string const hash = std::to_string(support::fnv1a(page)) + "\n";
  write_file(folder + name + ".block", block.data(), block.size());
  write_file(folder + name + ".fnv1a", hash.data(), hash.size());
}

enum class encoder { has_no_choice, may_choose };

// One warp is enough here: the tests of each codec hold that all warps write the same.
template <class Codec, class In>
bytes written(In page, std::size_t raw_bytes, block_options options, model_t<Codec> const& m)
{
  bytes block(block_bound<Codec>(raw_bytes));
  typename Codec::template scratch<host_warp> s;
  auto const n = encode_block<Codec>(host_warp{}, s, page, view<std::byte>(block), options, m);
  REQUIRE(n);
  block.resize(*n);
  return block;
}
template <class Codec, class Out>
void read(bytes const& block, Out out, model_t<Codec> const& m = {})
{
  typename Codec::template scratch<host_warp> s;
  REQUIRE(decode_block<Codec>(host_warp{}, s, block, out, {}, m) == status::ok);
}

template <class Codec>
void check_bytes(char const* name, encoder kind, bytes const& page, model_t<Codec> const& m = {})
{
  INFO(name);
  bytes const block = written<Codec>(view<std::byte const>(page), page.size(), {}, m);
  bytes back(page.size());
  if (rewrite) keep(name, block, page);
  if (kind == encoder::has_no_choice) CHECK(block == stored(name));
  read<Codec>(stored(name), view<std::byte>(back), m);
  CHECK(back == page);
  check_page(name, back);
}
template <class Codec, class T>
void check_tile(char const* name, encoder kind, std::uint32_t planes, std::uint32_t rows,
                std::uint32_t columns, block_options options = {}, model_t<Codec> const& m = {},
                std::size_t loud = 0)
{
  INFO(name);
  auto values = walk<T>(std::size_t{planes} * rows * columns);
  for (std::size_t i = 0; loud != 0 && i < values.size(); i += loud)
    values[i] = from_float<T>(to_float(values[i]) * 64.0f);
  tile<T const> const page(values.data(), planes, rows, columns);
  bytes const block = written<Codec>(page, values.size() * sizeof(T), options, m);
  std::vector<T> back(values.size());
  tile<T> const out(back.data(), planes, rows, columns);
  if (rewrite) {
    read<Codec>(block, out, m);
    keep(name, block, as_bytes(view<T const>(back)));
  }
  if (kind == encoder::has_no_choice) CHECK(block == stored(name));
  read<Codec>(stored(name), out, m);
  check_page(name, as_bytes(view<T const>(back)));
}

void check_all()
{
  constexpr auto fixed = encoder::has_no_choice, free = encoder::may_choose;
  bytes const words = walk_bytes<float16>(500), singles = walk_bytes<float>(300);
  bytes odd = words;
  odd.resize(999);

  check_bytes<planes<>>("raw", fixed, support::noise(100, 1));
  check_bytes<chain<delta<delta_config{.distance = 20}>, rans<>>>("delta_u16", fixed, odd);
  check_bytes<chain<delta<delta_config{.element = 4, .kind = delta_kind::real}>, rans<>>>(
      "delta_f32", fixed, singles);
  check_bytes<chain<planes<>, rans<>>>("planes_byte", fixed, odd);
  check_bytes<chain<planes<planes_config{.element = 4, .kind = plane_kind::bit}>, rans<>>>(
      "planes_bit", fixed, singles);
  bytes base = words;
  for (std::size_t i = 0; i < base.size(); i += 40) base[i] ^= std::byte{1};
  check_bytes<chain<delta_base<>, rans<>>>("delta_base", fixed, words,
                                           base_model{view<std::byte const>(base)});
  check_bytes<rans<>>("rans", fixed, singles);
  check_bytes<rans<>>("rans_halves", fixed, walk_bytes<float16>(8250));
  check_bytes<lz4<>>("lz4", free, support::patches(1000, 2));
#if SORA2_HAS_ZSTD
  check_bytes<chain<delta<>, planes<>, zstd<>>>("zstd", free, words);
#endif

  check_tile<quantize<>, float16>("int8_token", fixed, 2, 7, 80);
  check_tile<quantize<quantize_config{.along = axis::channel}>, bfloat16>("int8_channel", fixed, 2,
                                                                          64, 16);
  check_tile<quantize<quantize_config{.bits = 4, .along = axis::channel, .symmetric = false}>,
             float16>("int4_channel", fixed, 1, 68, 40, {.exact_rows = 4, .table_id = 5});
  check_tile<quantize<quantize_config{.bits = 4, .symmetric = false, .rotate = true}>, float16>(
      "int4_rotated", fixed, 1, 33, 64, {.exact_rows = 3});
  check_tile<quantize<quantize_config{.bits = 2, .symmetric = false, .scale = scale_kind::float32}>,
             float>("int2_token", fixed, 1, 9, 72);
  check_tile<chain<quantize<quantize_config{.bits = 4, .symmetric = false}>, lz4<>>, float16>(
      "int4_lz4", free, 1, 16, 64);

  // Values that are far off make escapes and raw bits.
  check_tile<context<>, float>("context", fixed, 3, 33, 40, {.exact_rows = 2});
  check_tile<context<context_k>, float16>("context_k", fixed, 2, 64, 24, {}, {}, 97);
  check_tile<context<context_v>, bfloat16>("context_v", fixed, 1, 70, 33, {}, {}, 61);
  context_trainer trainer;
  auto const sample = walk<bfloat16>(4096);
  CHECK(trainer.add<context<context_v>>(tile<bfloat16 const>(sample.data(), 1, 64, 64)) ==
        status::ok);
  auto const table = std::make_unique<context_table>(trainer.table());
  check_tile<context<context_v>, bfloat16>("context_table", fixed, 2, 40, 64, {}, table->model());
}

}  // namespace

TEST_SUITE("golden/golden") {
  TEST_CASE("streams of this version read and write as they did") { check_all(); }

  TEST_CASE("make new streams" * doctest::skip())
  {
    rewrite = true;
    check_all();
    rewrite = false;
  }
}
