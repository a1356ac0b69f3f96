// Two codecs that are simple on purpose, for tests of what composes codecs.
// Smallest use: `sora2::write_block<support::runs>(raw, bytes)`. Limits: slow; one lane does the work of `runs`.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>

namespace support {

/// Bytes as pairs {count 1..255, value}. Small where the same byte repeats, twice the size where none does.
struct runs {
  static constexpr int config = 0;
  static constexpr sora2::level tier = sora2::level::fast;
  static constexpr sora2::codec_family family = sora2::codec_family::user;
  template <class Warp>
  struct scratch {};

  SORA2_HD static constexpr sora2::format_id format() { return sora2::format_id{}.mix("runs"); }
  SORA2_HD static constexpr std::size_t encoded_bound(std::size_t bytes) { return 2 * bytes; }

  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static sora2::result<std::size_t>
  encode(Warp const& w, scratch<Warp>&, sora2::view<std::byte const> in, sora2::view<std::byte> out)
  {
    std::size_t at = 0, n = 0;
    while (at < in.size) {
      std::byte const value = w.load_one(in.data + at);
      std::size_t count = 1;
      while (count < 255 && at + count < in.size && w.load_one(in.data + at + count) == value)
        ++count;
      if (out.size - n < 2) return sora2::status::output_too_small;
      w.store_one(out.data + n, static_cast<std::byte>(count));
      w.store_one(out.data + n + 1, value);
      at += count;
      n += 2;
    }
    w.sync();
    return n;
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static sora2::status
  decode(Warp const& w, scratch<Warp>&, sora2::view<std::byte const> in, sora2::view<std::byte> out)
  {
    std::size_t n = 0;
    if (in.size % 2 != 0) return sora2::status::corrupt_input;
    for (std::size_t at = 0; at < in.size; at += 2) {
      auto const count = static_cast<std::size_t>(w.load_one(in.data + at));
      if (count == 0 || count > out.size - n) return sora2::status::corrupt_input;
      for (std::size_t i = 0; i < count; ++i)
        w.store_one(out.data + n + i, w.load_one(in.data + at + 1));
      n += count;
    }
    w.sync();
    return n == out.size ? sora2::status::ok : sora2::status::corrupt_input;
  }
};
static_assert(sora2::byte_codec_policy<runs>);

/// Values as their nearest whole numbers from -128 to 127, one byte each. Refuses NaN and infinity.
struct whole_numbers {
  static constexpr int config = 0;
  static constexpr sora2::level tier = sora2::level::registers;
  static constexpr sora2::codec_family family = sora2::codec_family::user;
  /// Room that must not be trusted between calls.
  template <class Warp>
  struct scratch {
    typename Warp::template shared<std::uint32_t> seen[32];
  };

  SORA2_HD static constexpr sora2::format_id format()
  {
    return sora2::format_id{}.mix("whole_numbers");
  }
  SORA2_HD static constexpr std::size_t encoded_bound(std::size_t bytes) { return bytes / 2; }

  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static sora2::result<std::size_t>
  encode(Warp const& w, scratch<Warp>& s, sora2::tile<T const> in, sora2::view<std::byte> out)
  {
    if (out.size < in.size()) return sora2::status::output_too_small;
    auto* to = reinterpret_cast<std::int8_t*>(out.data);
    for (std::uint32_t p = 0; p < in.planes; ++p)
      for (std::uint32_t r = 0; r < in.rows; ++r)
        for (std::uint32_t c = 0; c < in.columns; c += 32) {
          std::uint32_t const n = sora2::least(in.columns - c, 32u);
          auto const x = w.template load_n<float>(in.row(p, r) + c, n, 0.0f);
          w.store(s.seen, bits_of(x) & 0x7F800000u);
          w.sync();
          if (w.any(w.template load<std::uint32_t>(s.seen) == 0x7F800000u))
            return sora2::status::non_finite;
          auto const q = round_to_int(least(greatest(x, -128.0f), 127.0f));
          w.store_n(to, n, q);
          to += n;
          w.sync();
        }
    return in.size();
  }
  SORA2_TWO_SIDED
  template <class Warp, class T>
  SORA2_HD SORA2_INLINE static sora2::status
  decode(Warp const& w, scratch<Warp>&, sora2::view<std::byte const> in, sora2::tile<T> out)
  {
    if (in.size != out.size()) return sora2::status::corrupt_input;
    auto const* from = reinterpret_cast<std::int8_t const*>(in.data);
    for (std::uint32_t p = 0; p < out.planes; ++p)
      for (std::uint32_t r = 0; r < out.rows; ++r)
        for (std::uint32_t c = 0; c < out.columns; c += 32) {
          std::uint32_t const n = sora2::least(out.columns - c, 32u);
          auto const q = w.template load_n<std::int32_t>(from, n, 0);
          w.store_n(out.row(p, r) + c, n, to_lanes_float(q));
          from += n;
        }
    w.sync();
    return sora2::status::ok;
  }
};
static_assert(sora2::value_codec_policy<whole_numbers>);

/// `runs` that only runs on the host, one level higher.
struct host_runs : runs {
  static constexpr sora2::level tier = sora2::level::store;
  static constexpr bool host_only = true;
  SORA2_HD static constexpr sora2::format_id format()
  {
    return sora2::format_id{}.mix("host_runs");
  }
};
static_assert(sora2::is_host_only<host_runs>);

/// Bytes xor a key that the caller holds: a transform with a model.
struct keyed {
  static constexpr int config = 0;
  static constexpr sora2::level tier = sora2::level::fast;
  static constexpr sora2::codec_family family = sora2::codec_family::user;
  struct model {
    std::uint8_t key = 0;
    [[nodiscard]] SORA2_HD constexpr std::uint32_t table_id() const { return 0x100u + key; }
  };
  template <class Warp>
  struct scratch {};

  SORA2_HD static constexpr sora2::format_id format() { return sora2::format_id{}.mix("keyed"); }
  SORA2_HD static constexpr std::size_t encoded_bound(std::size_t bytes) { return bytes; }
  SORA2_HD static constexpr std::size_t decoded_bytes(std::size_t stored) { return stored; }

  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static sora2::result<std::size_t>
  encode(Warp const& w, scratch<Warp>& s, sora2::view<std::byte const> in,
         sora2::view<std::byte> out, model const& m)
  {
    if (out.size < in.size) return sora2::status::output_too_small;
    if (decode(w, s, in, out.sub(0, in.size), m) != sora2::status::ok)
      return sora2::status::corrupt_input;
    return in.size;
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static sora2::status decode(Warp const& w, scratch<Warp>&,
                                                    sora2::view<std::byte const> in,
                                                    sora2::view<std::byte> out, model const& m)
  {
    if (in.size != out.size) return sora2::status::corrupt_input;
    for (std::size_t i = 0; i < in.size; i += 32) {
      auto const n = static_cast<std::uint32_t>(sora2::least(in.size - i, std::size_t{32}));
      auto const x = w.template load_n<std::uint32_t>(in.data + i, n, 0u);
      w.store_n(out.data + i, n, x ^ std::uint32_t{m.key});
    }
    w.sync();
    return sora2::status::ok;
  }
};
static_assert(sora2::byte_codec_policy<keyed>);

}  // namespace support
