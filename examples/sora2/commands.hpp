// The four things the program does. Each throws `failure` and leaves no partial file behind.
#pragma once

#include <optional>
#include <string>

#include "policies.hpp"

namespace program {

struct kv_options {
  std::string file, json, html;
  std::optional<std::string> policy;  ///< none: routed, and every level beside it
  demand_options demand;
};

void run_kv(kv_options const&);

struct roundtrip_options {
  std::string policy, in, out;
  demand_options demand;
};

void run_roundtrip(roundtrip_options const&);
void run_pack(roundtrip_options const&);
void run_unpack(std::string const& in, std::string const& out);

}  // namespace program
