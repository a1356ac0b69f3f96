/// Tables of the context coder: one distribution of residuals for each class of scale, from a formula or from counts.
/// Smallest use: `auto const& t = builtin_context_table();`. Limits: host builds them, kernels get a copy.
/// Integers only: the same tables on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sora2/codec/detail/frequencies.hpp>
#include <sora2/codec/detail/rans_coder.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/ids.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/view.hpp>

namespace sora2 {

/// View of the tables, for host and kernels; without one, host code takes the built-in tables.
struct context_model {
  std::uint32_t const* slots = nullptr;          ///< classes * 2^bits entries
  detail::rans_symbol const* symbols = nullptr;  ///< classes * 256 entries, for encoders only
  std::uint32_t id = 0;                          ///< 0: built in

  [[nodiscard]] SORA2_HD constexpr std::uint32_t table_id() const { return id; }
};

/// Eight distributions of residuals in steps, for running magnitudes from 0.25 to 4 in half octaves. Larger
/// magnitudes use the last two with some low bits sent as they are. Trivially copyable, 32 KiB; kernels need `slots`,
/// 16 KiB.
struct context_table {
  static constexpr int bits = 9;
  static constexpr std::uint32_t classes = 8;
  static constexpr std::uint32_t escape =
      128;  ///< symbol byte of values without a frequency; others are -127..127

  std::uint32_t slots[classes << bits];
  detail::rans_symbol symbols[classes * 256];
  std::uint32_t id;

  [[nodiscard]] SORA2_HD constexpr context_model model() const { return {slots, symbols, id}; }
};

namespace detail {

/// 2^(-x / 65536) in units of 2^-30.
[[nodiscard]] SORA2_HD constexpr std::uint64_t exp2_negative(std::uint64_t x)
{
  // 2^(-1/2), 2^(-1/4), ... in units of 2^-32.
  constexpr std::uint32_t roots[16] = {0xB504F334u, 0xD744FCCBu, 0xEAC0C6E8u, 0xF5257D15u,
                                       0xFA83B2DBu, 0xFD3E0C0Du, 0xFE9E115Cu, 0xFF4ECB59u,
                                       0xFFA75652u, 0xFFD3A752u, 0xFFE9D2B3u, 0xFFF4E91Cu,
                                       0xFFFA747Fu, 0xFFFD3A3Bu, 0xFFFE9D1Du, 0xFFFF4E8Eu};
  if (x >> 16 >= 30) return 0;
  std::uint64_t y = 1u << 30;
  for (int i = 0; i < 16; ++i)
    if ((x >> (15 - i) & 1u) != 0) y = y * roots[i] >> 32;
  return y >> (x >> 16);
}

/// Density of residuals at `x` sixteenths of a step when their mean magnitude is `scale` 256ths of a step: half Gaussian,
/// half logistic, up to a constant factor.
[[nodiscard]] SORA2_HD constexpr std::uint64_t residual_density(std::uint64_t x,
                                                                std::uint64_t scale)
{
  // In units of the mean magnitude m: exp(-x^2 / pi) / pi and 2 ln2 E / (1 + E)^2 with E = 2^(-2 x).
  std::uint64_t const ratio = (x << 20) / scale;  // x / m in 65536ths
  std::uint64_t const gauss = exp2_negative((ratio * ratio >> 16) * 30096 >> 16);  // log2(e) / pi
  std::uint64_t const e = exp2_negative(2 * ratio);
  std::uint64_t const one = 1u << 30;
  std::uint64_t const logistic = (e << 30) / (one + e) * one / (one + e);
  return gauss * 20861 + logistic * 90852;  // 1 / pi and 2 ln2 in 65536ths
}

/// Puts one class into a table: `weights` of the residuals -127..127. Those too rare for a slot are left to the escape.
SORA2_HD constexpr void fill_context_class(context_table& table, std::uint32_t which,
                                           std::uint64_t const* weights)
{
  constexpr std::uint32_t whole = 1u << context_table::bits;
  std::uint64_t total = 0;
  for (int i = 0; i < 255; ++i) total += weights[i];
  std::uint64_t const least_kept = total / (4 * whole) + 1;
  std::uint32_t counts[256] = {};
  std::uint64_t left_out = 0;
  int shift = 0;
  while (total >> shift > 0xFFFFFFFFu) ++shift;
  for (std::uint32_t i = 0; i < 255; ++i) {
    std::uint64_t const weight = weights[i];
    std::uint32_t const symbol = (i + 129u) & 0xFFu;  // residual i - 127 as a byte
    if (weight >= least_kept)
      counts[symbol] = static_cast<std::uint32_t>(weight >> shift) + 1;
    else
      left_out += weight;
  }
  counts[context_table::escape] =
      static_cast<std::uint32_t>(greatest(left_out, least_kept) >> shift) + 1;
  std::uint32_t frequencies[256] = {};
  auto const used = normalise({counts, 256}, {frequencies, 256}, context_table::bits);
  static_cast<void>(used);  // at most 256 symbols for 512 slots
  std::uint32_t start = 0;
  rans_symbol* const symbols = table.symbols + 256 * which;
  for (std::uint32_t s = 0; s < 256; ++s) {
    std::uint32_t const f = frequencies[s];
    symbols[s] = make_rans_symbol<context_table::bits>(start, f);
    for (std::uint32_t i = 0; i < f; ++i)
      table.slots[(which << context_table::bits) + start + i] = rans_slot(f, i, s);
    start += f;
  }
  for (std::uint32_t s = 0; s < 256; ++s)
    if (frequencies[s] == 0 || s == context_table::escape) {
      symbols[s] = symbols[context_table::escape];
      symbols[s].step |= rans_escaped;
    }
}

/// Weights of the built-in class `which` for the residuals -127..127.
SORA2_HD constexpr void builtin_weights(std::uint32_t which, std::uint64_t* weights)
{
  // The middle of the class, in 256ths of a step, and what a running magnitude misses: fractions below one step.
  std::uint32_t const octave = 64u << (which / 2);
  std::uint32_t const scale = octave * (which % 2 == 0 ? 5 : 7) / 4 + 77;
  for (std::uint32_t r = 0; r <= 127; ++r) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      std::uint32_t const x = 16 * r + 2 * i + 1;  // sixteenths of a step from 8 below the residual
      sum += residual_density(x < 8 ? 8 - x : x - 8, scale);
    }
    weights[127 + r] = weights[127 - r] = sum;
  }
}

}  // namespace detail

/// The tables every reader and writer knows. Host only; built at the first call.
[[nodiscard]] inline context_table const& builtin_context_table()
{
  static context_table const table = [] {
    context_table t{};
    for (std::uint32_t c = 0; c < context_table::classes; ++c) {
      std::uint64_t weights[255];
      detail::builtin_weights(c, weights);
      detail::fill_context_class(t, c, weights);
    }
    return t;
  }();
  return table;
}

/// Tables from counts of residuals, e.g. of a context_trainer: classes * 255 of them, residual -127 first. The built-in
/// tables count as `prior` samples of each class, so that rare classes stay usable.
[[nodiscard]] inline context_table make_context_table(view<std::uint64_t const> counts,
                                                      std::uint64_t prior = 2000)
{
  SORA2_EXPECTS(counts.size == context_table::classes * 255);
  context_table t{};
  format_id id = format_id{}.mix("context");
  for (std::uint32_t c = 0; c < context_table::classes; ++c) {
    std::uint64_t weights[255], total = 0;
    detail::builtin_weights(c, weights);
    for (std::uint64_t const w : weights) total += w;
    for (std::uint32_t i = 0; i < 255; ++i) {
      // Both in 1024ths of a sample.
      std::uint64_t const own = least<std::uint64_t>(counts.data[c * 255 + i], 0xFFFFFFFFu) << 10;
      weights[i] = own + (weights[i] >> 16) * prior / ((total >> 26) + 1);
    }
    detail::fill_context_class(t, c, weights);
    for (std::uint32_t i = 0; i < 256; ++i) id = id.mix(t.symbols[256 * c + i].step);
  }
  t.id = id.value == 0 ? 1 : id.value;
  return t;
}

}  // namespace sora2
