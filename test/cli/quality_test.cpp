// What the quantised policies lose and cost on real K and V, against reference quantisers computed here.
#include <doctest/doctest.h>

#include <sora2/store/safetensors.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/kv_reference.hpp"
#include "support/kv_samples.hpp"
#include "support/run_program.hpp"

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>

using namespace sora2_test;
using nlohmann::json;

namespace {

struct outcome {
  double bits = 0;
  std::map<std::string, double> attention;  ///< relative error by layer
};

outcome measured(std::string const& file, std::string const& policy)
{
  temporary_folder const place;
  auto const run = run_program({"kv", file, "--policy", policy, "--json", place.file("json")});
  REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  json const j = json::parse(text_of(place.file("json")));
  outcome out;
  out.bits = j["total"]["bits_per_value"];
  for (auto const& a : j["attention"]) out.attention[a["layer"]] = a["relative_error"];
  return out;
}

struct reference {
  double int4 = 0, q8_0 = 0;
};

/// Attention errors of the reference quantisers, by layer.
std::map<std::string, reference> references(sora2::safetensors_file const& file)
{
  std::map<std::string, reference> out;
  for (auto const& t : file.tensors()) {
    if (!t.name.starts_with("q.")) continue;
    std::string const layer = t.name.substr(2);
    auto const& shape = file.find("k." + layer)->shape;
    kv_extent const e{shape[0], shape[1], shape[2], shape[3]};
    auto const q = numbers(t), k = numbers(*file.find("k." + layer)),
               v = numbers(*file.find("v." + layer)), exact = numbers(*file.find("out." + layer));
    auto const error = [&](std::vector<double> const& keys, std::vector<double> const& values) {
      return relative_error(exact, plain_attention(q, t.shape[1], t.shape[2], keys, values, e));
    };
    CHECK(error(k, v) < 1e-6);  // the file's own outputs
    out[layer] = {error(int4_keys(k, e), int4_values(v, e)), error(q8_0(k), q8_0(v))};
  }
  return out;
}

void check_file(std::string const& path)
{
  CAPTURE(path);
  auto const file = load(path);
  auto const limits = references(file);
  REQUIRE(!limits.empty());
  bool const short_context = file.find("k." + limits.begin()->first)->shape[1] < 1536;
  auto const int8 = measured(path, "int8"), int4 = measured(path, "int4"),
             context = measured(path, "context");
  REQUIRE(int4.attention.size() == limits.size());
  CHECK(int4.bits <= (short_context ? 4.75 : 4.65));
  CHECK(int8.bits <= (short_context ? 8.5 : 8.4));
  CHECK(context.bits < int4.bits);
  for (auto const& [layer, limit] : limits) {
    CAPTURE(layer);
    CHECK(int4.attention.at(layer) <= 1.02 * limit.int4);
    CHECK(int8.attention.at(layer) <= 1.5 * limit.q8_0);
    CHECK(context.attention.at(layer) <= int4.attention.at(layer));
    MESSAGE(std::filesystem::path(path).stem().string(), " ", layer, ": int8 ",
            int8.attention.at(layer), " (q8_0 ", limit.q8_0, "), int4 ", int4.attention.at(layer),
            " (reference ", limit.int4, "), context ", context.attention.at(layer), "; bits ",
            int8.bits, " ", int4.bits, " ", context.bits);
  }
}

}  // namespace

TEST_SUITE("cli/quality") {
  TEST_CASE("the sample")
  {
    NEEDS_PROGRAM();
    check_file(SORA2_SAMPLE_DIR "/code_2048.safetensors");
  }

  TEST_CASE("more files of the same model")
  {
    NEEDS_PROGRAM();
#if !defined(SORA2_SHARED_DIR)
    MESSAGE("skipped: no folder with more test data");
#elif defined(__SANITIZE_ADDRESS__)
    MESSAGE("skipped under the address checker, which makes it minutes; the sample is checked");
#else
    std::size_t files = 0;
    std::filesystem::path const folder = std::string(SORA2_SHARED_DIR) + "/data/kv";
    if (std::filesystem::is_directory(folder))
      for (auto const& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".safetensors") {
          check_file(entry.path().string());
          ++files;
        }
    if (files == 0) MESSAGE("skipped: no K and V files in " << folder.string());
#endif
  }
}

#endif
