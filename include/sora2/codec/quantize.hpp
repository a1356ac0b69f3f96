/// Group quantisation of float16, bfloat16 or float tiles to 8, 4 or 2 bits a value.
/// Smallest use: `auto const n = encode<quantize<quantize_config{.bits = 4}>>(page, packed);`, `decode<...>(packed, page)`.
/// Limits: finite values only (`status::non_finite`), ranges that fit the scale type (`status::unsupported`); a stream
/// holds no header, so the reader must know shape and config (a block does). In a kernel `in` and `out` bytes are
/// aligned to 4. Format: docs/formats/quantize.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/codec/hadamard.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>
#include <sora2/core/ids.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/status.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/lanes.hpp>
#include <sora2/simt/packed.hpp>
#include <sora2/simt/value_range.hpp>

namespace sora2 {

/// Which values share a scale: those of one row (token) or those of one column (channel).
enum class axis : std::uint8_t { token, channel };

/// How scales and zeros are stored. `float32` scales keep 16 significant bits, so that code * scale stays exact.
enum class scale_kind : std::uint8_t { float16, bfloat16, float32 };

struct quantize_config {
  int bits = 8;              ///< 8, 4 or 2
  axis along = axis::token;  ///< direction a group runs in
  bool symmetric = true;     ///< signed codes and a scale; else unsigned codes, a scale and a zero
  bool rotate = false;       ///< Hadamard rotation of each row before coding
  std::uint32_t group =
      64;  ///< values that share a scale; a power of two, 8 to 1024; the last may be shorter
  scale_kind scale = scale_kind::float16;
};

namespace detail {

template <scale_kind Kind>
using scale_storage =
    std::conditional_t<Kind == scale_kind::float16, float16,
                       std::conditional_t<Kind == scale_kind::bfloat16, bfloat16, float>>;

/// Arithmetic on the numbers a scale kind can hold, in lanes. All of it is exact or on integers: equal on every warp.
template <scale_kind Kind, class Warp>
struct scale_grid {
  using reals = lanes<float, Warp>;

  static constexpr std::uint32_t dropped = Kind == scale_kind::float16    ? 13
                                           : Kind == scale_kind::bfloat16 ? 16
                                                                          : 8;
  static constexpr float top = Kind == scale_kind::float16    ? 65504.0f
                               : Kind == scale_kind::bfloat16 ? 0x1.FEp127f
                                                              : 0x1.FFFEp127f;
  /// Below, steps are constant (float16) or nothing is kept (others: reciprocals and parts of a scale stay normal).
  static constexpr float normal = Kind == scale_kind::float16 ? 0x1p-14f : 0x1p-100f;
  static constexpr float tiny_step = 0x1p-24f;

  /// Nearest, for x >= 0; ties to even.
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE static reals nearest(reals const& x)
  {
    auto const u = bits_of(x);
    reals const rounded = float_of((u + ((1u << (dropped - 1)) - 1) + ((u >> dropped) & 1u)) &
                                   ~((1u << dropped) - 1));
    if constexpr (Kind == scale_kind::float16)
      return select(x < normal, in_steps(round_to_int(least(x, normal) * (1.0f / tiny_step))),
                    rounded);
    else
      return rounded;
  }
  /// The next number up or down, for x >= 0 (down: x > 0) on the grid.
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE static reals above(reals const& x)
  {
    reals const next = float_of(bits_of(x) + (1u << dropped));
    if constexpr (Kind == scale_kind::float16)
      return select(x < normal, x + tiny_step, next);
    else
      return greatest(next, reals(normal));
  }
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE static reals below(reals const& x)
  {
    reals const next = float_of(bits_of(x) - (1u << dropped));
    if constexpr (Kind == scale_kind::float16)
      return select(x <= normal, x - tiny_step, next);
    else
      return next;
  }
  /// The greatest number on the grid of zeros that is not above x. Zeros of kind float32 are whole floats.
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE static reals floor(reals const& x)
  {
    if constexpr (Kind == scale_kind::float32)
      return x;
    else {
      auto const u = bits_of(x), low = lanes<std::uint32_t, Warp>((1u << dropped) - 1);
      // Magnitudes go down for positive numbers, up for negative ones.
      reals const coarse = float_of(select(x < 0.0f, u + low, u) & ~low);
      if constexpr (Kind == scale_kind::float16) {
        reals const scaled = greatest(least(x, normal), -normal) * (1.0f / tiny_step);
        reals const whole = to_lanes_float(round_to_int(scaled));
        reals const fine = select(whole > scaled, whole - 1.0f, whole) * tiny_step;
        return select(abs(x) < normal, fine, coarse);
      } else
        return coarse;
    }
  }

 private:
  SORA2_TWO_SIDED
  SORA2_HD SORA2_INLINE static reals in_steps(lanes<std::int32_t, Warp> const& n)
  {
    return to_lanes_float(n) * tiny_step;
  }
};

/// Scale, zero and reciprocal of one group per lane.
template <class Warp>
struct group_fit {
  lanes<float, Warp> scale, zero, inverse;
  lane_mask<Warp> fits;
};

/// From the least and the greatest value of each group (of magnitudes, when symmetric), values of type T (float when they
/// were rotated). Every value of the group ends within scale / 2 of its code's value.
SORA2_TWO_SIDED
template <quantize_config Config, class T, class Warp>
SORA2_HD SORA2_INLINE group_fit<Warp> fit_groups(lanes<float, Warp> const& lowest,
                                                 lanes<float, Warp> const& highest)
{
  using grid = scale_grid<Config.scale, Warp>;
  using reals = lanes<float, Warp>;
  constexpr bool half_grid = Config.scale == scale_kind::float16,
                 on_grid = std::is_same_v<T, scale_storage<Config.scale>>;
  constexpr float limit = greatest_finite<T>();
  constexpr float steps =
      static_cast<float>(Config.symmetric ? (1 << (Config.bits - 1)) - 1 : (1 << Config.bits) - 1);

  reals const low = lowest + 0.0f, high = highest + 0.0f;  // -0 would show in the bytes
  reals const zero = Config.symmetric ? reals(0.0f) : on_grid ? low : grid::floor(low);
  reals const range = Config.symmetric ? high : high - zero;
  reals scale = grid::nearest(range * (1.0f / steps));
  scale = select(scale * steps < range, grid::above(scale), scale);
  if constexpr (!half_grid) scale = select(range > 0.0f, greatest(scale, grid::normal), scale);
  // A group next to the end of the value type: the last code's value must stay finite.
  scale = select(scale * steps + zero > limit, grid::below(scale), scale);
  auto fits = range == range;
  if constexpr (!half_grid || !on_grid)
    fits = (scale <= grid::top) & (abs(zero) <= grid::top) & (scale * steps + zero <= limit) &
           (range <= scale * (steps + 0.5f));
  if constexpr (Config.symmetric) {
    // All magnitudes equal: the magnitude as scale, where the grid holds it, gives them back exactly.
    auto held = low == high;
    if constexpr (!on_grid || std::is_same_v<T, float>)
      held = held & (grid::nearest(high) == high) & (high <= grid::top);
    if constexpr (!half_grid) held = held & (high >= grid::normal);
    scale = select(held, high, scale);
    fits = fits | held;
    // A reader may take codes without their sign and subtract 2^(bits - 1) scales: that must be finite.
    if constexpr (!half_grid && Config.bits < 8)
      fits = fits & (scale <= 0x1.FFFFFEp127f / (1 << (Config.bits - 1)));
  }
  // The way back adds up to 256 values, scaled by 1/16.
  if constexpr (Config.rotate) fits = fits & (low >= -0x1p122f) & (high <= 0x1p122f);
  return {scale, zero, select(scale > 0.0f, reals(1.0f) / scale, 0.0f), fits};
}

/// Where the three sections of a stream lie.
struct quantize_layout {
  std::size_t row_bytes, units, scales_at, zeros_at, bytes;
};

}  // namespace detail

template <quantize_config Config = quantize_config{}>
struct quantize {
  static_assert(Config.bits == 8 || Config.bits == 4 || Config.bits == 2);
  static_assert(Config.group >= 8 && Config.group <= 1024 &&
                (Config.group & (Config.group - 1)) == 0);

  static constexpr quantize_config config = Config;
  static constexpr level tier = level::registers;
  static constexpr codec_family family = codec_family::quantize;

  [[nodiscard]] SORA2_HD static constexpr format_id format()
  {
    return format_id{}
        .mix("quantize")
        .mix(static_cast<std::uint32_t>(Config.bits))
        .mix(static_cast<std::uint32_t>(Config.along))
        .mix(Config.symmetric ? 1u : 0u)
        .mix(Config.rotate ? 1u : 0u)
        .mix(Config.group)
        .mix(static_cast<std::uint32_t>(Config.scale));
  }

  /// Exact size of the stream of a tile of this shape.
  [[nodiscard]] SORA2_HD static constexpr std::size_t
  encoded_size(std::uint32_t planes, std::uint32_t rows, std::uint32_t columns)
  {
    return layout(planes, rows, columns).bytes;
  }
  /// Enough for any shape; `encoded_size` is far less for rows longer than a few values.
  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return raw_bytes / 2 * (1 + sections * sizeof(stored_scale)) + sizeof(stored_scale);
  }

 private:
  using stored_scale = detail::scale_storage<Config.scale>;
  static constexpr std::uint32_t group = Config.group;
  static constexpr std::size_t sections = Config.symmetric ? 1 : 2;
  using code_type = std::conditional_t<Config.symmetric, std::int32_t, std::uint32_t>;
  template <class Warp>
  using steps = packed_steps<Config.bits, code_type, Warp>;
  static constexpr std::size_t line_bytes = packed_bytes<Config.bits>(32);
  static constexpr bool by_token = Config.along == axis::token;
  /// Groups that a warp handles at once (one a lane), and the values it keeps of them when they are rotated.
  static constexpr std::uint32_t units_at_once = Config.rotate ? least(32u, 1024u / group) : 32u;
  static constexpr std::uint32_t kept_scales = by_token ? 32 : Config.rotate ? 256 : 1;
  static constexpr std::uint32_t kept_values = !Config.rotate ? 1
                                               : by_token     ? units_at_once * group
                                                              : 256;

 public:
  template <class Warp>
  struct scratch {
    typename Warp::template shared<float> first[kept_scales], second[kept_scales],
        values[kept_values];
  };

  /// Bytes written. Errors: output_too_small, non_finite (a NaN or an infinity in `in`), unsupported (a range that the
  /// scale type cannot hold). Collective.
  SORA2_TWO_SIDED
  template <warp_context Warp, real_type T>
  SORA2_HD SORA2_INLINE static result<std::size_t> encode(Warp const& w, scratch<Warp>& s,
                                                          tile<T const> in, view<std::byte> out)
  {
    detail::quantize_layout const at = layout(in.planes, in.rows, in.columns);
    if (out.size < at.bytes) return status::output_too_small;
    if (at.bytes == 0) return std::size_t{0};
    if (!aligned<Warp>(out.data)) return status::unsupported;
    for (std::size_t i = at.row_bytes * in.planes * in.rows; i < at.scales_at; ++i)
      w.store_one(out.data + i, 0u);
    status code = status::ok;
    for (std::uint32_t plane = 0; plane < in.planes && code == status::ok; ++plane) {
      if constexpr (by_token)
        code = encode_tokens(w, s, in, plane, at, out.data);
      else if constexpr (Config.rotate)
        code = encode_rotated_channels(w, s, in, plane, at, out.data);
      else
        code = encode_channels(w, in, plane, at, out.data);
    }
    w.sync();
    if (code != status::ok) return code;
    return at.bytes;
  }

  /// Fills `out`, whose shape must be that of the encoded tile; its type may be another. Errors: corrupt_input when `in`
  /// has not exactly the size of such a stream. Any bytes of that size decode to something. Collective.
  SORA2_TWO_SIDED
  template <warp_context Warp, real_type T>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>& s,
                                             view<std::byte const> in, tile<T> out)
  {
    detail::quantize_layout const at = layout(out.planes, out.rows, out.columns);
    if (in.size != at.bytes) return status::corrupt_input;
    if (at.bytes == 0) return status::ok;
    if (!aligned<Warp>(in.data)) return status::unsupported;
    for (std::uint32_t plane = 0; plane < out.planes; ++plane) {
      if constexpr (by_token)
        decode_tokens(w, s, in.data, plane, at, out);
      else if constexpr (Config.rotate)
        decode_rotated_channels(w, s, in.data, plane, at, out);
      else
        decode_channels(w, in.data, plane, at, out);
    }
    w.sync();
    return status::ok;
  }

 private:
  [[nodiscard]] SORA2_HD static constexpr detail::quantize_layout
  layout(std::uint32_t planes, std::uint32_t rows, std::uint32_t columns)
  {
    if (planes == 0 || rows == 0 || columns == 0) return {0, 0, 0, 0, 0};
    std::size_t const row_bytes = packed_bytes<Config.bits>(columns);
    std::size_t const units = by_token ? std::size_t{rows} * div_up(columns, group)
                                       : std::size_t{columns} * div_up(rows, group);
    std::size_t const scales_at = round_up(row_bytes * rows * planes, sizeof(stored_scale));
    std::size_t const section = units * planes * sizeof(stored_scale);
    return {row_bytes, units, scales_at, scales_at + section, scales_at + sections * section};
  }

  /// The host takes any address.
  template <class Warp>
  [[nodiscard]] SORA2_HD static bool aligned(void const* p)
  {
    return Warp::is_host || reinterpret_cast<std::uintptr_t>(p) % sizeof(stored_scale) == 0;
  }

  /// What codes are made of.
  template <class T>
  using coded = std::conditional_t<Config.rotate, float, std::remove_const_t<T>>;
  template <class Warp, class T>
  using range_of = value_range<std::remove_const_t<T>, Config.symmetric, Warp>;
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static bool finite(Warp const& w, lanes<float, Warp> const& low,
                                           lanes<float, Warp> const& high)
  {
    constexpr float infinity = bit_cast<float>(0x7F800000u);
    return w.all((low > -infinity) & (high < infinity));
  }

  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static lanes<code_type, Warp> code_of(lanes<float, Warp> const& x,
                                                              lanes<float, Warp> const& inverse,
                                                              lanes<float, Warp> const& zero)
  {
    if constexpr (Config.symmetric)
      return round_to_int(x * inverse);
    else
      return to_uint(round_to_int(multiply_add_exact(x, 1.0f, -zero) * inverse));
  }

  /// Damaged scales, too, have no more bits than make products exact: what comes out is the same on every warp.
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static lanes<float, Warp>
  scales_at(Warp const& w, stored_scale const* scales, std::uint32_t n)
  {
    auto const x = w.template load_n<float>(scales, n, 0.0f);
    if constexpr (Config.scale == scale_kind::float32)
      return float_of(bits_of(x) & 0xFFFFFF00u);
    else
      return x;
  }

  // ---- lines of 32 values, or of n at ragged ends ----

  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static void code_line(Warp const& w, T const* p, std::byte* to,
                                              lanes<float, Warp> const& inverse,
                                              lanes<float, Warp> const& zero)
  {
    store_packed<Config.bits>(w, to, 32, code_of<Warp>(w.template load<float>(p), inverse, zero));
  }
  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static void code_line(Warp const& w, T const* p, std::byte* to,
                                              lanes<float, Warp> const& inverse,
                                              lanes<float, Warp> const& zero, std::uint32_t n)
  {
    auto const x = select(w.lane() < n, w.template load_n<float>(p, n, 0.0f), zero);
    store_packed<Config.bits>(w, to, n, code_of<Warp>(x, inverse, zero));
  }

  // ---- groups along a row: the units of a plane, in memory order, are handled 32 at a time, one scale a lane ----

  /// Walks the groups of a plane: where its values and codes begin, and how many there are.
  struct cursor {
    std::uint32_t columns, column;
    std::size_t offset, codes, row_tail;

    SORA2_HD cursor(std::uint32_t column_count, std::size_t row_bytes, std::size_t unit)
        : columns(column_count),
          column(static_cast<std::uint32_t>(unit % div_up(column_count, group)) * group)
    {
      std::size_t const row = unit / div_up(column_count, group);
      offset = row * columns + column;
      codes = row * row_bytes + packed_bytes<Config.bits>(column);
      row_tail = row_bytes - (columns - 1) / group * packed_bytes<Config.bits>(group);
    }
    [[nodiscard]] SORA2_HD std::uint32_t size() const { return least(group, columns - column); }
    SORA2_HD void next()
    {
      if (columns - column > group) {
        column += group;
        offset += group;
        codes += packed_bytes<Config.bits>(group);
      } else {
        offset += columns - column;
        codes += row_tail;
        column = 0;
      }
    }
  };

  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static status
  encode_tokens(Warp const& w, scratch<Warp>& s, tile<T const> in, std::uint32_t plane,
                detail::quantize_layout const& at, std::byte* out)
  {
    T const* const values = in.data + plane * in.plane_stride;
    std::byte* const codes = out + at.row_bytes * in.rows * plane;
    auto* const scales = reinterpret_cast<stored_scale*>(out + at.scales_at) + at.units * plane;
    auto* const zeros = reinterpret_cast<stored_scale*>(out + at.zeros_at) + at.units * plane;
    std::uint32_t const width = hadamard_width(in.columns);
    for (std::size_t unit = 0; unit < at.units; unit += units_at_once) {
      auto const count =
          static_cast<std::uint32_t>(least(std::size_t{units_at_once}, at.units - unit));
      cursor const begin(in.columns, at.row_bytes, unit),
          end(in.columns, at.row_bytes, unit + count);
      std::size_t const start = begin.offset;
      if constexpr (Config.rotate) {
        // Whole runs of the rotation: a run is inside a group, or a power of two of groups that start a multiple of it.
        rotate_run(w, values + start, s.values, static_cast<std::uint32_t>(end.offset - start),
                   width, rotation::forward);
        w.sync();
      }
      auto const* const from = numbers<Warp>(s, values + start);
      range_of<Warp, std::remove_pointer_t<decltype(from)>> r;
      cursor c = begin;
      for (std::uint32_t u = 0; u < count; ++u, c.next()) {
        auto const* const p = from + (c.offset - start);
        float low, high;
        if (group >= 32 && c.size() == group)
          r.template measure<group / 32>(w, p, low, high);
        else
          r.measure(w, p, c.size(), low, high);
        w.store_one(s.first + u, low);
        w.store_one(s.second + u, high);
      }
      w.sync();
      auto const low = r.numbers(w.template load_n<float>(s.first, count, 0.0f));
      auto const high = r.numbers(w.template load_n<float>(s.second, count, 0.0f));
      if (!finite(w, low, high) || r.damaged(w)) return status::non_finite;
      auto const fit = detail::fit_groups<Config, coded<T>>(low, high);
      if (!w.all(fit.fits)) return status::unsupported;
      w.store_n(scales + unit, count, fit.scale);
      if constexpr (!Config.symmetric) w.store_n(zeros + unit, count, fit.zero);
      w.sync();
      w.store_n(s.first, count, fit.inverse);
      w.store_n(s.second, count, fit.zero);
      w.sync();
      c = begin;
      for (std::uint32_t u = 0; u < count; ++u, c.next()) {
        float const inverse = w.load_one(s.first + u), zero = w.load_one(s.second + u);
        auto const* const p = from + (c.offset - start);
        std::byte* const to = codes + c.codes;
        if (group >= 32 && c.size() == group) {
          SORA2_UNROLL_ON_HOST
          for (std::uint32_t i = 0; i < group; i += 32)
            code_line<Warp>(w, p + i, to + packed_bytes<Config.bits>(i), inverse, zero);
        } else {
          for (std::uint32_t i = 0; i < c.size(); i += 32)
            code_line<Warp>(w, p + i, to + packed_bytes<Config.bits>(i), inverse, zero,
                            c.size() - i);
        }
      }
      w.sync();
    }
    return status::ok;
  }
  /// What groups are measured and coded from: memory, or scratch after a rotation.
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static auto* numbers(scratch<Warp>& s, T* values)
  {
    if constexpr (Config.rotate)
      return s.values;
    else
      return values;
  }

  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static void decode_tokens(Warp const& w, scratch<Warp>& s,
                                                  std::byte const* in, std::uint32_t plane,
                                                  detail::quantize_layout const& at, tile<T> out)
  {
    T* const values = out.data + plane * out.plane_stride;
    std::byte const* const codes = in + at.row_bytes * out.rows * plane;
    auto const* const scales =
        reinterpret_cast<stored_scale const*>(in + at.scales_at) + at.units * plane;
    auto const* const zeros =
        reinterpret_cast<stored_scale const*>(in + at.zeros_at) + at.units * plane;
    std::uint32_t const width = hadamard_width(out.columns);
    for (std::size_t unit = 0; unit < at.units; unit += units_at_once) {
      auto const count =
          static_cast<std::uint32_t>(least(std::size_t{units_at_once}, at.units - unit));
      w.store_n(s.first, count, scales_at(w, scales + unit, count));
      if constexpr (!Config.symmetric)
        w.store_n(s.second, count, w.template load_n<float>(zeros + unit, count, 0.0f));
      w.sync();
      cursor c(out.columns, at.row_bytes, unit);
      std::size_t const start = c.offset;
      for (std::uint32_t u = 0; u < count; ++u, c.next()) {
        float const scale = w.load_one(s.first + u);
        float zero = 0.0f;
        if constexpr (!Config.symmetric) zero = w.load_one(s.second + u);
        packed_run<Config.bits, code_type, Warp> const step(scale, zero);
        std::byte const* const from = codes + c.codes;
        auto* const to = numbers<Warp>(s, values + start) + (c.offset - start);
        if (group >= 32 && c.size() == group)
          step.template expand<group / 32>(w, from, to);
        else
          step.expand(w, from, to, c.size());
      }
      w.sync();
      if constexpr (Config.rotate) {
        rotate_run(w, s.values, values + start, static_cast<std::uint32_t>(c.offset - start), width,
                   rotation::inverse);
        w.sync();
      }
    }
  }

  // ---- groups along a column: a lane is a column; two lines of columns go side by side ----

  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static status
  encode_channels(Warp const& w, tile<T const> in, std::uint32_t plane,
                  detail::quantize_layout const& at, std::byte* out)
  {
    std::byte* const codes = out + at.row_bytes * in.rows * plane;
    auto* const scales = reinterpret_cast<stored_scale*>(out + at.scales_at) + at.units * plane;
    auto* const zeros = reinterpret_cast<stored_scale*>(out + at.zeros_at) + at.units * plane;
    for (std::uint32_t first = 0; first < in.rows; first += group) {
      std::uint32_t const rows = least(group, in.rows - first);
      std::uint32_t column = 0;
      for (std::uint32_t left = in.columns; left != 0; left = in.columns - column) {
        T const* const values = in.row(plane, first) + column;
        std::byte* const to = codes + at.row_bytes * first + packed_bytes<Config.bits>(column);
        std::size_t const unit = std::size_t{first / group} * in.columns + column;
        std::uint32_t const lines = left >= 64 ? 2 : 1, n = least(left, 32u);
        range_of<Warp, T> r[2];
        lanes<float, Warp> inverse[2], zero[2];
        r[0].start();
        r[1].start();
        T const* p = values;
        if (lines == 2) {
          for (std::uint32_t row = 0; row < rows; ++row, p += in.columns) {
            r[0].take(w, p, 32);
            r[1].take(w, p + 32, 32);
          }
        } else {
          for (std::uint32_t row = 0; row < rows; ++row, p += in.columns) r[0].take(w, p, n);
        }
        SORA2_UNROLL
        for (std::uint32_t k = 0; k < 2; ++k) {
          if (k >= lines) break;
          auto const low = r[k].low(), high = r[k].high();
          if (!finite(w, low, high) || r[k].damaged(w)) return status::non_finite;
          auto const fit = detail::fit_groups<Config, coded<T>>(low, high);
          if (!w.all(fit.fits)) return status::unsupported;
          w.store_n(scales + unit + 32 * k, n, fit.scale);
          if constexpr (!Config.symmetric) w.store_n(zeros + unit + 32 * k, n, fit.zero);
          inverse[k] = fit.inverse;
          zero[k] = fit.zero;
        }
        p = values;
        std::byte* q = to;
        if (lines == 2) {
          for (std::uint32_t row = 0; row < rows; ++row, p += in.columns, q += at.row_bytes) {
            code_line(w, p, q, inverse[0], zero[0]);
            code_line(w, p + 32, q + line_bytes, inverse[1], zero[1]);
          }
        } else {
          for (std::uint32_t row = 0; row < rows; ++row, p += in.columns, q += at.row_bytes)
            code_line(w, p, q, inverse[0], zero[0], n);
        }
        column += lines == 2 ? 64 : n;
      }
    }
    return status::ok;
  }

  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static void decode_channels(Warp const& w, std::byte const* in,
                                                    std::uint32_t plane,
                                                    detail::quantize_layout const& at, tile<T> out)
  {
    std::byte const* const codes = in + at.row_bytes * out.rows * plane;
    auto const* const scales =
        reinterpret_cast<stored_scale const*>(in + at.scales_at) + at.units * plane;
    auto const* const zeros =
        reinterpret_cast<stored_scale const*>(in + at.zeros_at) + at.units * plane;
    for (std::uint32_t first = 0; first < out.rows; first += group) {
      std::uint32_t const rows = least(group, out.rows - first);
      std::uint32_t column = 0;
      for (std::uint32_t left = out.columns; left != 0; left = out.columns - column) {
        std::byte const* p = codes + at.row_bytes * first + packed_bytes<Config.bits>(column);
        T* to = out.row(plane, first) + column;
        std::size_t const unit = std::size_t{first / group} * out.columns + column;
        if (left >= 64) {
          steps<Warp> const low = steps_of(w, scales + unit, zeros + unit, 32),
                            high = steps_of(w, scales + unit + 32, zeros + unit + 32, 32);
          for (std::uint32_t row = 0; row < rows; ++row, p += at.row_bytes, to += out.columns) {
            w.store(to, low.load(w, p, 32));
            w.store(to + 32, high.load(w, p + line_bytes, 32));
          }
          column += 64;
        } else {
          std::uint32_t const n = least(left, 32u);
          steps<Warp> const step = steps_of(w, scales + unit, zeros + unit, n);
          for (std::uint32_t row = 0; row < rows; ++row, p += at.row_bytes, to += out.columns)
            w.store_n(to, n, step.load(w, p, n));
          column += n;
        }
      }
    }
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static steps<Warp> steps_of(Warp const& w, stored_scale const* scales,
                                                    stored_scale const* zeros, std::uint32_t n)
  {
    lanes<float, Warp> zero = 0.0f;
    if constexpr (!Config.symmetric) zero = w.template load_n<float>(zeros, n, 0.0f);
    return {scales_at(w, scales, n), zero};
  }

  // ---- the same after a rotation of each row: 256 columns at once, their extremes or scales in scratch ----

  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static status
  encode_rotated_channels(Warp const& w, scratch<Warp>& s, tile<T const> in, std::uint32_t plane,
                          detail::quantize_layout const& at, std::byte* out)
  {
    std::byte* const codes = out + at.row_bytes * in.rows * plane;
    auto* const scales = reinterpret_cast<stored_scale*>(out + at.scales_at) + at.units * plane;
    auto* const zeros = reinterpret_cast<stored_scale*>(out + at.zeros_at) + at.units * plane;
    std::uint32_t const width = hadamard_width(in.columns);
    for (std::uint32_t first = 0; first < in.rows; first += group) {
      std::uint32_t const last = first + least(group, in.rows - first);
      for (std::uint32_t start = 0; start < in.columns; start += 256) {
        std::uint32_t const count = least(in.columns - start, 256u);
        value_range<float, Config.symmetric, Warp> r;
        r.start();
        for (std::uint32_t i = 0; i < count; i += 32) {
          w.store_n(s.first + i, count - i, r.low());
          w.store_n(s.second + i, count - i, r.high());
        }
        w.sync();
        for (std::uint32_t row = first; row < last; ++row) {
          rotate_run(w, in.row(plane, row) + start, s.values, count, width, rotation::forward);
          w.sync();
          for (std::uint32_t i = 0; i < count; i += 32) {
            r.resume(w.template load_n<float>(s.first + i, count - i, 0.0f),
                     w.template load_n<float>(s.second + i, count - i, 0.0f));
            r.take(w.template load_n<float>(s.values + i, count - i, 0.0f));
            w.store_n(s.first + i, count - i, r.low());
            w.store_n(s.second + i, count - i, r.high());
          }
          w.sync();
        }
        std::size_t const unit = std::size_t{first / group} * in.columns + start;
        for (std::uint32_t i = 0; i < count; i += 32) {
          auto const low = w.template load_n<float>(s.first + i, count - i, 0.0f);
          auto const high = w.template load_n<float>(s.second + i, count - i, 0.0f);
          if (!finite(w, low, high) || r.damaged(w)) return status::non_finite;
          auto const fit = detail::fit_groups<Config, coded<T>>(low, high);
          if (!w.all(fit.fits)) return status::unsupported;
          w.store_n(scales + unit + i, count - i, fit.scale);
          if constexpr (!Config.symmetric) w.store_n(zeros + unit + i, count - i, fit.zero);
          w.store_n(s.first + i, count - i, fit.inverse);
          w.store_n(s.second + i, count - i, fit.zero);
        }
        w.sync();
        for (std::uint32_t row = first; row < last; ++row) {
          rotate_run(w, in.row(plane, row) + start, s.values, count, width, rotation::forward);
          w.sync();
          for (std::uint32_t i = 0; i < count; i += 32) {
            auto const q = code_of<Warp>(w.template load_n<float>(s.values + i, count - i, 0.0f),
                                         w.template load_n<float>(s.first + i, count - i, 0.0f),
                                         w.template load_n<float>(s.second + i, count - i, 0.0f));
            store_packed<Config.bits>(
                w, codes + at.row_bytes * row + packed_bytes<Config.bits>(start + i),
                least(count - i, 32u), q);
          }
          w.sync();
        }
      }
    }
    return status::ok;
  }

  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static void
  decode_rotated_channels(Warp const& w, scratch<Warp>& s, std::byte const* in, std::uint32_t plane,
                          detail::quantize_layout const& at, tile<T> out)
  {
    std::byte const* const codes = in + at.row_bytes * out.rows * plane;
    auto const* const scales =
        reinterpret_cast<stored_scale const*>(in + at.scales_at) + at.units * plane;
    auto const* const zeros =
        reinterpret_cast<stored_scale const*>(in + at.zeros_at) + at.units * plane;
    std::uint32_t const width = hadamard_width(out.columns);
    for (std::uint32_t first = 0; first < out.rows; first += group) {
      std::uint32_t const last = first + least(group, out.rows - first);
      for (std::uint32_t start = 0; start < out.columns; start += 256) {
        std::uint32_t const count = least(out.columns - start, 256u);
        std::size_t const unit = std::size_t{first / group} * out.columns + start;
        for (std::uint32_t i = 0; i < count; i += 32) {
          w.store_n(s.first + i, count - i, scales_at(w, scales + unit + i, count - i));
          if constexpr (!Config.symmetric)
            w.store_n(s.second + i, count - i,
                      w.template load_n<float>(zeros + unit + i, count - i, 0.0f));
        }
        w.sync();
        for (std::uint32_t row = first; row < last; ++row) {
          for (std::uint32_t i = 0; i < count; i += 32) {
            lanes<float, Warp> zero = 0.0f;
            if constexpr (!Config.symmetric)
              zero = w.template load_n<float>(s.second + i, count - i, 0.0f);
            steps<Warp> const step(w.template load_n<float>(s.first + i, count - i, 0.0f), zero);
            auto const x =
                step.load(w, codes + at.row_bytes * row + packed_bytes<Config.bits>(start + i),
                          least(count - i, 32u));
            w.store_n(s.values + i, count - i, x);
          }
          w.sync();
          rotate_run(w, s.values, out.row(plane, row) + start, count, width, rotation::inverse);
          w.sync();
        }
      }
    }
  }
};

static_assert(value_codec_policy<quantize<>>);
static_assert(value_codec_policy<
              quantize<quantize_config{.bits = 4, .along = axis::channel, .symmetric = false}>>);

}  // namespace sora2
