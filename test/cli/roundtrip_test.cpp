// `sora2 roundtrip`, and its two halves in two processes: `pack` writes blocks, `unpack` knows nothing but them.
#include <doctest/doctest.h>

#include <sora2/codec/block.hpp>
#include <sora2/codec/lz4.hpp>
#include <sora2/store/safetensors.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/kv_samples.hpp"
#include "support/run_program.hpp"

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

using namespace sora2_test;
using sora2::dtype;

namespace {

std::vector<std::string> const all_policies = {"raw", "int8", "int4",    "int2",
                                               "lz4", "zstd", "context", "routed"};

/// A file as caches of models come: two layers, queries, tokens, metadata, everything in an odd order.
std::vector<owned_tensor> mixed_file(dtype type, sample_shape s)
{
  owned_tensor tokens{"tokens", dtype::i32, {1, 3}, std::vector<std::byte>(12, std::byte{5})};
  return {sample_tensor("v.L01", false, type, s, 1),
          tokens,
          sample_tensor("k.L00", true, type, s, 2),
          sample_tensor("q.L00", false, dtype::f16, {1, 4, 2, 64}, 3),
          sample_tensor("v.L00", false, type, s, 4),
          sample_tensor("k.L01", true, type, s, 5)};
}

bool same_bytes(sora2::view<std::byte const> a, sora2::view<std::byte const> b)
{
  return a.size == b.size && std::equal(a.begin(), a.end(), b.begin());
}

/// K after RoPE from K before it, as the definition reads: channel c turns with channel c + dim/2.
std::vector<double> turned(std::vector<double> const& x, sample_shape s, double base)
{
  std::vector<double> out(x.size());
  for (std::uint64_t b = 0; b < s.batch; ++b)
    for (std::uint64_t t = 0; t < s.seq; ++t)
      for (std::uint64_t h = 0; h < s.heads; ++h)
        for (std::uint64_t c = 0; c < s.dim / 2; ++c) {
          std::size_t const at = ((b * s.seq + t) * s.heads + h) * s.dim + c, to = at + s.dim / 2;
          double const angle =
              static_cast<double>(t) *
              std::pow(base, -2.0 * static_cast<double>(c) / static_cast<double>(s.dim));
          out[at] = x[at] * std::cos(angle) - x[to] * std::sin(angle);
          out[to] = x[to] * std::cos(angle) + x[at] * std::sin(angle);
        }
  return out;
}

}  // namespace

TEST_SUITE("cli/roundtrip") {
  TEST_CASE("names, shapes, dtypes, metadata and everything that is not K or V stay")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    for (dtype const type : {dtype::f16, dtype::bf16, dtype::f32})
      for (auto const& policy : all_policies) {
        CAPTURE(policy);
        save(place.file("in"), mixed_file(type, {}), {{"note", "two\nlines"}, {"a", "b"}});
        auto const run =
            run_program({"roundtrip", "--policy", policy, place.file("in"), place.file("out")});
        REQUIRE_MESSAGE(run.exit_code == 0, run.err);
        CHECK(run.out.empty());
        CHECK(run.err.empty());
        CHECK(place.entries() == 2);
        auto const in = load(place.file("in")), out = load(place.file("out"));
        CHECK(in.metadata() == out.metadata());
        REQUIRE(in.tensors().size == out.tensors().size);
        bool const lossless = policy == "raw" || policy == "lz4" || policy == "zstd";
        for (std::size_t i = 0; i < in.tensors().size; ++i) {
          auto const &a = in.tensors()[i], &b = out.tensors()[i];
          CHECK(a.name == b.name);
          CHECK(a.type == b.type);
          CHECK(a.shape == b.shape);
          bool const coded = a.name[0] == 'k' || a.name[0] == 'v';
          CHECK(same_bytes(a.data, b.data) == (lossless || !coded));
          if (coded) CHECK(relative_error(numbers(a), numbers(b)) < (policy == "int2" ? 0.6 : 0.2));
        }
      }
  }

#if __has_include(<nlohmann/json.hpp>)
  TEST_CASE("another process decodes the same from blocks that are as long as was said")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    save(place.file("in"), mixed_file(dtype::f16, {2, 100, 5, 64}),
         {{"rope", "half-split, base 100000, position 0 = first token"}});
    for (auto const& policy : all_policies) {
      CAPTURE(policy);
      REQUIRE(
          run_program({"roundtrip", "-p", policy, place.file("in"), place.file("out")}).exit_code ==
          0);
      REQUIRE(
          run_program({"pack", "-p", policy, place.file("in"), place.file("packed")}).exit_code ==
          0);
      auto const unpack = run_program({"unpack", place.file("packed"), place.file("unpacked")});
      REQUIRE_MESSAGE(unpack.exit_code == 0, unpack.err);
      CHECK(read_bytes(place.file("out")) == read_bytes(place.file("unpacked")));

      REQUIRE(run_program({"kv", place.file("in"), "-p", policy, "--json", place.file("json")})
                  .exit_code == 0);
      auto const said = nlohmann::json::parse(text_of(place.file("json")));
      auto const packed = load(place.file("packed"));
      std::uint64_t stored = 0;
      for (auto const& t : packed.tensors())
        if (t.name[0] == 'k' || t.name[0] == 'v' || t.name.starts_with("sora2.tokens."))
          stored += t.data.size;
      CHECK(said["total"]["stored_bytes"] == stored);
      CHECK(packed.find("sora2.tokens.L00")->data.size == 2 * 2 * 8);  // two batches of two pages
      // The rest of the packed file is the tensors that are not coded, names and shapes.
      CHECK(read_bytes(place.file("packed")).size() < stored + 4 * 2 * 64 * 2 + 12 + 2500);
    }
  }
#endif

  TEST_CASE("of K before and after RoPE either is derived from the other")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    sample_shape const s{2, 130, 2, 64};
    auto const kpre = sample_tensor("kpre.L00", true, dtype::f32, s, 2);
    auto const k =
        make_tensor("k.L00", dtype::f32, kpre.shape, turned(numbers(kpre.view()), s, 1000));
    auto const v = sample_tensor("v.L00", false, dtype::f32, s, 3);
    sora2::text_metadata const rope = {{"rope_kind", "half-split"}, {"rope_base", "1000"}};
    for (auto const& policy : all_policies) {
      CAPTURE(policy);
      save(place.file("in"), {kpre, k, v}, rope);
      REQUIRE(
          run_program({"roundtrip", "-p", policy, place.file("in"), place.file("out")}).exit_code ==
          0);
      auto const out = load(place.file("out"));
      auto const before = numbers(*out.find("kpre.L00")), after = numbers(*out.find("k.L00"));
      CHECK(relative_error(turned(before, s, 1000), after) < 1e-6);
      CHECK(relative_error(numbers(k.view()), after) < (policy == "int2" ? 0.6 : 0.15));
      REQUIRE(
          run_program({"pack", "-p", policy, place.file("in"), place.file("packed")}).exit_code ==
          0);
      REQUIRE(run_program({"unpack", place.file("packed"), place.file("unpacked")}).exit_code == 0);
      CHECK(read_bytes(place.file("out")) == read_bytes(place.file("unpacked")));

      // Only one of the two in the file: it is what comes back.
      save(place.file("in"), {kpre, v}, rope);
      REQUIRE(
          run_program({"roundtrip", "-p", policy, place.file("in"), place.file("out")}).exit_code ==
          0);
      CHECK(load(place.file("out")).tensors().size == 2);
      CHECK(
          relative_error(numbers(kpre.view()), numbers(*load(place.file("out")).find("kpre.L00"))) <
          (policy == "int2" ? 0.6 : 0.15));
    }
  }

  TEST_CASE("a file may be replaced by its own round trip")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    save(place.file("kv"), mixed_file(dtype::f16, {}));
    auto const before = read_bytes(place.file("kv"));
    REQUIRE(run_program({"roundtrip", "-p", "lz4", place.file("kv"), place.file("kv")}).exit_code ==
            0);
    CHECK(read_bytes(place.file("kv")) == before);
    CHECK(place.entries() == 1);
  }

  TEST_CASE("no memory is taken on the word of a packed file's shapes")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    // Headers without a page behind them, each of 16 MB; together a gigabyte.
    constexpr std::uint64_t pages = 64, page_bytes = 64 * 65535 * 4;
    std::vector<std::byte> blocks;
    for (std::uint64_t i = 0; i < pages; ++i) {
      sora2::block_header h;
      h.stored_level = sora2::level::fast;
      h.flags = 0;
      h.values = sora2::value_type::float32;
      h.family = sora2::codec_family::lz4;
      h.format = sora2::lz4<>::format();
      h.raw_bytes = page_bytes;
      h.columns = 65535;
      h.planes = 1;
      auto const* const bytes = reinterpret_cast<std::byte const*>(&h);
      blocks.insert(blocks.end(), bytes, bytes + sizeof h);
    }
    sora2::tensor_view const packed{"v.L00", dtype::u8, {blocks.size()}, blocks};
    REQUIRE(sora2::save_safetensors(
                place.file("in"), sora2::view<sora2::tensor_view const>(&packed, 1),
                {{"sora2.policy", "lz4"}, {"sora2.tensor.v.L00", "F32 1 4096 1 65535"}})
                .code == sora2::status::ok);
    auto const run = run_program({"unpack", place.file("in"), place.file("out")});
    CHECK(run.exit_code == 2);
    CHECK_MESSAGE(run.err.find("checksum_mismatch") != std::string::npos, run.err);
    struct rusage used {};
    REQUIRE(getrusage(RUSAGE_CHILDREN, &used) == 0);
    CHECK(used.ru_maxrss < 700'000);  // kB
  }

  TEST_CASE("a packed file that is cut or damaged is refused, or decodes to the same K and V")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    save(place.file("in"), {sample_tensor("k.L00", true, dtype::f16, {1, 70, 2, 64}, 1),
                            sample_tensor("v.L00", false, dtype::f16, {1, 70, 2, 64}, 2)});
    for (std::string const policy : {"int4", "context", "routed"}) {
      REQUIRE(
          run_program({"pack", "-p", policy, place.file("in"), place.file("packed")}).exit_code ==
          0);
      REQUIRE(run_program({"unpack", place.file("packed"), place.file("good")}).exit_code == 0);
      auto const good = read_bytes(place.file("good")), packed = read_bytes(place.file("packed"));
      std::mt19937 random(7);
      for (int i = 0; i < 40; ++i) {
        auto bytes = packed;
        if (i % 4 == 0)
          bytes.resize(random() % bytes.size());
        else
          bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
        write_bytes(place.file("damaged"), bytes);
        auto const run = run_program({"unpack", place.file("damaged"), place.file("new")});
        if (run.exit_code == 0) {
          // A letter of a name or of the metadata: values are untouched.
          auto const file = load(place.file("new")), right = load(place.file("good"));
          REQUIRE(file.tensors().size == right.tensors().size);
          for (std::size_t t = 0; t < right.tensors().size; ++t)
            CHECK(same_bytes(file.tensors()[t].data, right.tensors()[t].data));
          std::filesystem::remove(place.file("new"));
        } else {
          CHECK(run.exit_code == 2);
          CHECK(run.error_lines() == 1);
          CHECK(run.err.find(place.file("damaged")) != std::string::npos);
          CHECK(!std::filesystem::exists(place.file("new")));
        }
      }
    }
    CHECK(run_program({"unpack", place.file("in"), place.file("new")})
              .err.find("is not a packed file") != std::string::npos);
    // What is needed to decode stands in the metadata, which has no checksum.
    auto const refuse = [&](std::string const& from, std::string const& to,
                            std::string const& said) {
      std::string text = text_of(place.file("packed"));
      std::size_t const at = text.find(from);
      REQUIRE(at != std::string::npos);
      std::ofstream(place.file("damaged"), std::ios::binary) << text.replace(at, to.size(), to);
      auto const run = run_program({"unpack", place.file("damaged"), place.file("new")});
      CHECK(run.exit_code == 2);
      CHECK_MESSAGE(run.err.find(place.file("damaged") + ": " + said) != std::string::npos,
                    run.err);
      CHECK(!std::filesystem::exists(place.file("new")));
    };
    refuse("\"routed", "\"xouted", "no policy 'xouted'");
    refuse("sora2.tensor.k.L00", "sora2.tensox.k.L00",
           "no metadata describes the blocks of tensor 'k.L00'");
    refuse("sora2.tensor.v.L00", "xora2.tensor.v.L00",
           "no metadata describes the blocks of tensor 'v.L00'");
    REQUIRE(
        run_program({"pack", "-p", "context", place.file("in"), place.file("packed")}).exit_code ==
        0);
    auto const file = load(place.file("packed"));
    auto metadata = file.metadata();
    for (auto& [key, value] : metadata)
      if (key == "sora2.tensor.k.L00") value = "BF16 1 70 2 64";
    REQUIRE(sora2::save_safetensors(place.file("damaged"), file.tensors(), metadata).code ==
            sora2::status::ok);
    auto const run = run_program({"unpack", place.file("damaged"), place.file("new")});
    CHECK(run.exit_code == 2);
    CHECK_MESSAGE(run.err.find("wrong_shape") != std::string::npos, run.err);
    CHECK(run_program({"pack", "-p", "raw", place.file("packed"), place.file("new")})
              .err.find("packed: is already packed") != std::string::npos);
  }
}
