/// What chain, tiers and block share: scratch and models of several policies, one call for tiles and for bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/ids.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>

namespace sora2::detail {

template <class T>
inline constexpr bool is_tile = false;
template <class T>
inline constexpr bool is_tile<tile<T>> = true;

/// A byte codec that always writes `encoded_bound(n)` bytes and tells n from them, like delta and planes.
template <class C>
concept transform_policy = byte_codec_policy<C> && requires {
  {
    C::decoded_bytes(std::size_t{})
  } -> std::same_as<std::size_t>;
};

template <std::size_t I, class C, class... Cs>
struct nth {
  using type = typename nth<I - 1, Cs...>::type;
};
template <class C, class... Cs>
struct nth<0, C, Cs...> {
  using type = C;
};
template <std::size_t I, class... Cs>
using nth_t = typename nth<I, Cs...>::type;

/// Room for one of several scratch types at a time.
template <class... Ts>
struct one_of {
  static constexpr std::size_t bytes = [] {
    std::size_t most = 1;
    ((most = greatest(most, sizeof(Ts))), ...);
    return most;
  }();
  alignas(16) alignas(Ts...) std::byte room[bytes];

  /// Starts the life of a T here: no instruction for the trivial types that scratches are.
  template <class T>
  [[nodiscard]] SORA2_HD SORA2_INLINE T& as()
  {
    return *::new (static_cast<void*>(room)) T;
  }
};

/// The id of the table in a model; 0 for models without one.
template <class M>
SORA2_HD constexpr std::uint32_t table_id_of(M const& m)
{
  if constexpr (requires { m.table_id(); })
    return m.table_id();
  else
    return 0;
}

/// Models side by side, in the order of the policies that have one: `{a, {b, {c}}}`.
template <class... Ms>
struct models {
  [[nodiscard]] SORA2_HD constexpr std::uint32_t table_id() const { return 0; }
};
template <class M, class... Rest>
struct models<M, Rest...> {
  M first{};
  models<Rest...> rest{};

  /// Of the only one that has an id; a mixture of several.
  [[nodiscard]] SORA2_HD constexpr std::uint32_t table_id() const
  {
    std::uint32_t const own = table_id_of(first), others = rest.table_id();
    return own == 0 ? others : others == 0 ? own : format_id{}.mix(own).mix(others).value;
  }
};

template <class C>
inline constexpr bool has_model = !std::is_same_v<model_t<C>, no_model>;

template <class Kept, class... Cs>
struct kept_models {
  using type = Kept;
};
template <class... Ms, class C, class... Cs>
struct kept_models<models<Ms...>, C, Cs...>
    : kept_models<std::conditional_t<has_model<C>, models<Ms..., model_t<C>>, models<Ms...>>,
                  Cs...> {};

template <class Kept>
struct unwrapped_models {
  using type = Kept;
};
template <>
struct unwrapped_models<models<>> {
  using type = no_model;
};
template <class M>
struct unwrapped_models<models<M>> {
  using type = M;
};

/// Nothing, the one model there is, or all of them side by side.
template <class... Cs>
using models_t = typename unwrapped_models<typename kept_models<models<>, Cs...>::type>::type;

template <std::size_t I, class Models>
SORA2_HD constexpr auto const& nth_model(Models const& all)
{
  if constexpr (I == 0)
    return all.first;
  else
    return nth_model<I - 1>(all.rest);
}

/// The model of policy I among Cs.
template <std::size_t I, class... Cs>
SORA2_HD constexpr decltype(auto) stage_model(models_t<Cs...> const& all)
{
  constexpr bool has[] = {has_model<Cs>...};
  constexpr std::size_t before = [&] {
    std::size_t count = 0;
    for (std::size_t i = 0; i != I; ++i) count += has[i];
    return count;
  }();
  if constexpr (!has[I])
    return no_model{};
  else if constexpr ((0 + ... + int{has_model<Cs>}) == 1)
    return (all);
  else
    return (nth_model<before>(all));
}

/// Encodes a tile or bytes with either kind of policy: a byte codec takes a dense tile as its bytes.
SORA2_TWO_SIDED
template <class C, class Warp, class In>
SORA2_HD SORA2_INLINE result<std::size_t> encode_any(Warp const& w,
                                                     typename C::template scratch<Warp>& s, In in,
                                                     view<std::byte> out, model_t<C> const& m)
{
  if constexpr (is_host_only<C> && !Warp::is_host)
    return status::not_resident;
  else if constexpr (is_tile<In> == value_codec_policy<C>)
    return encode_with<C>(w, s, in, out, m);
  else if constexpr (is_tile<In>) {
    if (!in.dense()) return status::wrong_shape;
    return encode_with<C>(w, s, view<std::byte const>(as_bytes(in)), out, m);
  } else
    return status::unsupported;
}
SORA2_TWO_SIDED
template <class C, class Warp, class Out>
SORA2_HD SORA2_INLINE status decode_any(Warp const& w, typename C::template scratch<Warp>& s,
                                        view<std::byte const> in, Out out, model_t<C> const& m)
{
  if constexpr (is_host_only<C> && !Warp::is_host)
    return status::not_resident;
  else if constexpr (is_tile<Out> == value_codec_policy<C>)
    return decode_with<C>(w, s, in, out, m);
  else if constexpr (is_tile<Out>) {
    if (!out.dense()) return status::wrong_shape;
    return decode_with<C>(w, s, in, as_bytes(out), m);
  } else
    return status::unsupported;
}

}  // namespace sora2::detail
