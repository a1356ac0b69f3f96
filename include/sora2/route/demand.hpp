/// What a reader is about to ask of an entry, as measured or predicted numbers; the input of every router.
/// Smallest use: `demand d{.latency_ns = 40, .bandwidth_gb_s = 120, .entropy_bits = 2.6};`.
/// Limits: plain numbers, no clock and no counters; whoever routes fills them in afresh from live figures.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <sora2/core/ids.hpp>
#include <sora2/core/macros.hpp>

namespace sora2 {

struct demand {
  double latency_ns = 0;      ///< predicted time until the reader needs the value
  double bandwidth_gb_s = 0;  ///< bytes the readers want to stream, 10^9 bytes a second
  double entropy_bits =
      0;  ///< order-0 entropy of the quantised symbols, bits a value (see entropy.hpp)
  std::uint64_t bytes = 0;  ///< size of the entry as raw values
  double reuse = 0;         ///< expected reads before the entry is replaced
  double error_bound = 0;   ///< largest relative L2 error the reader accepts; 0: no statement
};

/// A router is an empty type that maps a demand to one of the four levels, the same on host and device.
template <class R>
concept router_policy = std::is_empty_v<R> && std::semiregular<R> && requires(demand const& d) {
  R::config;
  {
    R::route(d)
  } -> std::same_as<level>;
};

}  // namespace sora2
