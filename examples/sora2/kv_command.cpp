// sora2 kv: every K and V tensor of a file through one policy, or through all levels and the
// router.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "attention_reference.hpp"
#include "coding.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "results.hpp"

namespace program {

namespace {

char const* const reason_texts[] = {"latency demand below 5 ns", "bandwidth demand above 800 GB/s",
                                    "entropy below 3.1 bits", "no threshold met"};

/// Levels of the pages, the most frequent first: "L3" or "L3+L4".
std::string level_text(coded_tensor const& coded)
{
  std::string text;
  auto left = coded.pages_at;
  for (;;) {
    std::size_t most = 0;
    for (std::size_t l = 1; l < left.size(); ++l)
      if (left[l] > left[most]) most = l;
    if (left[most] == 0) return text;
    text +=
        (text.empty() ? "" : "+") + std::string(sora2::level_name(static_cast<sora2::level>(most)));
    left[most] = 0;
  }
}

std::string why_text(policy const& p, coded_tensor const& coded)
{
  if (!p.routed) return "policy asked for";
  std::size_t pages = 0;
  std::string text;
  for (auto const n : coded.pages_for) pages += n;
  for (std::size_t i = 0; i < coded.pages_for.size(); ++i) {
    if (coded.pages_for[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(reason_texts[i]);
    if (coded.pages_for[i] != pages)
      text +=
          " (" + std::to_string(coded.pages_for[i]) + " of " + std::to_string(pages) + " pages)";
  }
  char entropy[48] = "";
  if (coded.entropy_bits > 0)
    std::snprintf(entropy, sizeof entropy, "; mean %.2f bits", coded.entropy_bits);
  return text + entropy;
}

void add_errors(error_sums& sums, kv_tensor const& exact, tensor_bytes const& decoded)
{
  kv_tensor other = exact;
  other.data = decoded;
  auto const a = to_numbers(exact), b = to_numbers(other);
  for (std::size_t i = 0; i < a.size(); ++i) sums.add(a[i], b[i]);
}

policy_result run_policy(kv_file const& file, policy const& p, demand_options const& demand,
                         progress& bar)
{
  policy_result out;
  out.policy = p.name;
  for (auto const& layer : file.layers) {
    bar.step(p.name + " " + sora2::detail::one_line(layer.name, 40));
    auto const sources = sources_of(layer, file.rotation);
    std::size_t header_bytes = token_runs(sources[0]).size() * sizeof(token_run);
    tensor_bytes key, value;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      kv_source const& source = sources[i];
      auto const coded = encode_source(source, p, demand);
      auto decoded = decode_source(coded.blocks, source, p);
      auto const s = measure(source, p, demand);

      tensor_result r;
      r.name = source.name;
      r.type = source.type;
      r.shape = source.shape;
      r.values = source.shape.values();
      r.raw_bytes = source.reported().bytes();
      // The token headers belong to all tensors of the layer: equal shares, in whole bytes.
      std::size_t const share = header_bytes / (sources.size() - i);
      header_bytes -= share;
      r.stored_bytes = coded.blocks.size() + share;
      r.level = level_text(coded);
      r.why = why_text(p, coded);
      add_errors(r.error, source.reported(), decoded.reported(source));
      r.encode_seconds = s.encode_seconds;
      r.decode_seconds = s.decode_seconds;
      out.memcpy_gb_s = std::max(out.memcpy_gb_s, s.memcpy_gb_s);
      out.tensors.push_back(std::move(r));
      out.is_key.push_back(source.part == role::key);
      if (source.has_after()) (source.part == role::key ? key : value) = std::move(decoded.after);
    }

    // K in the form that queries meet; without RoPE, K before it says nothing about the output.
    if (!layer.q || !layer.out || key.empty() || value.empty()) continue;
    kv_tensor k = layer.k ? *layer.k : *layer.kpre, v = *layer.v;
    k.data = key;
    v.data = value;
    auto const exact = to_numbers(*layer.out), got = attention(*layer.q, k, v);
    attention_result a{layer.name, {}};
    for (std::size_t i = 0; i < exact.size(); ++i) a.error.add(exact[i], got[i]);
    out.attention.push_back(std::move(a));
  }
  return out;
}

/// Whether both name one file that a report would replace.
bool same_file(std::string const& a, std::string const& b)
{
  if (a.empty() || b.empty()) return false;
  std::error_code ignored;
  auto const there = std::filesystem::status(a, ignored);
  if (!std::filesystem::exists(there)) return a == b;
  return std::filesystem::is_regular_file(there) && std::filesystem::equivalent(a, b, ignored);
}

void check_outputs(kv_options const& options)
{
  auto const refuse = [](std::string const& path, char const* what) {
    throw failure(sora2::detail::one_line(path, 4096) + what);
  };
  for (auto const& path : {options.json, options.html})
    if (same_file(path, options.file)) refuse(path, ": is the file to measure; it stays as it is");
  if (same_file(options.json, options.html)) refuse(options.json, ": is named for two reports");
}

}  // namespace

void run_kv(kv_options const& options)
{
  check_outputs(options);
  bool const compare = !options.policy;
  policy const& chosen = find_policy(compare ? "routed" : *options.policy);
  kv_file const file = open_kv_file(options.file);
  std::vector<policy const*> others;
  if (compare)
    for (char const* name : {"raw", "int8", "int4", "lz4", "context", "zstd"})
      if (std::string_view(name) != "zstd" || has_zstd()) others.push_back(&find_policy(name));

  std::vector<policy_result> compared;
  policy_result result;
  {
    progress bar((others.size() + 1) * file.layers.size());
    for (auto const* p : others) compared.push_back(run_policy(file, *p, options.demand, bar));
    result = run_policy(file, chosen, options.demand, bar);
  }

  // One machine, one run: the best memcpy seen is the one to compare with.
  for (auto const& r : compared) result.memcpy_gb_s = std::max(result.memcpy_gb_s, r.memcpy_gb_s);

  std::string const text = to_text(file, result, compared);
  output_file json(options.json, options.json.empty() ? "" : to_json(result));
  output_file html(options.html, options.html.empty() ? "" : to_html(file, result, compared));
  json.commit();
  html.commit();
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) throw failure("cannot write to the standard output");
}

}  // namespace program
