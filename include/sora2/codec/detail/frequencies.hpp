/// Counts to frequencies that sum to a power of two: the first step of every static entropy coder.
/// Smallest use: `auto const used = normalise(counts, frequencies, 12);`.
/// Limits: bits 1..16, at most 2^bits used symbols. Integers only: the same result on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sora2/core/macros.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/view.hpp>

namespace sora2::detail {

/// Fills `frequencies` (as many as counts): their sum is exactly 2^bits, every counted symbol has at
/// least 1, the others have 0. Gives the number of counted symbols; with none, all frequencies are 0.
/// Errors: unsupported when more symbols are counted than 2^bits has room for.
[[nodiscard]] SORA2_HD constexpr result<std::uint32_t>
normalise(view<std::uint32_t const> counts, view<std::uint32_t> frequencies, int bits)
{
  SORA2_EXPECTS(counts.size == frequencies.size && bits >= 1 && bits <= 16);
  std::uint32_t const whole = 1u << bits;
  std::uint64_t total = 0;
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < counts.size; ++i) {
    total += counts[i];
    used += counts[i] != 0;
    frequencies[i] = 0;
  }
  if (used > whole) return status::unsupported;
  if (used == 0) return used;

  // Symbols rarer than one share in 2^bits take one each; the others divide the rest by their counts.
  std::uint64_t rest = total;
  std::uint32_t share = whole;
  for (std::size_t i = 0; i < counts.size; ++i)
    if (counts[i] != 0 && std::uint64_t{counts[i]} * whole <= total) {
      frequencies[i] = 1;
      rest -= counts[i];
      --share;
    }
  std::int32_t missing = static_cast<std::int32_t>(share);
  for (std::size_t i = 0; i < counts.size; ++i)
    if (counts[i] != 0 && frequencies[i] == 0) {
      std::uint64_t const rounded = (2 * std::uint64_t{counts[i]} * share / rest + 1) / 2;
      frequencies[i] = rounded == 0 ? 1u : static_cast<std::uint32_t>(rounded);
      missing -= static_cast<std::int32_t>(frequencies[i]);
    }

  // Rounding leaves a few shares over or short: each goes where it changes the code length least.
  for (; missing > 0; --missing) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < counts.size; ++i)
      if (counts[i] * (2 * std::uint64_t{frequencies[best]} + 1) >
          counts[best] * (2 * std::uint64_t{frequencies[i]} + 1))
        best = i;
    ++frequencies[best];
  }
  for (; missing < 0; ++missing) {
    std::size_t best = counts.size;
    for (std::size_t i = 0; i < counts.size; ++i)
      if (frequencies[i] > 1 &&
          (best == counts.size || counts[i] * (2 * std::uint64_t{frequencies[best]} - 1) <
                                      counts[best] * (2 * std::uint64_t{frequencies[i]} - 1)))
        best = i;
    --frequencies[best];
  }
  return used;
}

}  // namespace sora2::detail
