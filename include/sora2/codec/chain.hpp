/// Several codecs as one policy: what the first gives, the next packs further.
/// Smallest use: `using packer = chain<quantize<>, lz4<>>;`, then like any policy: `encode<packer>(tile, bytes)`.
/// Limits: only the first stage may code values. At most `page_bytes` of input, since every intermediate result lies in
/// scratch. A coder whose result is not smaller than its input is left out of that stream; a transform (delta, planes)
/// never is. The bytes are specified in docs/formats/chain.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <sora2/codec/detail/stages.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>

namespace sora2 {

struct chain_config {
  std::size_t page_bytes = 65536;  ///< largest input; sizes the scratch, not part of the format
};

template <chain_config Config, class... Stages>
struct chain_of {
  static_assert(sizeof...(Stages) > 0, "sora2: a chain needs at least one stage");
  static_assert((codec_policy<Stages> && ...), "sora2: every stage of a chain is a codec policy");

  static constexpr chain_config config = Config;
  static constexpr std::size_t stages = sizeof...(Stages);
  template <std::size_t I>
  using stage = detail::nth_t<I, Stages...>;

  static_assert(
      int{value_codec_policy<stage<0>>} == (0 + ... + int{value_codec_policy<Stages>}),
      "sora2: only the first stage of a chain may code values; the later ones take bytes");
  static_assert(Config.page_bytes < 0x80000000u, "sora2: a chain's page has less than 2 GiB");

  static constexpr level tier = [] {
    level highest = level::raw;
    ((highest = highest < level{Stages::tier} ? level{Stages::tier} : highest), ...);
    return highest;
  }();
  static constexpr codec_family family = codec_family::chain;
  static constexpr bool host_only = (is_host_only<Stages> || ...);
  static constexpr bool scalar_on_host = (is_scalar_on_host<Stages> && ...);
  using model = detail::models_t<Stages...>;

  [[nodiscard]] SORA2_HD static constexpr format_id format()
  {
    format_id id = format_id{}.mix("chain");
    ((id = id.mix(Stages::format())), ...);
    return id;
  }

 private:
  /// A stage with a length word in the stream, which can be left out.
  template <std::size_t I>
  static constexpr bool optional =
      byte_codec_policy<stage<I>> && !detail::transform_policy<stage<I>>;

  /// Length words of the stages before I.
  template <std::size_t I>
  static constexpr std::size_t words_before = [] {
    return []<std::size_t... K>(std::index_sequence<K...>) {
      return (std::size_t{0} + ... + std::size_t{optional<K>});
    }(std::make_index_sequence<I>{});
  }();
  static constexpr std::size_t head = 4 * words_before<stages>;
  static constexpr std::uint32_t left_out = 0x80000000u;

  /// Most bytes that remain after stage I - 1 of an input of `raw` bytes.
  template <std::size_t I>
  SORA2_HD static constexpr std::size_t kept_bound(std::size_t raw)
  {
    if constexpr (I == 0)
      return raw;
    else if constexpr (optional<I - 1>)
      return kept_bound<I - 1>(raw);
    else
      return stage<I - 1>::encoded_bound(kept_bound<I - 1>(raw));
  }
  /// Room that stage I wants.
  template <std::size_t I>
  SORA2_HD static constexpr std::size_t room_of(std::size_t raw)
  {
    return stage<I>::encoded_bound(kept_bound<I>(raw));
  }

  static constexpr std::size_t buffers = stages < 3 ? stages - 1 : 2;
  static constexpr std::size_t buffer_bytes = []<std::size_t... I>(std::index_sequence<I...>) {
    std::size_t most = 0;
    ((most = greatest(most, room_of<I>(Config.page_bytes))), ...);
    return round_up(most, std::size_t{16});
  }(std::make_index_sequence<stages - 1>{});

  template <std::size_t Count>
  struct buffer_pair {
    alignas(16) std::byte data[Count][buffer_bytes];
    /// The one that `in` does not lie in; the first when it lies in none.
    [[nodiscard]] SORA2_HD SORA2_INLINE view<std::byte> other(std::byte const* in)
    {
      return {data[Count == 2 && in == data[0] ? Count - 1 : 0], buffer_bytes};
    }
  };
  template <std::size_t Count>
    requires(Count == 0)
  struct buffer_pair<Count> {
    [[nodiscard]] SORA2_HD SORA2_INLINE view<std::byte> other(std::byte const*) { return {}; }
  };

 public:
  template <class Warp>
  struct scratch {
    buffer_pair<buffers> between;
    detail::one_of<typename Stages::template scratch<Warp>...> stage;
  };

  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return head + greatest(kept_bound<stages>(raw_bytes), room_of<stages - 1>(raw_bytes));
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t> encode(Warp const& w, scratch<Warp>& s,
                                                          view<std::byte const> in,
                                                          view<std::byte> out, model const& m = {})
    requires byte_codec_policy<stage<0>>
  {
    return encode_all(w, s, in, in.size, out, m);
  }
  SORA2_TWO_SIDED
  template <warp_context Warp, class T>
  SORA2_HD SORA2_INLINE static result<std::size_t> encode(Warp const& w, scratch<Warp>& s,
                                                          tile<T const> in, view<std::byte> out,
                                                          model const& m = {})
    requires value_codec_policy<stage<0>>
  {
    return encode_all(w, s, in, in.size() * sizeof(T), out, m);
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>& s,
                                             view<std::byte const> in, view<std::byte> out,
                                             model const& m = {})
    requires byte_codec_policy<stage<0>>
  {
    return decode_all(w, s, in, out, out.size, m);
  }
  SORA2_TWO_SIDED
  template <warp_context Warp, class T>
  SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>& s,
                                             view<std::byte const> in, tile<T> out,
                                             model const& m = {})
    requires value_codec_policy<stage<0>>
  {
    return decode_all(w, s, in, out, out.size() * sizeof(T), m);
  }

 private:
  SORA2_TWO_SIDED
  template <std::size_t I, class Warp, class In>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  encode_one(Warp const& w, scratch<Warp>& s, In in, view<std::byte> out, model const& m)
  {
    using codec = stage<I>;
    auto& own = s.stage.template as<typename codec::template scratch<Warp>>();
    return encode_with<codec>(w, own, in, out, detail::stage_model<I, Stages...>(m));
  }
  SORA2_TWO_SIDED
  template <std::size_t I, class Warp, class Out>
  SORA2_HD SORA2_INLINE static status decode_one(Warp const& w, scratch<Warp>& s,
                                                 view<std::byte const> in, Out out, model const& m)
  {
    using codec = stage<I>;
    auto& own = s.stage.template as<typename codec::template scratch<Warp>>();
    return decode_with<codec>(w, own, in, out, detail::stage_model<I, Stages...>(m));
  }

  SORA2_TWO_SIDED
  template <class Warp, class In>
  SORA2_HD SORA2_INLINE static result<std::size_t> encode_all(Warp const& w, scratch<Warp>& s,
                                                              In in, std::size_t raw_bytes,
                                                              view<std::byte> out, model const& m)
  {
    if constexpr (host_only && !Warp::is_host)
      return status::not_resident;
    else {
      if (raw_bytes > Config.page_bytes) return status::input_too_large;
      if (out.size < head) return status::output_too_small;
      view<std::byte const> bytes;  // what the stages so far have left
      if constexpr (!detail::is_tile<In>) bytes = in;
      if (auto const done = encode_from<0>(w, s, in, bytes, out, m); done != status::ok)
        return done;
      w.sync();
      return head + bytes.size;
    }
  }

  SORA2_TWO_SIDED
  template <std::size_t I, class Warp, class In>
  SORA2_HD SORA2_INLINE static status encode_from(Warp const& w, scratch<Warp>& s, In in,
                                                  view<std::byte const>& bytes, view<std::byte> out,
                                                  model const& m)
  {
    status const done = encode_stage<I>(w, s, in, bytes, out, m);
    if constexpr (I + 1 < stages)
      if (done == status::ok) return encode_from<I + 1>(w, s, in, bytes, out, m);
    return done;
  }

  /// Runs stage I on `bytes` (the first one on `in`) and lets `bytes` be its result.
  SORA2_TWO_SIDED
  template <std::size_t I, class Warp, class In>
  SORA2_HD SORA2_INLINE static status encode_stage(Warp const& w, scratch<Warp>& s, In in,
                                                   view<std::byte const>& bytes,
                                                   view<std::byte> out, model const& m)
  {
    constexpr bool last = I + 1 == stages;
    view<std::byte> const room = last ? out.from(head) : s.between.other(bytes.data);
    result<std::size_t> n = status::unsupported;
    if constexpr (I == 0)
      n = encode_one<I>(w, s, in, room, m);
    else
      n = encode_one<I>(w, s, bytes, room, m);

    if constexpr (optional<I>) {
      bool const gains = n ? *n < bytes.size : false;
      if (!n && n.error() != status::output_too_small) return n.error();
      auto const word = static_cast<std::uint32_t>(bytes.size) | (gains ? 0u : left_out);
      w.copy(out.data + 4 * words_before<I>, reinterpret_cast<std::byte const*>(&word), 4);
      if (!gains) {
        w.sync();  // the next stage may write where this one wrote
        if constexpr (last) {
          if (room.size < bytes.size) return status::output_too_small;
          w.copy(room.data, bytes.data, bytes.size);
          bytes = room.sub(0, bytes.size);
        }
        return status::ok;
      }
    }
    if (!n) return n.error();
    bytes = room.sub(0, *n);
    w.sync();
    return status::ok;
  }

  SORA2_TWO_SIDED
  template <class Warp, class Out>
  SORA2_HD SORA2_INLINE static status decode_all(Warp const& w, scratch<Warp>& s,
                                                 view<std::byte const> in, Out out,
                                                 std::size_t raw_bytes, model const& m)
  {
    if constexpr (host_only && !Warp::is_host)
      return status::not_resident;
    else {
      if (raw_bytes > Config.page_bytes) return status::input_too_large;
      if (in.size < head) return status::corrupt_input;
      view<std::byte const> bytes = in.from(head);  // what the stages not yet undone have made
      status const done = decode_from<stages - 1>(w, s, in, bytes, out, raw_bytes, m);
      if (done == status::ok) w.sync();
      return done;
    }
  }

  SORA2_TWO_SIDED
  template <std::size_t I, class Warp, class Out>
  SORA2_HD SORA2_INLINE static status
  decode_from(Warp const& w, scratch<Warp>& s, view<std::byte const> in,
              view<std::byte const>& bytes, Out out, std::size_t raw_bytes, model const& m)
  {
    status const done = decode_stage<I>(w, s, in, bytes, out, raw_bytes, m);
    if constexpr (I > 0)
      if (done == status::ok) return decode_from<I - 1>(w, s, in, bytes, out, raw_bytes, m);
    return done;
  }

  /// Undoes stage I: `bytes` becomes its input, the first stage writes `out`.
  SORA2_TWO_SIDED
  template <std::size_t I, class Warp, class Out>
  SORA2_HD SORA2_INLINE static status
  decode_stage(Warp const& w, scratch<Warp>& s, view<std::byte const> in,
               view<std::byte const>& bytes, Out out, std::size_t raw_bytes, model const& m)
  {
    if constexpr (optional<I>) {
      auto const word = load_le<std::uint32_t>(in.data + 4 * words_before<I>);
      std::size_t const length = word & ~left_out;
      if (I == 0 && length != raw_bytes) return status::wrong_shape;
      if ((word & left_out) != 0) {
        if (length != bytes.size) return status::corrupt_input;
        if constexpr (I == 0) w.copy(out.data, bytes.data, bytes.size);
        return status::ok;
      }
      if constexpr (I > 0) return decode_between<I>(w, s, bytes, length, m);
    } else if constexpr (I > 0)
      return decode_between<I>(w, s, bytes, stage<I>::decoded_bytes(bytes.size), m);
    if constexpr (I == 0) return decode_one<I>(w, s, bytes, out, m);
  }
  SORA2_TWO_SIDED
  template <std::size_t I, class Warp>
  SORA2_HD SORA2_INLINE static status decode_between(Warp const& w, scratch<Warp>& s,
                                                     view<std::byte const>& bytes,
                                                     std::size_t length, model const& m)
  {
    view<std::byte> const room = s.between.other(bytes.data);
    if (length > room.size) return status::corrupt_input;
    status const done = decode_one<I>(w, s, bytes, room.sub(0, length), m);
    bytes = room.sub(0, length);
    w.sync();
    return done;
  }
};

/// A chain with the default page size.
template <class... Stages>
using chain = chain_of<chain_config{}, Stages...>;

}  // namespace sora2
