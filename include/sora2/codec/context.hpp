/// Context coder for K and V: one uniform step, entropy coded by what the same channel did in the tokens before.
/// Smallest use: `auto const n = encode<context<context_k>>(tile, packed);`. Nothing is trained: mean and magnitude of
/// every channel are followed while a page is decoded, in integers, so that all machines follow alike.
/// Limits: finite values, at most 256 columns; rows are tokens, columns are channels. Decodes a page as a whole. On a
/// GPU the caller passes the tables, and a stream starts at a multiple of 4 bytes. Bytes: docs/formats/context.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/codec/detail/context_tables.hpp>
#include <sora2/codec/detail/rans_coder.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>

namespace sora2 {

struct context_config {
  float step =
      0.25f;  ///< in mean magnitudes of a plane; twice the step saves about one bit a value
  int row_gain =
      0;  ///< how far steps follow each row's magnitude, in quarters of its logarithm: 0 (one step
          ///< for a plane) to 4 (the same relative error in all rows)
  int mean_shift = 4;  ///< a new value moves its channel's mean by 1/2^mean_shift of the difference
  int scale_shift = 4;  ///< the same for the mean magnitude of residuals
  std::uint32_t columns =
      256;  ///< most columns of a tile; sizes the scratch, not part of the format
};

/// For K: every channel moves with its rotary position, so the mean follows fast.
inline constexpr context_config context_k{.step = 0.17f, .mean_shift = 2};
/// For V: tokens differ in size, channels hardly move.
inline constexpr context_config context_v{.step = 0.33f, .row_gain = 2, .scale_shift = 5};

namespace detail {

/// Where a running magnitude (256ths of a step) falls: a class, and how many low bits of a residual are sent as they are.
template <class Warp>
struct context_class {
  lanes<std::uint32_t, Warp> which, raw_bits;
};

SORA2_TWO_SIDED
template <class Warp>
SORA2_HD SORA2_INLINE context_class<Warp> classify(lanes<std::uint32_t, Warp> const& scale)
{
  // Half octaves are the exponent and first fraction bit of the number as a float.
  auto const s = to_int(scale);
  auto const clamped = greatest(least(s, 0xFFFF), 64);
  auto const half_octaves = (bits_of(to_lanes_float(clamped)) >> 22) - 2u * (127u + 6u);
  auto const above = greatest(to_int(half_octaves >> 1), 3) - 3;
  auto const raw_bits = to_uint(above);
  return {half_octaves - (raw_bits << 1), raw_bits};
}

/// Arithmetic shift of a difference, wrapping.
SORA2_TWO_SIDED
template <class Warp>
SORA2_HD SORA2_INLINE lanes<std::uint32_t, Warp> part_of(lanes<std::uint32_t, Warp> const& x,
                                                         int shift)
{
  return to_uint(to_int(x) >> shift);
}

/// What is known about 32 channels before their next value: mean and mean magnitude of residuals, in 256ths of a step.
template <class Warp>
struct context_state {
  lanes<std::uint32_t, Warp> mean, scale;
};

SORA2_TWO_SIDED
template <class Warp>
SORA2_HD SORA2_INLINE lanes<std::uint32_t, Warp> predicted(context_state<Warp> const& state)
{
  return part_of(state.mean + 128u, 8);
}

/// After value q in row `row`, with residual r = q - predicted.
SORA2_TWO_SIDED
template <context_config Config, class Warp>
SORA2_HD SORA2_INLINE void follow(context_state<Warp>& state, lanes<std::uint32_t, Warp> const& q,
                                  lanes<std::uint32_t, Warp> const& r, std::uint32_t row)
{
  // Early rows weigh more: 1, 1/2, 1/2, 1/4, ... until the configured share is reached.
  int const seen = bit_width(row + 1) - 1;
  state.mean = state.mean + part_of((q << 8) - state.mean, least(Config.mean_shift, seen));
  constexpr auto second = static_cast<std::uint32_t>(160.0f / Config.step);
  auto const sign = part_of(r, 31);
  auto const magnitude = (r ^ sign) - sign;
  state.scale = row == 0 ? lanes<std::uint32_t, Warp>(second)
                         : state.scale + part_of((magnitude << 8) - state.scale,
                                                 least(Config.scale_shift, seen + 1));
}

inline constexpr std::uint32_t context_gain_class = 1;  ///< distribution of the steps of rows
inline constexpr std::uint32_t context_no_residual = 0x400;

/// Bits of a float that lies `halves` half octaves above the one with these bits; exact in the upper 16 bits.
SORA2_TWO_SIDED
template <class Warp>
SORA2_HD SORA2_INLINE lanes<float, Warp> step_of(std::uint32_t base,
                                                 lanes<std::uint32_t, Warp> const& halves)
{
  return float_of((halves << 22) + (base << 16));
}

}  // namespace detail

template <context_config Config = context_config{}>
struct context {
  static_assert(Config.step >= 1.0f / 64 && Config.step <= 8.0f,
                "sora2: context steps are 1/64 to 8");
  static_assert(Config.row_gain >= 0 && Config.row_gain <= 4, "sora2: row_gain counts quarters");
  static_assert(Config.mean_shift >= 0 && Config.mean_shift <= 8 && Config.scale_shift >= 0 &&
                    Config.scale_shift <= 8,
                "sora2: a context follows at 1 to 1/256 a row");
  static_assert(Config.columns >= 1 && Config.columns <= 65536);

  static constexpr context_config config = Config;
  static constexpr level tier = level::entropy;
  static constexpr codec_family family = codec_family::context;
  using model = context_model;

  template <class Warp>
  struct scratch {
    typename Warp::template shared<std::uint32_t> mean[(Config.columns + 31) / 32 * 32];
    typename Warp::template shared<std::uint32_t> scale[(Config.columns + 31) / 32 * 32];
  };

  [[nodiscard]] SORA2_HD static constexpr format_id format()
  {
    return format_id{}
        .mix("context")
        .mix(bit_cast<std::uint32_t>(Config.step))
        .mix(static_cast<std::uint32_t>(Config.row_gain))
        .mix(static_cast<std::uint32_t>(Config.mean_shift))
        .mix(static_cast<std::uint32_t>(Config.scale_shift));
  }
  /// Enough for values of two bytes or more: while encoding, two bytes each and what stands in front of the words.
  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return front_bytes(raw_bytes / 2) + raw_bytes + detail::rans_states_most + 2;
  }

  /// Errors: non_finite; unsupported for more columns than configured and for tiles that take more than 16 bits a value.
  SORA2_TWO_SIDED
  template <warp_context Warp, class T>
  [[nodiscard]] SORA2_HD SORA2_INLINE static result<std::size_t>
  encode(Warp const& w, scratch<Warp>& s, tile<T const> in, view<std::byte> out,
         model const& m = {})
  {
    auto const tables = resolve<Warp>(m);
    if (tables.symbols == nullptr) return status::wrong_table;
    std::size_t const front = front_bytes(in.planes), values = in.size();
    if (values == 0) return 0;
    if (values > 0x3FFFFFFFu) return status::input_too_large;
    std::size_t const end = out.size & ~std::size_t{1};
    if (end < front + 2 * values) return status::output_too_small;
    auto* const notes = reinterpret_cast<std::uint16_t*>(out.data + (end - 2 * values));

    // Forwards: steps, and for each value its class and residual.
    auto* note = notes;
    auto const on_plane = [&](std::uint32_t p, std::uint32_t base) {
      w.store_one(out.data + 2 * p, base & 0xFFu);
      w.store_one(out.data + 2 * p + 1, base >> 8);
    };
    auto const on_values = [&](std::uint32_t n, detail::context_class<Warp> const& k,
                               lanes<std::uint32_t, Warp> const& r) {
      // 5 bits of class, 11 of residual; those beyond are looked up again.
      auto const close = (to_int(r) < 1024) & (to_int(r) > -1024);
      auto const kept = select(close, r, detail::context_no_residual);
      w.store_n(note, n, (kept & 0x7FFu) | (k.which + (k.raw_bits << 1)) << 11);
      note += n;
    };
    if (status const walked = walk(w, s, in, on_plane, on_values); walked != status::ok)
      return walked;
    if (in.planes % 2 != 0) {
      w.store_one(out.data + 2 * in.planes, 0u);
      w.store_one(out.data + 2 * in.planes + 1, 0u);
    }

    // Backwards: the words grow into the place of the notes already used.
    word_sink words{{out.data + front, end - front}};
    lanes<std::uint32_t, Warp> x(static_cast<std::uint32_t>(detail::rans_least_state));
    for (std::uint32_t p = in.planes; p-- > 0;) {
      std::uint32_t const base = load_base(w, out.data, p);
      for (std::uint32_t block = (in.rows + 31) / 32; block-- > 0;) {
        std::uint32_t const first = block * 32, rows = least(in.rows - first, 32u);
        auto const halves = row_steps(w, in, p, first, base);
        for (std::uint32_t row = first + rows; row-- > first;) {
          float const step =
              w.broadcast(detail::step_of<Warp>(base, halves), static_cast<int>(row % 32));
          for (std::uint32_t c = round_up(in.columns, 32u); c != 0;) {
            c -= 32;
            std::uint32_t const n = least(in.columns - c, 32u);
            note -= n;
            auto const kept = w.template load_n<std::uint32_t>(note, n, 0u);
            w.sync();
            words.begin = reinterpret_cast<std::byte*>(note);
            push(w, tables, kept, in.row(p, row) + c, n, step, x, words);
          }
        }
        if constexpr (Config.row_gain > 0) push_steps(w, tables, halves, rows, x, words);
      }
      if (words.overrun) break;
    }
    w.sync();
    if (words.overrun) return status::unsupported;

    auto const bytes = static_cast<std::size_t>(out.data + end - words.next);
    std::size_t const states = detail::states_bytes(w, x);
    if (end - front < states + bytes) return status::unsupported;
    detail::move_down(w, out.data + front + states, words.next, bytes);
    detail::write_states(w, x, out.data + front);
    w.sync();
    return front + states + bytes;
  }

  SORA2_TWO_SIDED
  template <warp_context Warp, class T>
  [[nodiscard]] SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>& s,
                                                           view<std::byte const> in, tile<T> out,
                                                           model const& m = {})
  {
    auto const tables = resolve<Warp>(m);
    if (tables.slots == nullptr) return status::wrong_table;
    if (out.columns > Config.columns) return status::unsupported;
    if (out.size() == 0) return in.size == 0 ? status::ok : status::corrupt_input;
    std::size_t const front = front_bytes(out.planes);
    if (in.size < front) return status::corrupt_input;
    lanes<std::uint32_t, Warp> x(0u);
    std::uint32_t const states = detail::read_states(w, in.from(front), x);
    if (states == 0) return status::corrupt_input;
    word_source words{in.from(front + states)};

    for (std::uint32_t p = 0; p < out.planes; ++p) {
      std::uint32_t const base = load_base(w, in.data, p);
      lanes<std::uint32_t, Warp> halves(0u);
      if (base < 0x80 || base >= 0x7F80) {
        w.sync();
        return status::corrupt_input;
      }
      start(w, s, out.columns);
      for (std::uint32_t row = 0; row < out.rows; ++row) {
        if constexpr (Config.row_gain > 0)
          if (row % 32 == 0) {
            halves = take_steps(w, tables, least(out.rows - row, 32u), x, words);
            auto const steps = to_int((halves << 6) + base);
            if (w.any((steps < 0x80) | (steps >= 0x7F80))) {
              w.sync();
              return status::corrupt_input;
            }
          }
        float const step =
            w.broadcast(detail::step_of<Warp>(base, halves), static_cast<int>(row % 32));
        for (std::uint32_t c = 0; c < out.columns; c += 32) {
          std::uint32_t const n = least(out.columns - c, 32u);
          auto state = load_state(w, s, c);
          auto const k = detail::classify<Warp>(state.scale);
          auto const expected = detail::predicted(state);
          auto r = take(w, tables, k, n, x, words);
          auto const far_off = r == not_coded;
          if (w.any(far_off)) {
            auto const literal = w.take_next(words, far_off);
            r = select(far_off, detail::part_of<Warp>(literal << 16, 16) - expected, r);
          }
          auto const q = expected + r;
          detail::follow<Config>(state, q, r, row);
          store_state(w, s, c, state);
          w.store_n(out.row(p, row) + c, n, to_lanes_float(to_int(q)) * step);
        }
      }
    }
    w.sync();
    bool const whole =
        !words.overrun && words.next == words.end && w.all(to_int(x) == detail::rans_least_state);
    return whole ? status::ok : status::corrupt_input;
  }

  /// What the coder sees of a page: on_plane(plane, upper half of the step's bits), then for each row and every 32
  /// columns of it on_values(lanes in use, class, residual). Errors as encode. Collective; for trainers.
  SORA2_TWO_SIDED
  template <warp_context Warp, class T, class OnPlane, class OnValues>
  [[nodiscard]] SORA2_HD SORA2_INLINE static status walk(Warp const& w, scratch<Warp>& s,
                                                         tile<T const> in, OnPlane const& on_plane,
                                                         OnValues const& on_values)
  {
    if (in.columns > Config.columns) return status::unsupported;
    bool fits = true;
    for (std::uint32_t p = 0; p < in.planes && in.size() != 0; ++p) {
      auto const base = base_step(w, in, p);
      if (!base) {
        w.sync();
        return base.error();
      }
      on_plane(p, *base);
      lanes<std::uint32_t, Warp> halves(0u);
      start(w, s, in.columns);
      for (std::uint32_t row = 0; row < in.rows; ++row) {
        if (row % 32 == 0) halves = row_steps(w, in, p, row, *base);
        float const step =
            w.broadcast(detail::step_of<Warp>(*base, halves), static_cast<int>(row % 32));
        float const inverse = 1.0f / step;
        for (std::uint32_t c = 0; c < in.columns; c += 32) {
          std::uint32_t const n = least(in.columns - c, 32u);
          auto const q = quantised(w, in.row(p, row) + c, n, inverse, fits);
          auto state = load_state(w, s, c);
          auto const r = q - detail::predicted(state);
          on_values(n, detail::classify<Warp>(state.scale), r);
          detail::follow<Config>(state, q, r, row);
          store_state(w, s, c, state);
        }
      }
    }
    w.sync();
    return fits ? status::ok : status::unsupported;
  }

 private:
  static constexpr int bits = context_table::bits;
  static constexpr std::uint32_t not_coded = 0x80000000u;

  SORA2_HD static constexpr std::size_t front_bytes(std::size_t planes)
  {
    return round_up(2 * planes, std::size_t{4});
  }

  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static context_model resolve(context_model const& m)
  {
    if constexpr (Warp::is_host)
      if (m.id == 0 && m.slots == nullptr) return builtin_context_table().model();
    return m;
  }

  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static std::uint32_t load_base(Warp const& w, std::byte const* front,
                                                       std::uint32_t plane)
  {
    return static_cast<std::uint32_t>(w.load_one(front + 2 * plane)) |
           static_cast<std::uint32_t>(w.load_one(front + 2 * plane + 1)) << 8;
  }

  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void start(Warp const& w, scratch<Warp>& s, std::uint32_t columns)
  {
    constexpr auto first = static_cast<std::uint32_t>(256.0f / Config.step);
    for (std::uint32_t c = 0; c < columns; c += 32) store_state<Warp>(w, s, c, {0u, first});
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static detail::context_state<Warp>
  load_state(Warp const& w, scratch<Warp>& s, std::uint32_t c)
  {
    return {w.template load<std::uint32_t>(s.mean + c),
            w.template load<std::uint32_t>(s.scale + c)};
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void store_state(Warp const& w, scratch<Warp>& s, std::uint32_t c,
                                                detail::context_state<Warp> const& state)
  {
    w.store(s.mean + c, state.mean);
    w.store(s.scale + c, state.scale);
  }

  /// Upper half of the bits of the step for the mean magnitude of a plane.
  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static result<std::uint32_t> base_step(Warp const& w, tile<T const> in,
                                                               std::uint32_t p)
  {
    lanes<float, Warp> sum(0.0f);
    lanes<std::uint32_t, Warp> exponents(0u);
    for (std::uint32_t row = 0; row < in.rows; ++row)
      for (std::uint32_t c = 0; c < in.columns; c += 32) {
        auto const a =
            abs(w.template load_n<float>(in.row(p, row) + c, least(in.columns - c, 32u), 0.0f));
        sum = sum + a;
        exponents =
            exponents | (select(bits_of(a) >= 0x7F800000u, 1u, lanes<std::uint32_t, Warp>(0u)));
      }
    if (w.any(exponents != 0u)) return status::non_finite;
    float const mean = w.sum(sum) / (static_cast<float>(in.rows) * static_cast<float>(in.columns));
    if (bit_cast<std::uint32_t>(mean) >= 0x7F000000u) return status::unsupported;
    std::uint32_t const rounded = (bit_cast<std::uint32_t>(mean * Config.step) + 0x8000u) >> 16;
    return greatest(rounded, 0x80u);
  }

  /// For 32 rows from `first` on: half octaves between the plane's step and theirs; 0 beyond the last row.
  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static lanes<std::uint32_t, Warp>
  row_steps(Warp const& w, tile<T const> in, std::uint32_t p, std::uint32_t first,
            std::uint32_t base)
  {
    lanes<std::uint32_t, Warp> halves(0u);
    if constexpr (Config.row_gain > 0) {
      auto const plane = static_cast<std::int32_t>(base << 16);
      for (std::uint32_t i = 0; i < 32 && first + i < in.rows; ++i) {
        lanes<float, Warp> sum(0.0f);
        for (std::uint32_t c = 0; c < in.columns; c += 32)
          sum = sum + abs(w.template load_n<float>(in.row(p, first + i) + c,
                                                   least(in.columns - c, 32u), 0.0f));
        float const mean = w.sum(sum) / static_cast<float>(in.columns);
        // The bits of a float grow like its logarithm: 2^22 of them are half an octave.
        auto const own = static_cast<std::int32_t>(bit_cast<std::uint32_t>(mean * Config.step));
        std::int32_t const wanted = ((own - plane) >> 2) * Config.row_gain;
        std::int32_t const lowest = (0x00800000 - plane) / (1 << 22);
        std::int32_t const highest = (0x7F000000 - plane) / (1 << 22);
        std::int32_t const h = least(greatest((wanted + (1 << 21)) >> 22, lowest), highest);
        halves = select(w.lane() == i, own == 0 ? 0u : static_cast<std::uint32_t>(h), halves);
      }
    }
    return halves;
  }

  /// Values in steps, rounded; clears `fits` when one does not go into 16 bits or would come back as infinity.
  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static lanes<std::uint32_t, Warp>
  quantised(Warp const& w, T const* p, std::uint32_t n, float inverse, bool& fits)
  {
    constexpr float largest = std::is_same_v<T, float16>    ? 65504.0f
                              : std::is_same_v<T, bfloat16> ? 3.38e38f
                                                            : 3.4e38f;
    auto const z = w.template load_n<float>(p, n, 0.0f) * inverse;
    if (w.any(abs(z) > least(32767.0f, largest * inverse - 0.5f))) {
      fits = false;
      return 0u;
    }
    return to_uint(round_to_int(z));
  }

  /// Residuals out of the states, not_coded where a value follows as it is.
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static lanes<std::uint32_t, Warp>
  take(Warp const& w, context_model const& tables, detail::context_class<Warp> const& k,
       std::uint32_t n, lanes<std::uint32_t, Warp>& x, word_source& words)
  {
    auto const chosen = w.lane() < n;
    auto const unit = lanes<std::uint32_t, Warp>(1u) << k.raw_bits;
    auto const low = x & (unit - 1u);
    auto y = x >> k.raw_bits;
    auto const entry = w.template gather<std::uint32_t>(tables.slots, (k.which << bits) +
                                                                          (y & ((1u << bits) - 1)));
    y = (entry >> 20) * (y >> bits) + (entry & 0xFFFu);
    auto const need = (to_int(y) < detail::rans_least_state) & chosen;
    y = select(need, y << 16 | w.take_next(words, need), y);
    x = select(chosen, y, x);
    auto const high = detail::part_of<Warp>(entry << 12, 24);
    auto const r = (high << k.raw_bits) + low - (unit >> 1);
    return select(((entry & 0xFF000u) == context_table::escape << 12) & chosen, not_coded, r);
  }
  /// The inverse for one symbol byte per lane and its low bits.
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void
  put(Warp const& w, lanes<std::uint32_t, Warp> const& reciprocal,
      lanes<std::uint32_t, Warp> const& code, lanes<std::uint32_t, Warp> const& low,
      lanes<std::uint32_t, Warp> const& raw_bits, lane_mask<Warp> const& chosen,
      lanes<std::uint32_t, Warp>& x, word_sink& words)
  {
    auto const frequency = code & 0xFFFu;
    auto const limit = (frequency << (31 - bits)) >> raw_bits;
    auto const full = (to_int(x) >= to_int(limit)) & chosen;
    w.put_before(words, x, full);
    auto const y = select(full, x >> 16, x);
    auto const quotient = mul_hi(y, reciprocal) >> ((code >> 25) & 15u);
    auto const next = y + ((code >> 12) & 0x1FFFu) + quotient * ((1u << bits) - frequency);
    x = select(chosen, next << raw_bits | low, x);
  }

  /// One note per lane, backwards.
  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static void push(Warp const& w, context_model const& tables,
                                         lanes<std::uint32_t, Warp> const& note, T const* values,
                                         std::uint32_t n, float step, lanes<std::uint32_t, Warp>& x,
                                         word_sink& words)
  {
    auto const chosen = w.lane() < n;
    auto const half_octaves = note >> 11;
    auto const raw_bits = to_uint(greatest(to_int(half_octaves >> 1), 3) - 3);
    auto const which = half_octaves - (raw_bits << 1);
    auto const r = detail::part_of<Warp>(note << 21, 21);
    auto const unit = lanes<std::uint32_t, Warp>(1u) << raw_bits;
    auto const shifted = r + (unit >> 1);
    auto const high = to_int(shifted) >> raw_bits;
    auto const wide = (high > 127) | (high < -127) | (to_int(r) == -1024);
    auto const symbol = select(wide, context_table::escape, to_uint(high) & 0xFFu);
    lanes<std::uint32_t, Warp> reciprocal, code;
    w.gather_pair(&tables.symbols->reciprocal, (which << 8) + symbol, reciprocal, code);
    auto const escaped = (to_int(code) < 0) & chosen;
    auto low = shifted & (unit - 1u);
    if (w.any(escaped)) {
      bool fits = true;
      w.put_before(words, quantised(w, values, n, 1.0f / step, fits), escaped);
      low = select(escaped, 0u, low);
    }
    put(w, reciprocal, code, low, raw_bits, chosen, x, words);
  }

  /// Steps of up to 32 rows, one a lane, in a distribution of their own.
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void
  push_steps(Warp const& w, context_model const& tables, lanes<std::uint32_t, Warp> const& halves,
             std::uint32_t rows, lanes<std::uint32_t, Warp>& x, word_sink& words)
  {
    auto const chosen = w.lane() < rows;
    auto const h = to_int(halves);
    auto const wide = (h > 127) | (h < -127);
    auto const symbol = select(wide, context_table::escape, halves & 0xFFu);
    lanes<std::uint32_t, Warp> reciprocal, code;
    w.gather_pair(&tables.symbols->reciprocal, symbol + (detail::context_gain_class << 8),
                  reciprocal, code);
    w.put_before(words, halves, (to_int(code) < 0) & chosen);
    put<Warp>(w, reciprocal, code, 0u, 0u, chosen, x, words);
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static lanes<std::uint32_t, Warp>
  take_steps(Warp const& w, context_model const& tables, std::uint32_t rows,
             lanes<std::uint32_t, Warp>& x, word_source& words)
  {
    auto const chosen = w.lane() < rows;
    auto const r = take<Warp>(w, tables, {detail::context_gain_class, 0u}, rows, x, words);
    auto const far_off = (r == not_coded) & chosen;
    auto const literal = w.take_next(words, far_off);
    auto const halves = select(far_off, detail::part_of<Warp>(literal << 16, 16), r);
    return select(chosen, halves, 0u);
  }
};

/// Collects residuals of sample pages and makes tables for pages of their kind. Host only.
/// Smallest use: `context_trainer t; for (auto page : samples) t.add<context<context_k>>(page); auto table = t.table();`.
class context_trainer {
 public:
  /// Errors: those of encode; then nothing of the page counts.
  template <class Codec, class T>
  [[nodiscard]] status add(tile<T> sample)
  {
    host_warp const w;
    typename Codec::template scratch<host_warp> s;
    counts page{};
    auto const on_values = [&](std::uint32_t n, detail::context_class<host_warp> const& k,
                               lanes<std::uint32_t, host_warp> const& r) {
      std::uint32_t which[32], raw_bits[32], residual[32];
      w.store(which, k.which);
      w.store(raw_bits, k.raw_bits);
      w.store(residual, r + ((lanes<std::uint32_t, host_warp>(1u) << k.raw_bits) >> 1));
      for (std::uint32_t i = 0; i < n; ++i) {
        int const high = static_cast<std::int32_t>(residual[i]) >> raw_bits[i];
        if (high >= -127 && high <= 127) ++page.of[which[i]][high + 127];
      }
    };
    status const walked = Codec::walk(
        w, s, tile<std::remove_const_t<T> const>(sample), [](std::uint32_t, std::uint32_t) {},
        on_values);
    if (walked != status::ok) return walked;
    for (std::size_t i = 0; i < context_table::classes * 255; ++i)
      (&total_.of[0][0])[i] += (&page.of[0][0])[i];
    return status::ok;
  }
  [[nodiscard]] context_table table() const
  {
    return make_context_table({&total_.of[0][0], context_table::classes * 255});
  }

 private:
  struct counts {
    std::uint64_t of[context_table::classes][255];
  };
  counts total_{};
};

static_assert(value_codec_policy<context<>> && value_codec_policy<context<context_k>> &&
              value_codec_policy<context<context_v>>);
static_assert(device_codec_policy<context<>>);

}  // namespace sora2
