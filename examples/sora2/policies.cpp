#include "policies.hpp"

#include <cmath>

#include "failure.hpp"

namespace program {

namespace {

page_codec const& of(codec_pair const& pair, role part)
{
  return part == role::key ? pair.key : pair.value;
}

std::vector<policy> make_policies()
{
  using sora2::level;
  std::vector<policy> all;
  auto const add = [&](char const* name, char const* about, level l, codec_pair codecs,
                       std::uint32_t exact = 0) {
    policy p;
    p.name = name;
    p.about = about;
    p.level = l;
    p.exact_tokens = exact;
    p.codecs = codecs;
    all.push_back(p);
  };
  add("raw", "blocks that hold their pages as they came", level::raw, raw_codecs());
  add("int8", "8 bits, symmetric; K per channel, V per token after a Hadamard rotation",
      level::registers, int8_codecs());
  add("int4",
      "4 bits, asymmetric; K per channel, V per token after a Hadamard rotation, first 4 tokens "
      "exact",
      level::registers, int4_codecs(), 4);
  add("int2", "the same with 2 bits", level::registers, int2_codecs(), 4);
  add("lz4", "LZ4 on the tensor's own bytes, lossless", level::fast, lz4_codecs());
  if (has_zstd())
    add("zstd", "zstd on the tensor's own bytes, lossless", level::store, zstd_codecs());
  add("context", "context-adaptive entropy coding; the built-in model, which needs no training",
      level::entropy, context_codecs(), 4);
  add("context-free", "the same, by the name that says so", level::entropy, context_codecs(), 4);

  policy routed;
  routed.name = "routed";
  routed.about = "page by page, the level that the router picks: L1 int8, L2 int4 and lz4, L3 "
                 "context, L4 int4, delta, "
                 "planes and zstd";
  routed.routed = true;
  routed.levels = {int8_codecs(), packed_int4_codecs(), context_codecs(),
                   has_zstd() ? stored_int4_codecs() : context_codecs()};
  routed.level_exact = {0, 4, 4, 4};
  all.push_back(routed);
  return all;
}

}  // namespace

std::vector<policy> const& policies()
{
  static std::vector<policy> const all = make_policies();
  return all;
}

std::string policy_names()
{
  std::string names;
  for (auto const& p : policies()) names += (names.empty() ? "" : ", ") + p.name;
  return names;
}

policy const& find_policy(std::string_view name)
{
  for (auto const& p : policies())
    if (p.name == name) return p;
  for (std::string_view const trained :
       {"context-hi", "context-lo", "context-min", "cross-hi", "cross", "cross-lo"})
    if (name == trained)
      throw failure("policy '" + std::string(name) +
                    "' needs a trained set, which this version cannot load; there are " +
                    policy_names());
  throw failure("no policy '" + sora2::detail::one_line(name, 64) + "'; there are " +
                policy_names());
}

page_choice choose(policy const& p, demand_options const& options, page const& data, role part)
{
  page_choice choice;
  if (!p.routed) {
    choice.codec = &of(p.codecs, part);
    choice.exact_tokens = p.exact_tokens;
    choice.level = p.level;
    return choice;
  }
  using router = sora2::threshold_router<>;
  sora2::demand d;
  d.latency_ns = options.latency_ns;
  d.bandwidth_gb_s = options.bandwidth_gb_s;
  d.entropy_bits = options.entropy_bits;
  d.bytes = data.bytes();
  // The entropy decides only where latency and bandwidth do not: look at the data only then.
  auto const open = router::reason(d);
  bool const undecided =
      open != sora2::route_reason::latency_below && open != sora2::route_reason::bandwidth_above;
  if (undecided && std::isnan(options.entropy_bits)) d.entropy_bits = int4_entropy_bits(data, part);
  choice.level = router::route(d);
  choice.reason = router::reason(d);
  choice.entropy_bits = d.entropy_bits;
  auto const which = static_cast<std::size_t>(choice.level) - 1;
  choice.codec = &of(p.levels[which], part);
  choice.exact_tokens = p.level_exact[which];
  return choice;
}

page_codec const* codec_of(policy const& p, sora2::block_header const& header, page const& data,
                           role part)
{
  if (!p.routed) {
    auto const& codec = of(p.codecs, part);
    return codec.wrote(header, data) ? &codec : nullptr;
  }
  for (auto const& pair : p.levels)
    if (of(pair, part).wrote(header, data)) return &of(pair, part);
  return nullptr;
}

}  // namespace program
