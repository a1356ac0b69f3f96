// docs/formats/quantize.md once more, one value at a time and without any of the library's lanes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <sora2/codec/quantize.hpp>

namespace support {

struct slow_group {
  float scale = 0, zero = 0;
};

inline float kind_top(sora2::scale_kind kind)
{
  return kind == sora2::scale_kind::float16    ? 65504.0f
         : kind == sora2::scale_kind::bfloat16 ? 0x1.FEp127f
                                               : 0x1.FFFEp127f;
}
/// Nearest number a scale may have; ties to even.
inline float slow_nearest(float x, sora2::scale_kind kind)
{
  if (kind == sora2::scale_kind::float16) return sora2::to_float(sora2::to_float16(x));
  if (kind == sora2::scale_kind::bfloat16) return sora2::to_float(sora2::to_bfloat16(x));
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  double const m = std::frexp(static_cast<double>(x), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(m * 65536.0), exponent - 16));
}
/// The neighbours of a number that a scale may have, for positive ones.
inline float slow_step(float x, sora2::scale_kind kind, int direction)
{
  int const dropped = kind == sora2::scale_kind::bfloat16 ? 16 : 8;
  if (kind == sora2::scale_kind::float16) {
    auto const bits = sora2::to_float16(x).bits;
    return sora2::to_float(sora2::float16{static_cast<std::uint16_t>(bits + direction)});
  }
  std::uint32_t u;
  std::memcpy(&u, &x, 4);
  u += static_cast<std::uint32_t>(direction) << dropped;
  std::memcpy(&x, &u, 4);
  return x;
}
inline float slow_floor(float x, sora2::scale_kind kind)
{
  if (kind == sora2::scale_kind::float32) return x;
  bool const half = kind == sora2::scale_kind::float16;
  float y = half ? sora2::to_float(sora2::to_float16(x)) : sora2::to_float(sora2::to_bfloat16(x));
  if (y > x) {
    std::uint16_t bits = half ? sora2::to_float16(y).bits : sora2::to_bfloat16(y).bits;
    bits = y == 0 ? 0x8001 : static_cast<std::uint16_t>(y > 0 ? bits - 1 : bits + 1);
    y = half ? sora2::to_float(sora2::float16{bits}) : sora2::to_float(sora2::bfloat16{bits});
  }
  return y;
}

inline slow_group slow_fit(std::vector<float> const& values, sora2::quantize_config c, float limit)
{
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (float x : values) {
    float const y = c.symmetric ? std::fabs(x) : x;
    low = std::fmin(low, y);
    high = std::fmax(high, y);
  }
  float const n = static_cast<float>(c.symmetric ? (1 << (c.bits - 1)) - 1 : (1 << c.bits) - 1);
  slow_group g;
  if (!c.symmetric) g.zero = slow_floor(low == 0 ? 0.0f : low, c.scale);
  float const range = c.symmetric ? high : high - g.zero;
  if (c.symmetric && low == high && slow_nearest(high, c.scale) == high &&
      high <= kind_top(c.scale) && (c.scale == sora2::scale_kind::float16 || high >= 0x1p-100f)) {
    g.scale = high;
    return g;
  }
  if (range == 0) return g;
  g.scale = slow_nearest(range * (1.0f / n), c.scale);
  if (g.scale * n < range) g.scale = slow_step(g.scale, c.scale, 1);
  if (c.scale != sora2::scale_kind::float16) g.scale = std::fmax(g.scale, 0x1p-100f);
  if (g.scale * n + g.zero > limit) g.scale = slow_step(g.scale, c.scale, -1);
  return g;
}

/// One row through the rotation; `inverse` for the way back.
inline void slow_rotation(std::vector<float>& row, bool inverse)
{
  std::size_t width = 1;
  while (width < 256 && row.size() % (2 * width) == 0) width *= 2;
  int log2 = 0;
  while ((std::size_t{1} << log2) < width) ++log2;
  float const scale = std::ldexp(1.0f, -(inverse ? (log2 + 1) / 2 : log2 / 2));
  for (float& x : row) x *= scale;
  for (std::size_t d = 1; d < width; d *= 2)
    for (std::size_t i = 0; i < row.size(); ++i)
      if (i / d % 2 == 0) {
        float const a = row[i], b = row[i + d];
        row[i] = a + b;
        row[i + d] = a - b;
      }
}

struct slow_stream {
  std::vector<std::byte> bytes;
  std::vector<float> coded;          ///< what was coded: the values, or the rotated ones
  std::vector<slow_group> of_value;  ///< the group of each value, in tile order
  std::vector<float> decoded;        ///< before rounding to a type
};

/// Dense tiles of finite values whose ranges the scale's type can hold.
template <class T>
slow_stream slow_quantize(std::vector<T> const& in, std::size_t planes, std::size_t rows,
                          std::size_t columns, sora2::quantize_config c)
{
  slow_stream s;
  s.of_value.resize(in.size());
  s.decoded.resize(in.size());
  for (std::size_t r = 0; r < planes * rows; ++r) {
    std::vector<float> row;
    for (std::size_t i = 0; i < columns; ++i) row.push_back(sora2::to_float(in[r * columns + i]));
    if (c.rotate) slow_rotation(row, false);
    s.coded.insert(s.coded.end(), row.begin(), row.end());
  }
  float const limit = c.rotate || std::is_same_v<T, float> ? std::numeric_limits<float>::max()
                      : std::is_same_v<T, sora2::float16>  ? 65504.0f
                                                           : 0x1.FEp127f;
  std::vector<slow_group> groups;
  auto const add_group = [&](std::vector<std::size_t> const& at) {
    std::vector<float> values;
    for (std::size_t i : at) values.push_back(s.coded[i]);
    groups.push_back(slow_fit(values, c, limit));
    for (std::size_t i : at) s.of_value[i] = groups.back();
  };
  for (std::size_t p = 0; p < planes; ++p) {
    if (c.along == sora2::axis::token) {
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t first = 0; first < columns; first += c.group) {
          std::vector<std::size_t> at;
          for (std::size_t i = first; i < columns && i < first + c.group; ++i)
            at.push_back((p * rows + r) * columns + i);
          add_group(at);
        }
    } else {
      for (std::size_t first = 0; first < rows; first += c.group)
        for (std::size_t i = 0; i < columns; ++i) {
          std::vector<std::size_t> at;
          for (std::size_t r = first; r < rows && r < first + c.group; ++r)
            at.push_back((p * rows + r) * columns + i);
          add_group(at);
        }
    }
  }
  std::size_t const bits = static_cast<std::size_t>(c.bits), row_bytes = (columns * bits + 7) / 8;
  s.bytes.resize(planes * rows * row_bytes);
  for (std::size_t i = 0; i < in.size(); ++i) {
    slow_group const g = s.of_value[i];
    float const inverse = g.scale > 0 ? 1.0f / g.scale : 0.0f;
    int const q = static_cast<int>(std::nearbyintf((s.coded[i] - g.zero) * inverse));
    std::size_t const r = i / columns, bit = i % columns * bits;
    auto& byte = s.bytes[r * row_bytes + bit / 8];
    byte |= static_cast<std::byte>((static_cast<unsigned>(q) & ((1u << bits) - 1)) << bit % 8);
    s.decoded[i] = static_cast<float>(static_cast<double>(q) * static_cast<double>(g.scale) +
                                      static_cast<double>(g.zero));
  }
  std::size_t const each = c.scale == sora2::scale_kind::float32 ? 4 : 2;
  while (s.bytes.size() % each != 0) s.bytes.push_back(std::byte{0});
  auto const put = [&](float x) {
    std::uint32_t u;
    std::memcpy(&u, &x, 4);
    if (c.scale == sora2::scale_kind::float16) u = sora2::to_float16(x).bits;
    if (c.scale == sora2::scale_kind::bfloat16) u = sora2::to_bfloat16(x).bits;
    for (std::size_t i = 0; i < each; ++i) s.bytes.push_back(static_cast<std::byte>(u >> (8 * i)));
  };
  for (auto const& g : groups) put(g.scale);
  if (!c.symmetric)
    for (auto const& g : groups) put(g.zero);
  if (c.rotate)
    for (std::size_t r = 0; r < planes * rows; ++r) {
      std::vector<float> row(s.decoded.begin() + static_cast<std::ptrdiff_t>(r * columns),
                             s.decoded.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns));
      slow_rotation(row, true);
      for (std::size_t i = 0; i < columns; ++i) s.decoded[r * columns + i] = row[i];
    }
  return s;
}

/// As a decoder to type T gives it.
template <class T>
T slow_output(float x, bool rotated)
{
  float const top = std::is_same_v<T, sora2::float16>    ? 65504.0f
                    : std::is_same_v<T, sora2::bfloat16> ? 0x1.FEp127f
                                                         : std::numeric_limits<float>::max();
  if (rotated) x = std::fmax(std::fmin(x, top), -top);
  return sora2::from_float<T>(x);
}

}  // namespace support
