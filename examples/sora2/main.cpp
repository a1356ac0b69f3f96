// sora2: what the library does to the KV cache of a model, measured on a file.
#include <CLI/CLI.hpp>

#include <sora2/core/version.hpp>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "commands.hpp"
#include "failure.hpp"

namespace {

constexpr int bad_input = 2;

int complain(std::string const& what)
{
  std::fprintf(stderr, "sora2: %s\n", what.c_str());
  return bad_input;
}

std::string policy_help()
{
  std::string text = "Policies:";
  for (auto const& p : program::policies())
    text +=
        "\n  " + p.name + std::string(p.name.size() < 14 ? 14 - p.name.size() : 1, ' ') + p.about;
  return text + "\nFiles hold tensors [batch, seq, heads, dim] of F16, BF16 or F32 under names "
                "like k.L00, v.L00, and optionally\n"
                "kpre.L00 (K before RoPE), q.L00 (queries of the last positions) and out.L00 "
                "(their exact attention output).\n"
                "K is stored once: of k and kpre one is coded and gives the other through the "
                "file's RoPE metadata.";
}

void add_demand(CLI::App& command, program::demand_options& demand)
{
  command
      .add_option("--demand-latency-ns", demand.latency_ns,
                  "routed: predicted time until a reader needs the page; below 5: L1")
      ->capture_default_str();
  command
      .add_option("--demand-bandwidth-gb-s", demand.bandwidth_gb_s,
                  "routed: what the readers stream; above 800: L2")
      ->capture_default_str();
  command.add_option("--demand-entropy-bits", demand.entropy_bits,
                     "routed: entropy of the int4 symbols, bits a value; below 3.1: L3, else L4 "
                     "[default: measured]");
}

}  // namespace

int main(int argc, char** argv)
{
  CLI::App app{"sora2: compressed KV caches, measured on a file of tensors"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::to_string(SORA2_VERSION_MAJOR) + "." +
                                        std::to_string(SORA2_VERSION_MINOR) + "." +
                                        std::to_string(SORA2_VERSION_PATCH));

  program::kv_options kv;
  kv.file = SORA2_SAMPLE_DIR "/code_2048.safetensors";
  auto* const kv_command =
      app.add_subcommand("kv", "size, speed and error of every K and V tensor");
  kv_command->add_option("FILE", kv.file,
                         "safetensors file [default: the sample that comes with the program]");
  kv_command->add_option("-p,--policy", kv.policy,
                         "one of the policies below [default: routed, and every level beside it]");
  kv_command->add_option("--json", kv.json, "write the figures as JSON");
  kv_command->add_option("--html", kv.html, "write one self-contained page with plots");

  program::roundtrip_options trip;
  auto* const roundtrip =
      app.add_subcommand("roundtrip", "write the tensors after one encode and decode");
  auto* const pack = app.add_subcommand("pack", "write the encoded blocks, in a safetensors file");
  for (auto* const command : {roundtrip, pack}) {
    command->add_option("-p,--policy", trip.policy, "one of the policies below")->required();
    command->add_option("IN", trip.in, "safetensors file")->required();
    command->add_option("OUT", trip.out, "file to write")->required();
  }
  auto* const unpack =
      app.add_subcommand("unpack", "decode what pack wrote: the same tensors as after roundtrip");
  unpack->add_option("IN", trip.in, "file written by pack")->required();
  unpack->add_option("OUT", trip.out, "file to write")->required();

  try {
    for (auto* const command : {kv_command, roundtrip, pack}) command->footer(policy_help);
    add_demand(*kv_command, kv.demand);
    add_demand(*roundtrip, trip.demand);
    add_demand(*pack, trip.demand);
    app.parse(argc, argv);
    if (kv_command->parsed()) program::run_kv(kv);
    if (roundtrip->parsed()) program::run_roundtrip(trip);
    if (pack->parsed()) program::run_pack(trip);
    if (unpack->parsed()) program::run_unpack(trip.in, trip.out);
    return 0;
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // help, version
    return complain(std::string(e.what()) + " (sora2 --help says more)");
  } catch (program::failure const& e) {
    return complain(e.what());
  } catch (std::bad_alloc const&) {
    return complain("out of memory");
  } catch (std::exception const& e) {
    return complain(e.what());
  }
}
