/// A compile-time list of codecs, one for each level that a cache uses; the level is chosen at run time.
/// Smallest use: `using levels = tiers<quantize<>, chain<quantize<>, lz4<>>>;`, then
/// `write_block<levels>(level::fast, page, bytes)` and `read_block<levels>(bytes, page)`.
/// Limits: one codec a level, in rising order. A level without a codec answers `status::unsupported`. A kernel that meets
/// a host-only codec answers `status::not_resident`. Scratch is the largest of the members', not their sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <sora2/codec/block.hpp>
#include <sora2/codec/detail/stages.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/ids.hpp>
#include <sora2/core/macros.hpp>

namespace sora2 {

template <class... Codecs>
struct tiers {
  static_assert(sizeof...(Codecs) > 0, "sora2: tiers need at least one codec");
  static_assert((codec_policy<Codecs> && ...), "sora2: every tier is a codec policy");
  static_assert(
      [] {
        int last = -1;
        bool rising = true;
        ((rising = rising && int{static_cast<std::uint8_t>(Codecs::tier)} > last,
          last = int{static_cast<std::uint8_t>(Codecs::tier)}),
         ...);
        return rising;
      }(),
      "sora2: tiers are named in rising order of their level, one codec for each");

  static constexpr std::size_t size = sizeof...(Codecs);
  template <std::size_t I>
  using codec = detail::nth_t<I, Codecs...>;
  using model = detail::models_t<Codecs...>;
  static constexpr bool scalar_on_host = (is_scalar_on_host<Codecs> && ...);

  template <class Warp>
  struct scratch {
    detail::one_of<typename Codecs::template scratch<Warp>...> member;
  };

  /// Position of the level in the list; `size` when it has no codec.
  [[nodiscard]] SORA2_HD static constexpr std::size_t index_of(level l)
  {
    std::size_t found = size, i = 0;
    ((found = level{Codecs::tier} == l ? i : found, ++i), ...);
    return found;
  }
  /// Position of the codec that a block was written with, also when it was stored raw; `size` when it is none of these.
  [[nodiscard]] SORA2_HD static constexpr std::size_t index_of(block_header const& h)
  {
    std::size_t found = size, i = 0;
    ((found = codec_family{Codecs::family} == h.family && Codecs::format() == h.format ? i : found,
      ++i),
     ...);
    return found;
  }
  [[nodiscard]] SORA2_HD static constexpr bool has(level l) { return index_of(l) < size; }
  /// The format of a level's bytes; the empty id when it has no codec.
  [[nodiscard]] SORA2_HD static constexpr format_id format(level l)
  {
    format_id id;
    ((id = level{Codecs::tier} == l ? Codecs::format() : id), ...);
    return id;
  }
  /// Room for any level.
  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    std::size_t most = 0;
    ((most = greatest(most, Codecs::encoded_bound(raw_bytes))), ...);
    return most;
  }
  [[nodiscard]] SORA2_HD static constexpr std::size_t block_bound(std::size_t raw_bytes)
  {
    std::size_t most = 0;
    ((most = greatest(most, sora2::block_bound<Codecs>(raw_bytes))), ...);
    return most;
  }

  /// A tile or bytes to the bare bytes of a level's codec. Collective.
  SORA2_TWO_SIDED
  template <warp_context Warp, class In>
  [[nodiscard]] SORA2_HD SORA2_INLINE static result<std::size_t>
  encode(Warp const& w, scratch<Warp>& s, level l, In in, view<std::byte> out, model const& m = {})
  {
    return encode_from<0, false>(w, s, index_of(l), in, out, {}, m);
  }
  SORA2_TWO_SIDED
  template <warp_context Warp, class Out>
  [[nodiscard]] SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>& s, level l,
                                                           view<std::byte const> in, Out out,
                                                           model const& m = {})
  {
    return decode_from<0, false>(w, s, index_of(l), in, out, {}, m);
  }

  /// The same as a block, which remembers its codec. Collective.
  SORA2_TWO_SIDED
  template <warp_context Warp, class In>
  [[nodiscard]] SORA2_HD SORA2_INLINE static result<std::size_t>
  encode_block(Warp const& w, scratch<Warp>& s, level l, In in, view<std::byte> out,
               block_options options = {}, model const& m = {})
  {
    return encode_from<0, true>(w, s, index_of(l), in, out, options, m);
  }
  SORA2_TWO_SIDED
  template <warp_context Warp, class Out>
  [[nodiscard]] SORA2_HD SORA2_INLINE static status
  decode_block(Warp const& w, scratch<Warp>& s, view<std::byte const> block, Out out,
               block_options options = {}, model const& m = {})
  {
    auto const h = read_header(block);
    if (!h) return h.error();
    std::size_t const at = index_of(*h);
    if (at == size) return status::wrong_format;
    return decode_from<0, true>(w, s, at, block, out, options, m);
  }

 private:
  SORA2_TWO_SIDED
  template <std::size_t I, bool Block, class Warp, class In>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  encode_from(Warp const& w, scratch<Warp>& s, std::size_t at, In in, view<std::byte> out,
              block_options options, model const& m)
  {
    if constexpr (I == size)
      return status::unsupported;
    else {
      if (at != I) return encode_from<I + 1, Block>(w, s, at, in, out, options, m);
      using member = codec<I>;
      auto& own = s.member.template as<typename member::template scratch<Warp>>();
      auto const& table = detail::stage_model<I, Codecs...>(m);
      if constexpr (Block)
        return sora2::encode_block<member>(w, own, in, out, options, table);
      else
        return detail::encode_any<member>(w, own, in, out, table);
    }
  }
  SORA2_TWO_SIDED
  template <std::size_t I, bool Block, class Warp, class Out>
  SORA2_HD SORA2_INLINE static status decode_from(Warp const& w, scratch<Warp>& s, std::size_t at,
                                                  view<std::byte const> in, Out out,
                                                  block_options options, model const& m)
  {
    if constexpr (I == size)
      return status::unsupported;
    else {
      if (at != I) return decode_from<I + 1, Block>(w, s, at, in, out, options, m);
      using member = codec<I>;
      auto& own = s.member.template as<typename member::template scratch<Warp>>();
      auto const& table = detail::stage_model<I, Codecs...>(m);
      if constexpr (Block)
        return sora2::decode_block<member>(w, own, in, out, options, table);
      else
        return detail::decode_any<member>(w, own, in, out, table);
    }
  }
};

namespace detail {

template <class T>
inline constexpr bool is_tiers = false;
template <class... Codecs>
inline constexpr bool is_tiers<tiers<Codecs...>> = true;

}  // namespace detail

template <class T>
concept tiers_list = detail::is_tiers<T>;

/// Host: one block of the named level, with the widest instruction set of this CPU. Blocks; safe from any thread.
template <tiers_list Tiers>
[[nodiscard]] result<std::size_t>
write_block(level l, view<std::byte const> in, view<std::byte> out, block_options options = {},
            typename Tiers::model const& m = {}, isa set = best_isa())
{
  return with_warp_for<Tiers>(set, [&](auto const& w) -> result<std::size_t> {
    typename Tiers::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return Tiers::encode_block(w, s, l, in, out, options, m);
  });
}
template <tiers_list Tiers, class T>
  requires real_type<std::remove_const_t<T>>
[[nodiscard]] result<std::size_t>
write_block(level l, tile<T> in, view<std::byte> out, block_options options = {},
            typename Tiers::model const& m = {}, isa set = best_isa())
{
  return with_warp_for<Tiers>(set, [&](auto const& w) -> result<std::size_t> {
    typename Tiers::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return Tiers::encode_block(w, s, l, tile<T const>(in), out, options, m);
  });
}
/// Host: a block of whichever level wrote it.
template <tiers_list Tiers>
[[nodiscard]] status read_block(view<std::byte const> block, view<std::byte> out,
                                block_options options = {}, typename Tiers::model const& m = {},
                                isa set = best_isa())
{
  return with_warp_for<Tiers>(set, [&](auto const& w) -> status {
    typename Tiers::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return Tiers::decode_block(w, s, block, out, options, m);
  });
}
template <tiers_list Tiers, real_type T>
[[nodiscard]] status read_block(view<std::byte const> block, tile<T> out,
                                block_options options = {}, typename Tiers::model const& m = {},
                                isa set = best_isa())
{
  return with_warp_for<Tiers>(set, [&](auto const& w) -> status {
    typename Tiers::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return Tiers::decode_block(w, s, block, out, options, m);
  });
}

}  // namespace sora2
