/// Differences between elements, or against a base: small numbers where the data changes slowly. Never loses a bit.
/// Smallest use: `using packer = chain<delta<delta_config{.element = 2, .distance = 64}>, zstd<>>;`.
/// Limits: makes nothing smaller by itself. Subtracts bit patterns in unsigned arithmetic, so that every pattern comes back,
/// NaNs included; bytes behind the last whole element are copied. The bytes are specified in docs/formats/delta.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sora2/codec/detail/element_lanes.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/simt/crc32c.hpp>
#include <sora2/simt/register16.hpp>

namespace sora2 {

enum class delta_kind : std::uint8_t {
  integer = 0,  ///< patterns as they are
  real =
      1,  ///< IEEE floats of the element's width, mapped to integers in the order of their values
};

struct delta_config {
  int element = 2;             ///< bytes: 1, 2, 4 or 8
  std::uint32_t distance = 1;  ///< elements back, such as a row's length
  delta_kind kind = delta_kind::integer;
  bool zigzag = true;  ///< -1, 1, -2, ... as 1, 2, 3, ...: few set bits for either sign
};

namespace detail {

/// The steps of delta and delta_base for one kind of element.
template <int Element, delta_kind Kind, bool Zigzag>
struct delta_steps {
  using scalar = element_type<Element>;

  template <class X>
  SORA2_HD SORA2_INLINE static X ordered(X const& x)
  {
    return Kind == delta_kind::real ? to_order(x) : x;
  }
  template <class X>
  SORA2_HD SORA2_INLINE static X pattern(X const& x)
  {
    return Kind == delta_kind::real ? from_order(x) : x;
  }
  template <class X>
  SORA2_HD SORA2_INLINE static X coded(X const& x)
  {
    return Zigzag ? to_zigzag(x) : x;
  }
  template <class X>
  SORA2_HD SORA2_INLINE static X difference(X const& x)
  {
    return Zigzag ? from_zigzag(x) : x;
  }

  /// `count` elements, `p` and `before` any address; the result may not overlap them. before = nullptr: zeros.
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void subtract(Warp const& w, std::byte const* p,
                                             std::byte const* before, std::byte* out,
                                             std::size_t count)
  {
    if constexpr (unchecked_host_context<Warp>)
      run_on_host<false>(p, before, out, count);
    else
      for (std::size_t i = 0; i < count; i += 32) {
        auto const n = static_cast<std::uint32_t>(least(count - i, std::size_t{32}));
        auto x = ordered(load_elements<Element>(w, p + i * Element, n));
        if (before != nullptr)
          x = subtract_elements(x, ordered(load_elements<Element>(w, before + i * Element, n)));
        store_elements(w, out + i * Element, n, coded(x));
      }
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static void add(Warp const& w, std::byte const* p, std::byte const* before,
                                        std::byte* out, std::size_t count)
  {
    if constexpr (unchecked_host_context<Warp>)
      run_on_host<true>(p, before, out, count);
    else
      for (std::size_t i = 0; i < count; i += 32) {
        auto const n = static_cast<std::uint32_t>(least(count - i, std::size_t{32}));
        auto x = difference(load_elements<Element>(w, p + i * Element, n));
        if (before != nullptr)
          x = add_elements(x, ordered(load_elements<Element>(w, before + i * Element, n)));
        store_elements(w, out + i * Element, n, pattern(x));
      }
  }

  /// Sums along `Distance`: out[i] = in[i] + out[i - Distance].
  SORA2_TWO_SIDED
  template <std::uint32_t Distance, class Warp>
  SORA2_HD SORA2_INLINE static void sum_up(Warp const& w, std::byte const* in, std::byte* out,
                                           std::size_t count)
  {
    if constexpr (unchecked_host_context<Warp>)
      sum_up_on_host<Distance>(in, out, count);
    else if constexpr (Distance >= 32)
      sum_columns<Distance>(w, in, out, count);
    else
      scan<Distance>(w, in, out, count);
  }

 private:
  /// Lane = column: each lane adds down its own column, nothing crosses lanes.
  SORA2_TWO_SIDED
  template <std::uint32_t Distance, class Warp>
  SORA2_HD SORA2_INLINE static void sum_columns(Warp const& w, std::byte const* in, std::byte* out,
                                                std::size_t count)
  {
    using uints = lanes<std::uint32_t, Warp>;
    for (std::size_t column = 0; column < least(std::size_t{Distance}, count); column += 32) {
      element_lanes<Element, Warp> sum{uints(0u), uints(0u)};
      for (std::size_t i = column; i < count; i += Distance) {
        auto const n = static_cast<std::uint32_t>(
            least(least(count - i, std::size_t{32}), std::size_t{Distance} - column));
        sum = add_elements(sum, difference(load_elements<Element>(w, in + i * Element, n)));
        store_elements(w, out + i * Element, n, pattern(sum));
      }
    }
  }
  /// As many groups of Distance elements as fit into 32 lanes, summed by doubling steps.
  SORA2_TWO_SIDED
  template <std::uint32_t Distance, class Warp>
  SORA2_HD SORA2_INLINE static void scan(Warp const& w, std::byte const* in, std::byte* out,
                                         std::size_t count)
  {
    using uints = lanes<std::uint32_t, Warp>;
    constexpr std::uint32_t used = 32 / Distance * Distance;
    auto const lane = w.lane();
    auto place = lane;  // within the group
    for (std::uint32_t k = Distance; k < 32; k += Distance)
      place = select(lane < k, place, lane - k);
    element_lanes<Element, Warp> carry{uints(0u), uints(0u)};
    for (std::size_t i = 0; i < count; i += used) {
      auto const n = static_cast<std::uint32_t>(least(count - i, std::size_t{used}));
      auto x = difference(load_elements<Element>(w, in + i * Element, n));
      for (std::uint32_t step = Distance; step < used; step *= 2)
        x = add_elements(x, moved(w, x, (lane - step) & 31u, lane >= step));
      x = add_elements(x, carry);
      store_elements(w, out + i * Element, n, pattern(x));
      carry = moved(w, x, place + (used - Distance), lane < 32u);
    }
  }
  SORA2_TWO_SIDED
  template <class Warp>
  SORA2_HD SORA2_INLINE static element_lanes<Element, Warp>
  moved(Warp const& w, element_lanes<Element, Warp> const& x,
        lanes<std::uint32_t, Warp> const& from, lane_mask<Warp> const& kept)
  {
    element_lanes<Element, Warp> y = x;
    y.low = select(kept, w.shuffle(x.low, from), 0u);
    if constexpr (Element == 8) y.high = select(kept, w.shuffle(x.high, from), 0u);
    return y;
  }

  // On the host: 16 bytes at a time, then one element.

  using vector = register16<scalar>;
  static constexpr std::size_t run = 16 / Element;

  /// Both for one element and for a vector of them.
  template <class X>
  SORA2_INLINE static void subtract_step(X& x, X const& before, bool has)
  {
    ordered_step(x);
    if (has) {
      X old = before;
      ordered_step(old);
      x = static_cast<X>(x - old);
    }
    if constexpr (Zigzag)
      x = static_cast<X>((x << 1) ^ static_cast<X>(scalar{0} - static_cast<X>(x >> top)));
  }
  template <class X>
  SORA2_INLINE static void difference_step(X& x)
  {
    if constexpr (Zigzag)
      x = static_cast<X>((x >> 1) ^ static_cast<X>(scalar{0} - (x & scalar{1})));
  }
  template <class X>
  SORA2_INLINE static void ordered_step(X& x)
  {
    if constexpr (Kind == delta_kind::real)
      x = static_cast<X>(x ^ (static_cast<X>(scalar{0} - static_cast<X>(x >> top)) | top_bit));
  }
  template <class X>
  SORA2_INLINE static void pattern_step(X& x)
  {
    if constexpr (Kind == delta_kind::real)
      x = static_cast<X>(x ^ (static_cast<X>(static_cast<X>(x >> top) - scalar{1}) | top_bit));
  }
  static constexpr int top = 8 * Element - 1;
  static constexpr scalar top_bit = static_cast<scalar>(scalar{1} << top);

  /// Differences, or with `Add` the values back: whole registers, then single elements.
  template <bool Add>
  SORA2_INLINE static void run_on_host(std::byte const* p, std::byte const* before, std::byte* out,
                                       std::size_t count)
  {
    bool const has = before != nullptr;
    std::size_t const whole_runs = count - count % run;
    std::size_t i = 0;
    for (; i < whole_runs; i += run) {
      vector x, old = {};
      load_register(p + i * Element, x);
      if (has) load_register(before + i * Element, old);
      step<Add>(x, old, has);
      store_register(out + i * Element, x);
    }
    for (; i < count; ++i) {
      auto x = load_le<scalar>(p + i * Element);
      step<Add>(x, has ? load_le<scalar>(before + i * Element) : scalar{0}, has);
      store_le(out + i * Element, x);
    }
  }
  template <bool Add, class X>
  SORA2_INLINE static void step(X& x, X const& before, bool has)
  {
    if constexpr (Add)
      add_step(x, before, has);
    else
      subtract_step(x, before, has);
  }
  template <class X>
  SORA2_INLINE static void add_step(X& x, X const& before, bool has)
  {
    difference_step(x);
    if (has) {
      X old = before;
      ordered_step(old);
      x = static_cast<X>(x + old);
    }
    pattern_step(x);
  }

  template <std::uint32_t Distance>
  SORA2_INLINE static void sum_up_on_host(std::byte const* in, std::byte* out, std::size_t count)
  {
    constexpr std::size_t bytes = std::size_t{Distance} * Element;
    std::size_t i = least(std::size_t{Distance}, count);
    if constexpr (bytes >= 16) {
      // 16 bytes never reach into themselves: the sum is an addition of what is already there.
      run_on_host<true>(in, nullptr, out, i);
      if (count > i) run_on_host<true>(in + i * Element, out, out + i * Element, count - i);
      return;
    } else if constexpr (16 % bytes == 0) {
      std::size_t const whole_runs = count - count % run;
      vector sum = {};
      for (i = 0; i < whole_runs; i += run) {
        vector x;
        load_register(in + i * Element, x);
        difference_step(x);
        sum_along<static_cast<int>(bytes)>(x);
        sum += x;
        x = sum;
        pattern_step(x);
        store_register(out + i * Element, x);
        repeat_last<static_cast<int>(bytes)>(sum);
      }
    } else
      i = 0;
    for (; i < count; ++i) {
      auto x = load_le<scalar>(in + i * Element);
      bool const has = i >= Distance;
      add_step(x, has ? load_le<scalar>(out + (i - Distance) * Element) : scalar{0}, has);
      store_le(out + i * Element, x);
    }
  }
};

}  // namespace detail

template <delta_config Config = delta_config{}>
struct delta {
  static_assert(Config.element == 1 || Config.element == 2 || Config.element == 4 ||
                    Config.element == 8,
                "sora2: delta takes elements of 1, 2, 4 or 8 bytes");
  static_assert(Config.distance > 0,
                "sora2: delta subtracts an element before, at distance 1 or more");

  static constexpr delta_config config = Config;
  static constexpr level tier = level::fast;
  static constexpr codec_family family = codec_family::delta;
  template <class Warp>
  struct scratch {};

  [[nodiscard]] SORA2_HD static constexpr format_id format()
  {
    return format_id{}
        .mix("delta")
        .mix(static_cast<std::uint32_t>(Config.element))
        .mix(Config.distance)
        .mix(static_cast<std::uint32_t>(Config.kind))
        .mix(Config.zigzag ? 1u : 0u);
  }
  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return raw_bytes;
  }
  [[nodiscard]] SORA2_HD static constexpr std::size_t decoded_bytes(std::size_t stored)
  {
    return stored;
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  encode(Warp const& w, scratch<Warp>&, view<std::byte const> in, view<std::byte> out)
  {
    if (out.size < in.size) return status::output_too_small;
    std::size_t const count = in.size / element, first = least(count, distance);
    steps::subtract(w, in.data, nullptr, out.data, first);
    if (count > first)
      steps::subtract(w, in.data + first * element, in.data, out.data + first * element,
                      count - first);
    w.copy(out.data + count * element, in.data + count * element, in.size % element);
    w.sync();
    return in.size;
  }
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>&,
                                             view<std::byte const> in, view<std::byte> out)
  {
    if (in.size != out.size) return status::wrong_shape;
    std::size_t const count = in.size / element;
    steps::template sum_up<Config.distance>(w, in.data, out.data, count);
    w.copy(out.data + count * element, in.data + count * element, in.size % element);
    w.sync();
    return status::ok;
  }

 private:
  using steps = detail::delta_steps<Config.element, Config.kind, Config.zigzag>;
  static constexpr std::size_t element = static_cast<std::size_t>(Config.element);
  static constexpr std::size_t distance = Config.distance;
};

static_assert(byte_codec_policy<delta<>>);

struct delta_base_config {
  int element = 2;  ///< bytes: 1, 2, 4 or 8
  delta_kind kind = delta_kind::real;
  bool zigzag = true;
};

/// The bytes that delta_base subtracts, and the id that a stream made with them carries.
struct base_model {
  view<std::byte const> base;
  std::uint32_t id = 0;

  constexpr base_model() = default;
  /// Host: the id is the CRC-32C of the base, never 0.
  explicit base_model(view<std::byte const> bytes) : base(bytes), id(crc32c(bytes))
  {
    id += id == 0;
  }
  /// With an id that was computed before, as when a page's base is part of a larger file.
  SORA2_HD constexpr base_model(view<std::byte const> bytes, std::uint32_t known_id)
      : base(bytes), id(known_id)
  {}
  [[nodiscard]] SORA2_HD constexpr std::uint32_t table_id() const { return id; }
};

/// Differences against a base of the same length, such as the weights before training went on.
/// Smallest use: `delta_base<>::encode(w, s, fresh, out, base_model{old})`. The stream ends with the base's id: decoding with
/// a base of another id is `status::wrong_table`.
template <delta_base_config Config = delta_base_config{}>
struct delta_base {
  static_assert(Config.element == 1 || Config.element == 2 || Config.element == 4 ||
                    Config.element == 8,
                "sora2: delta_base takes elements of 1, 2, 4 or 8 bytes");

  static constexpr delta_base_config config = Config;
  static constexpr level tier = level::fast;
  static constexpr codec_family family = codec_family::delta;
  using model = base_model;
  template <class Warp>
  struct scratch {};

  [[nodiscard]] SORA2_HD static constexpr format_id format()
  {
    return format_id{}
        .mix("delta_base")
        .mix(static_cast<std::uint32_t>(Config.element))
        .mix(static_cast<std::uint32_t>(Config.kind))
        .mix(Config.zigzag ? 1u : 0u);
  }
  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return raw_bytes + sizeof(std::uint32_t);
  }
  [[nodiscard]] SORA2_HD static constexpr std::size_t decoded_bytes(std::size_t stored)
  {
    return stored < sizeof(std::uint32_t) ? 0 : stored - sizeof(std::uint32_t);
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t> encode(Warp const& w, scratch<Warp>&,
                                                          view<std::byte const> in,
                                                          view<std::byte> out, model const& m)
  {
    if (m.base.size != in.size) return status::wrong_shape;
    if (out.size < encoded_bound(in.size)) return status::output_too_small;
    std::size_t const count = in.size / element;
    if (count != 0) steps::subtract(w, in.data, m.base.data, out.data, count);
    w.copy(out.data + count * element, in.data + count * element, in.size % element);
    w.copy(out.data + in.size, reinterpret_cast<std::byte const*>(&m.id), sizeof m.id);
    w.sync();
    return encoded_bound(in.size);
  }
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>&,
                                             view<std::byte const> in, view<std::byte> out,
                                             model const& m)
  {
    if (in.size != encoded_bound(out.size)) return status::wrong_shape;
    if (load_le<std::uint32_t>(in.data + out.size) != m.id) return status::wrong_table;
    if (m.base.size != out.size) return status::wrong_shape;
    std::size_t const count = out.size / element;
    if (count != 0) steps::add(w, in.data, m.base.data, out.data, count);
    w.copy(out.data + count * element, in.data + count * element, out.size % element);
    w.sync();
    return status::ok;
  }

 private:
  using steps = detail::delta_steps<Config.element, Config.kind, Config.zigzag>;
  static constexpr std::size_t element = static_cast<std::size_t>(Config.element);
};

static_assert(byte_codec_policy<delta_base<>>);

}  // namespace sora2
