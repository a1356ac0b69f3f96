// Policies by name: which codec K and V go through, and how the routed policy chooses among four of
// them.
#pragma once

#include <sora2/core/ids.hpp>
#include <sora2/route/threshold_router.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "codecs.hpp"

namespace program {

/// What the reader of the cache is said to need; only the routed policy looks at it.
struct demand_options {
  double latency_ns = 100;
  double bandwidth_gb_s = 100;
  double entropy_bits = std::numeric_limits<double>::quiet_NaN();  ///< NaN: measured on every page
};

struct policy {
  std::string name, about;
  sora2::level level = sora2::level::raw;
  std::uint32_t exact_tokens = 0;  ///< first tokens of a sequence that stay as they are
  codec_pair codecs;
  bool routed = false;
  std::array<codec_pair, 4> levels{};          ///< routed: L1 to L4
  std::array<std::uint32_t, 4> level_exact{};  ///< routed: exact tokens of each
};

/// All that this build has, in the order of the help text.
std::vector<policy> const& policies();

/// Throws `failure` for a name that does not exist or that this build lacks.
policy const& find_policy(std::string_view name);

/// "raw, int8, ...".
std::string policy_names();

/// The codec for one page and the reason for it. `data` is the page after RoPE, where that is
/// known.
struct page_choice {
  page_codec const* codec = nullptr;
  std::uint32_t exact_tokens = 0;
  sora2::level level = sora2::level::raw;
  sora2::route_reason reason = sora2::route_reason::otherwise;
  double entropy_bits = 0;  ///< routed only
};

page_choice choose(policy const&, demand_options const&, page const&, role);

/// The codec that wrote a block, found by the header; null when none of the policy's did.
page_codec const* codec_of(policy const&, sora2::block_header const&, page const&, role);

}  // namespace program
