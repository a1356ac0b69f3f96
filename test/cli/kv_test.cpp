// `sora2 kv`: what it prints and writes is checked against the file and against `pack`.
#include <doctest/doctest.h>

#include <sora2/store/safetensors.hpp>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "support/kv_reference.hpp"
#include "support/kv_samples.hpp"
#include "support/run_program.hpp"

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>

using namespace sora2_test;
using nlohmann::json;
using sora2::dtype;

namespace {

json run_json(std::string const& file, std::string const& policy,
              std::vector<std::string> const& more = {})
{
  temporary_folder const place;
  std::vector<std::string> words = {"kv",   file,     "--policy",
                                    policy, "--json", place.file("figures.json")};
  words.insert(words.end(), more.begin(), more.end());
  auto const run = run_program(words);
  REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  CHECK(run.err.empty());
  CHECK(place.entries() == 1);
  return json::parse(text_of(place.file("figures.json")));
}

std::set<std::string> keys(json const& object)
{
  std::set<std::string> out;
  for (auto const& [key, value] : object.items()) out.insert(key);
  return out;
}

/// k and v of one layer with queries and exact outputs.
void save_layer(std::string const& path, dtype type = dtype::f16, sample_shape s = {})
{
  std::uint64_t const queries = std::min<std::uint64_t>(8, s.seq);
  auto const k = sample_tensor("k.L03", true, type, s, 1),
             v = sample_tensor("v.L03", false, type, s, 2);
  auto const q = sample_tensor("q.L03", false, type, {s.batch, queries, 2 * s.heads, s.dim}, 3);
  auto const out = plain_attention(numbers(q.view()), queries, 2 * s.heads, numbers(k.view()),
                                   numbers(v.view()), {s.batch, s.seq, s.heads, s.dim});
  save(path,
       {k, v, q, make_tensor("out.L03", dtype::f32, {s.batch, queries, 2 * s.heads, s.dim}, out)});
}

std::size_t blocks_of(sample_shape s)
{
  std::uint64_t const heads = std::min<std::uint64_t>(std::max<std::uint64_t>(256 / s.dim, 1), 255);
  return s.batch * ((s.seq + 63) / 64) * ((s.heads + heads - 1) / heads);
}

std::vector<std::string> const policies = {"raw",  "int8",    "int4",         "int2",  "lz4",
                                           "zstd", "context", "context-free", "routed"};

}  // namespace

TEST_SUITE("cli/kv") {
  TEST_CASE("the sample is read when no file is named, and every level is shown")
  {
    NEEDS_PROGRAM();
    auto const run = run_program({"kv"});
    REQUIRE_MESSAGE(run.exit_code == 0, run.err);
    CHECK(run.err.empty());
    for (std::string const word : {"raw", "int8", "int4", "lz4", "context", "routed", "k.L07",
                                   "v.L22", "total", "memcpy", "attention error  L07", "why"})
      CHECK_MESSAGE(run.out.find(word) != std::string::npos, word);
  }

  TEST_CASE("the JSON has exactly the documented members, and its sums are sums")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    sample_shape const s{1, 130, 3, 64};
    save_layer(place.file("kv"), dtype::f16, s);
    for (auto const& policy : policies) {
      CAPTURE(policy);
      json const j = run_json(place.file("kv"), policy);
      CHECK(keys(j) == std::set<std::string>{"format_version", "policy", "tensors", "attention",
                                             "total", "memcpy_gb_s"});
      CHECK(j["format_version"] == 1);
      CHECK(j["policy"] == policy);
      CHECK(j["memcpy_gb_s"].get<double>() > 0.1);
      REQUIRE(j["tensors"].size() == 2);
      std::set<std::string> const sums = {"values",      "level",          "stored_bytes",
                                          "ratio",       "bits_per_value", "relative_error",
                                          "encode_gb_s", "decode_gb_s"};
      auto with_name = sums;
      with_name.insert({"name", "shape", "dtype"});
      CHECK(keys(j["total"]) == sums);
      std::uint64_t values = 0, stored = 0;
      for (json const& t : j["tensors"]) {
        CHECK(keys(t) == with_name);
        CHECK(t["shape"] == json({1, 130, 3, 64}));
        CHECK(t["dtype"] == "F16");
        CHECK(t["values"] == 130 * 3 * 64);
        CHECK(t["ratio"].get<double>() ==
              doctest::Approx(2.0 * 130 * 3 * 64 / t["stored_bytes"].get<double>()));
        CHECK(t["bits_per_value"].get<double>() ==
              doctest::Approx(8 * t["stored_bytes"].get<double>() / t["values"].get<double>()));
        CHECK(t["encode_gb_s"].get<double>() > 0);
        CHECK(t["decode_gb_s"].get<double>() > 0);
        values += t["values"].get<std::uint64_t>();
        stored += t["stored_bytes"].get<std::uint64_t>();
      }
      CHECK(j["tensors"][0]["name"] == "k.L03");
      CHECK(j["tensors"][1]["name"] == "v.L03");
      CHECK(j["total"]["values"] == values);
      CHECK(j["total"]["stored_bytes"] == stored);
      REQUIRE(j["attention"].size() == 1);
      CHECK(keys(j["attention"][0]) == std::set<std::string>{"layer", "relative_error"});
      CHECK(j["attention"][0]["layer"] == "L03");
    }
  }

  TEST_CASE("raw costs its headers and nothing else, and loses nothing")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    for (sample_shape const s : {sample_shape{1, 130, 3, 64}, sample_shape{2, 64, 9, 128},
                                 sample_shape{3, 1, 300, 1}, sample_shape{1, 65, 2, 300}}) {
      save_layer(place.file("kv"), dtype::f16, s);
      json const j = run_json(place.file("kv"), "raw");
      std::uint64_t const pages = s.batch * ((s.seq + 63) / 64);
      CHECK(j["total"]["stored_bytes"] ==
            4 * s.batch * s.seq * s.heads * s.dim + 2 * 32 * blocks_of(s) + 8 * pages);
      CHECK(j["total"]["relative_error"] == 0);
      CHECK(j["attention"][0]["relative_error"].get<double>() < 1e-6);
    }
  }

  TEST_CASE("errors are those of the written tensors")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    for (dtype const type : {dtype::f16, dtype::bf16, dtype::f32})
      for (std::string const policy : {"int8", "int4", "context"}) {
        CAPTURE(policy);
        save_layer(place.file("kv"), type);
        json const j = run_json(place.file("kv"), policy);
        auto const run =
            run_program({"roundtrip", "--policy", policy, place.file("kv"), place.file("back")});
        REQUIRE_MESSAGE(run.exit_code == 0, run.err);
        auto const exact = load(place.file("kv")), back = load(place.file("back"));
        for (std::size_t i = 0; i < 2; ++i) {
          std::string const name = i == 0 ? "k.L03" : "v.L03";
          double const error =
              relative_error(numbers(*exact.find(name)), numbers(*back.find(name)));
          CHECK(error > 0);
          CHECK(error < (policy == "int8" ? 0.02 : 0.2));
          CHECK(j["tensors"][i]["relative_error"].get<double>() ==
                doctest::Approx(error).epsilon(1e-9));
        }
        auto const got =
            plain_attention(numbers(*exact.find("q.L03")), 8, 4, numbers(*back.find("k.L03")),
                            numbers(*back.find("v.L03")), {1, 130, 2, 64});
        CHECK(j["attention"][0]["relative_error"].get<double>() ==
              doctest::Approx(relative_error(numbers(*exact.find("out.L03")), got)).epsilon(1e-6));
      }
  }

  TEST_CASE("the router follows the demand")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    save_layer(place.file("kv"));
    auto const level = [&](std::string const& option, std::string const& value) {
      return run_json(place.file("kv"), "routed", {option, value})["total"]["level"]
          .get<std::string>();
    };
    CHECK(level("--demand-latency-ns", "4.9") == "L1");
    CHECK(level("--demand-bandwidth-gb-s", "801") == "L2");
    CHECK(level("--demand-entropy-bits", "3.0") == "L3");
    CHECK(level("--demand-entropy-bits", "3.1") == "L4");
    CHECK(level("--demand-latency-ns", "inf") == level("--demand-latency-ns", "1e9"));
    CHECK(level("--demand-bandwidth-gb-s", "inf") == "L2");
    CHECK(level("--demand-latency-ns", "-1") == level("--demand-latency-ns", "1e9"));

    auto const stored = [](json const& j) {
      return j["total"]["stored_bytes"].get<std::uint64_t>();
    };
    json const l1 = run_json(place.file("kv"), "routed", {"--demand-latency-ns", "1"});
    CHECK(stored(l1) == stored(run_json(place.file("kv"), "int8")));
    json const l3 = run_json(place.file("kv"), "routed", {"--demand-entropy-bits", "1"});
    CHECK(stored(l3) == stored(run_json(place.file("kv"), "context")));
    auto const run =
        run_program({"kv", place.file("kv"), "-p", "routed", "--demand-latency-ns", "1"});
    CHECK(run.out.find("latency demand below 5 ns") != std::string::npos);
  }

  TEST_CASE("K in both forms is stored and counted once")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    auto const k = sample_tensor("k.L00", true, dtype::f16, {}, 1),
               kpre = sample_tensor("kpre.L00", true, dtype::f16, {}, 1),
               v = sample_tensor("v.L00", false, dtype::f16, {}, 2);
    save(place.file("kv"), {kpre, k, v}, {{"rope_kind", "half-split"}, {"rope_base", "10000"}});
    json const j = run_json(place.file("kv"), "int4");
    CHECK(j["tensors"].size() == 2);
    CHECK(j["total"]["values"] == 2 * 130 * 2 * 64);
    save(place.file("unknown"), {kpre, k, v});
    CHECK(run_json(place.file("unknown"), "int4")["tensors"].size() == 3);
  }

  TEST_CASE("shapes that models have are taken as they are")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    for (sample_shape const s :
         {sample_shape{2, 5, 2, 80}, sample_shape{1, 66, 2, 96}, sample_shape{1, 3, 1, 7},
          sample_shape{1, 64, 1, 256}, sample_shape{1, 1, 1, 1}, sample_shape{1, 70, 5, 128}})
      for (std::string const policy : {"int8", "int4", "lz4", "context", "routed"})
        for (dtype const type : {dtype::f16, dtype::bf16}) {
          CAPTURE(s.dim);
          CAPTURE(policy);
          save(place.file("kv"), {sample_tensor("layers.0.key", true, type, s, 7),
                                  sample_tensor("layers.0.value", false, type, s, 8)});
          json const j = run_json(place.file("kv"), policy);
          CHECK(j["total"]["relative_error"].get<double>() < 0.2);
        }
    save(place.file("kv"), {sample_tensor("k", true, dtype::f16, {1, 0, 2, 64}, 7),
                            sample_tensor("v", false, dtype::f16, {0, 4, 2, 64}, 8)});
    CHECK(run_program({"kv", place.file("kv"), "-p", "int4"}).exit_code == 2);
    save(place.file("kv"), {sample_tensor("k", true, dtype::f16, {1, 0, 2, 64}, 7),
                            sample_tensor("v", false, dtype::f16, {1, 0, 2, 64}, 8)});
    json const empty = run_json(place.file("kv"), "int4");
    CHECK(empty["total"]["values"] == 0);
    CHECK(empty["total"]["stored_bytes"] == 0);
    CHECK(empty["total"]["ratio"] == 0);
  }

  TEST_CASE("values that are not finite come back as they were")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    auto k = sample_tensor("k.L00", true, dtype::f16, {}, 1),
         v = sample_tensor("v.L00", false, dtype::f16, {}, 2);
    sora2::store_le(k.data.data() + 64, std::uint16_t{0x7C00});   // infinity
    sora2::store_le(v.data.data() + 640, std::uint16_t{0x7E01});  // NaN
    save(place.file("kv"), {k, v});
    for (std::string const policy : {"int8", "int4", "context", "routed"}) {
      json const j = run_json(place.file("kv"), policy);
      CHECK(j["total"]["relative_error"].get<double>() < 0.2);
      REQUIRE(run_program({"roundtrip", "-p", policy, place.file("kv"), place.file("back")})
                  .exit_code == 0);
      auto const back = load(place.file("back"));
      CHECK(sora2::load_le<std::uint16_t>(back.find("k.L00")->data.data + 64) == 0x7C00);
      CHECK(sora2::load_le<std::uint16_t>(back.find("v.L00")->data.data + 640) == 0x7E01);
    }
  }

  TEST_CASE("the page is one file that loads nothing")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    auto k = sample_tensor("k.<b>&\"x", true, dtype::f16, {}, 1),
         v = sample_tensor("v.<b>&\"x", false, dtype::f16, {}, 2);
    save(place.file("kv"), {k, v});
    for (bool const compare : {false, true}) {
      auto const run =
          compare ? run_program({"kv", place.file("kv"), "--html", place.file("page.html")})
                  : run_program(
                        {"kv", place.file("kv"), "-p", "int4", "--html", place.file("page.html")});
      REQUIRE_MESSAGE(run.exit_code == 0, run.err);
      std::string const page = text_of(place.file("page.html"));
      CHECK(page.starts_with("<!DOCTYPE html>"));
      CHECK(page.ends_with("</html>\n"));
      std::size_t plots = 0;
      for (std::size_t at = page.find("<svg"); at != std::string::npos;
           at = page.find("<svg", at + 1))
        ++plots;
      CHECK(plots == 4);
      for (std::string const word :
           {"<script", "http", "src=", "@import", "url(", "<b>&\"x", "nan", "inf\""})
        CHECK_MESSAGE(page.find(word) == std::string::npos, word);
      CHECK(page.find("k.&lt;b&gt;&amp;&quot;x") != std::string::npos);
    }
  }
}

#endif
