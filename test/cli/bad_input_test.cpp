// Whatever is wrong with input or output: exit code 2, one line that names it, nothing written.
#include <doctest/doctest.h>

#include <sora2/store/safetensors.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/kv_samples.hpp"
#include "support/run_program.hpp"

using namespace sora2_test;
using sora2::dtype;

namespace {

std::string const files = std::string(SORA2_TEST_DATA_DIR) + "/safetensors/";

/// Runs all commands on a bad file; each must refuse it and say `part`.
void check_refused(std::string const& file, std::string const& part)
{
  CAPTURE(file);
  temporary_folder const place;
  run_result const runs[] = {
      run_program(
          {"kv", file, "-p", "int8", "--json", place.file("json"), "--html", place.file("html")}),
      run_program({"roundtrip", "--policy", "int4", file, place.file("out")}),
      run_program({"pack", "--policy", "raw", file, place.file("out")}),
      run_program({"unpack", file, place.file("out")})};
  for (auto const& run : runs) {
    CHECK(run.exit_code == 2);
    CHECK(run.out.empty());
    CHECK(run.error_lines() == 1);
    CHECK(run.err.starts_with("sora2: "));
    bool const unpack = &run == &runs[3];
    if (!unpack) CHECK_MESSAGE(run.err.find(part) != std::string::npos, run.err);
  }
  CHECK(place.entries() == 0);
}

}  // namespace

TEST_SUITE("cli/bad_input") {
  TEST_CASE("files that are no safetensors files, and files without K and V")
  {
    NEEDS_PROGRAM();
    std::ifstream manifest(files + "manifest.tsv");
    std::string line;
    std::getline(manifest, line);
    int count = 0;
    for (; std::getline(manifest, line); ++count) {
      std::string const name = line.substr(0, line.find('\t'));
      check_refused(files + name, name + ": ");
    }
    CHECK(count == 38);
    CHECK(run_program({"kv", files + "ok_f32.safetensors"}).err.find("holds no K or V tensors") !=
          std::string::npos);
  }

  TEST_CASE("tensors of the wrong kind are named")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    auto const k = sample_tensor("k.L00", true, dtype::f16, {}, 1);
    auto const refuse = [&](std::vector<owned_tensor> const& tensors, std::string const& part) {
      save(place.file("in"), tensors);
      check_refused(place.file("in"), part);
    };
    owned_tensor integers{"k.L00", dtype::i16, k.shape, k.data};
    refuse({integers}, "tensor 'k.L00': dtype I16 is none of F16, BF16, F32");
    owned_tensor flat{"v.L07", dtype::f16, {130, 128}, k.data};
    refuse({flat}, "tensor 'v.L07': shape [130, 128] is not [batch, seq, heads, dim]");
    refuse({k, sample_tensor("v.L00", false, dtype::f16, {1, 129, 2, 64}, 2)},
           "tensor 'v.L00': batch and seq differ");
    refuse({k, sample_tensor("kpre.L00", true, dtype::f32, {}, 2)},
           "tensor 'kpre.L00': shape or dtype differ");
    refuse({k, sample_tensor("key.L00", true, dtype::f16, {}, 2)},
           "the same part of its layer as 'k.L00'");
    refuse({sample_tensor("k.L00", true, dtype::f16, {1, 2, 1, 70000}, 1)},
           "dim 70000 is above 65535");
    auto const v = sample_tensor("v.L00", false, dtype::f16, {}, 2);
    refuse({k, v, sample_tensor("q.L00", false, dtype::f16, {1, 64, 5, 64}, 3),
            sample_tensor("out.L00", false, dtype::f32, {1, 64, 5, 64}, 4)},
           "tensor 'q.L00': does not fit");
    refuse({k, v, sample_tensor("q.L00", false, dtype::f16, {1, 64, 4, 64}, 3),
            sample_tensor("out.L00", false, dtype::f32, {1, 63, 4, 64}, 4)},
           "tensor 'out.L00': does not fit");
    // A shape that claims 2^58 values: the reader refuses before anything is allocated.
    std::ofstream huge(place.file("huge"), std::ios::binary);
    std::string const header =
        R"({"k.L00":{"dtype":"F16","shape":[1,536870912,536870912,1],"data_offsets":[0,576460752303423488]}})";
    std::uint64_t const length = header.size();
    huge.write(reinterpret_cast<char const*>(&length), 8);
    huge << header;
    huge.close();
    check_refused(place.file("huge"), "run past the end of the file");
  }

  TEST_CASE(
      "reports replace neither the file to measure, nor each other, nor what lies beside them")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    std::string const in = place.file("in"), json = place.file("json");
    save(in, {sample_tensor("k.L00", true, dtype::f16, {1, 5, 1, 8}, 1)});
    auto const before = read_bytes(in);
    auto const refuse = [&](std::vector<std::string> const& words, std::string const& part) {
      auto const run = run_program(words);
      CHECK(run.exit_code == 2);
      CHECK(run.out.empty());
      CHECK(run.error_lines() == 1);
      CHECK_MESSAGE(run.err.find(part) != std::string::npos, run.err);
    };
    for (std::string const option : {"--json", "--html"}) {
      refuse({"kv", in, "-p", "raw", option, in}, "in: is the file to measure");
      refuse({"kv", in, "-p", "raw", option, place.file("./in")}, "in: is the file to measure");
    }
    refuse({"kv", in, "-p", "raw", "--json", json, "--html", json},
           "json: is named for two reports");
    refuse({"kv", in, "-p", "raw", "--json", "/dev/full"},
           "/dev/full: cannot write: No space left on device");
    CHECK(place.entries() == 1);
    CHECK(read_bytes(in) == before);
    write_bytes(place.file("json.part"), before);
    CHECK(run_program({"kv", in, "-p", "raw", "--json", json}).exit_code == 0);
    CHECK(place.entries() == 3);
    CHECK(read_bytes(place.file("json.part")) == before);
  }

  TEST_CASE("wrong command lines")
  {
    NEEDS_PROGRAM();
    temporary_folder const place;
    save(place.file("in"), {sample_tensor("k.L00", true, dtype::f16, {1, 5, 1, 8}, 1)});
    auto const refuse = [&](run_result const& run, std::string const& part) {
      CHECK(run.exit_code == 2);
      CHECK(run.out.empty());
      CHECK(run.error_lines() == 1);
      CHECK_MESSAGE(run.err.find(part) != std::string::npos, run.err);
    };
    refuse(run_program({}), "--help");
    refuse(run_program({"nonsense"}), "--help");
    refuse(run_program({"kv", place.file("none")}), "none: cannot open: ");
    refuse(run_program({"kv", place.file(".")}), "is a folder");
    refuse(run_program({"kv", place.file("in"), "--policy", "best"}),
           "no policy 'best'; there are raw, int8");
    refuse(run_program({"kv", place.file("in"), "--policy", ""}), "no policy ''");
    refuse(run_program({"kv", place.file("in"), "--policy", "cross"}),
           "'cross' needs a trained set");
    refuse(run_program({"kv", place.file("in"), "--unknown"}), "--unknown");
    refuse(run_program({"kv", place.file("in"), "--demand-latency-ns", "fast"}),
           "demand-latency-ns");
    refuse(run_program({"roundtrip", place.file("in"), place.file("out")}), "--policy");
    refuse(run_program({"roundtrip", "--policy", "raw", place.file("in")}), "OUT");
    refuse(run_program({"roundtrip", "-p", "raw", place.file("in"), place.file("no/such/folder")}),
           "cannot create");
    refuse(run_program({"roundtrip", "-p", "raw", place.file("in"), "/dev/full"}),
           "not a regular file");
    refuse(
        run_program({"kv", place.file("in"), "-p", "raw", "--json", place.file("no/such/folder")}),
        "cannot write");
    refuse(run_program({"kv", place.file("in"), "-p", "raw", "--json", place.file("json"), "--html",
                        place.file(".")}),
           "is a folder");
    refuse(run_program({"kv", place.file("in"), "-p", "raw", "--json", "/dev/full"}),
           "cannot write");
    CHECK(place.entries() == 1);
    CHECK(run_program({"--help"}).exit_code == 0);
    CHECK(run_program({"kv", "--help"}).out.find("[default: measured]") != std::string::npos);
    CHECK(run_program({"--version"}).out == "0.1.0\n");
  }
}
