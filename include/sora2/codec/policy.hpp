/// What a codec policy is: an empty type with a constexpr `config` and static, collective `encode` and `decode`.
/// Smallest use: `static_assert(codec_policy<my_codec>);` at the end of the policy's header.
/// Limits: policies hold no state. Working memory comes as `scratch<Warp>`, shared tables as `model`, both from the caller.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/core/float16.hpp>
#include <sora2/core/ids.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/host_warp.hpp>

namespace sora2 {

/// The `model` of a policy that needs no table from outside.
struct no_model {};

/// Families of block payloads, part of every block header. User policies take 0x8000 and above.
enum class codec_family : std::uint16_t {
  raw = 0,
  quantize = 1,
  lz4 = 2,
  rans = 3,
  context = 4,
  delta = 5,
  planes = 6,
  zstd = 7,
  chain = 16,
  user = 0x8000,
};

/// What all policies have: facts that need no data.
/// - `tier`: the level its blocks belong to · `family`, `format()`: identity of the bytes, with every config value that
///   changes them · `encoded_bound(raw_bytes)`: no encode ever needs more room · `scratch<Warp>`: trivially default
///   constructible, left synced by every call · optional `model` (trivially copyable; default: none) and
///   `host_only` (default false; a kernel that meets such a block answers `status::not_resident`)
///   `scalar_on_host` (default false; true where the lanes of a host warp are not used: bulk entries choose no set then)
template <class C>
concept policy_facts = std::is_empty_v<C> && std::semiregular<C> && requires {
  C::config;
  {
    C::tier
  } -> std::convertible_to<level>;
  {
    C::family
  } -> std::convertible_to<codec_family>;
  {
    C::format()
  } -> std::same_as<format_id>;
  {
    C::encoded_bound(std::size_t{})
  } -> std::same_as<std::size_t>;
  typename C::template scratch<host_warp>;
};

namespace detail {

template <class C>
struct model_of {
  using type = no_model;
};
template <class C>
  requires requires { typename C::model; }
struct model_of<C> {
  using type = typename C::model;
};

}  // namespace detail

/// The table type a policy wants from its caller; `no_model` when it wants none.
template <class C>
using model_t = typename detail::model_of<C>::type;

template <class C>
inline constexpr bool is_host_only = [] {
  if constexpr (requires { C::host_only; })
    return C::host_only;
  else
    return false;
}();
template <class C>
inline constexpr bool is_scalar_on_host = [] {
  if constexpr (requires { C::scalar_on_host; })
    return C::scalar_on_host;
  else
    return false;
}();

/// Bytes to bytes, without loss. A policy with a model takes it as last argument.
template <class C>
concept byte_codec_policy =
    policy_facts<C> &&
    requires(host_warp const& w, typename C::template scratch<host_warp>& s,
             view<std::byte const> in, view<std::byte> out, model_t<C> const& m) {
      requires requires {
        {
          C::encode(w, s, in, out)
        } -> std::same_as<result<std::size_t>>;
        {
          C::decode(w, s, in, out)
        } -> std::same_as<status>;
      } || requires {
        {
          C::encode(w, s, in, out, m)
        } -> std::same_as<result<std::size_t>>;
        {
          C::decode(w, s, in, out, m)
        } -> std::same_as<status>;
      };
    };

/// A tile of float16, bfloat16 or float values to bytes and back; may lose precision, never shape.
template <class C>
concept value_codec_policy =
    policy_facts<C> && requires(host_warp const& w, typename C::template scratch<host_warp>& s,
                                tile<float const> in, tile<float> out, view<std::byte const> packed,
                                view<std::byte> room, model_t<C> const& m) {
      requires requires {
        {
          C::encode(w, s, in, room)
        } -> std::same_as<result<std::size_t>>;
        {
          C::decode(w, s, packed, out)
        } -> std::same_as<status>;
      } || requires {
        {
          C::encode(w, s, in, room, m)
        } -> std::same_as<result<std::size_t>>;
        {
          C::decode(w, s, packed, out, m)
        } -> std::same_as<status>;
      };
    };

template <class C>
concept codec_policy = byte_codec_policy<C> || value_codec_policy<C>;

/// A policy that a kernel may ask for.
template <class C>
concept device_codec_policy = codec_policy<C> && !is_host_only<C>;

namespace detail {

/// Scratch starts unset, and codecs write before they read. g++ cannot follow that through calls it does not inline, and
/// would warn in the user's code.
template <class Scratch>
SORA2_INLINE void leave_unset([[maybe_unused]] Scratch& s)
{
#if defined(__GNUC__) && !defined(__clang__) && !SORA2_ON_DEVICE
  __asm__("" : "=m"(s));
#endif
}

}  // namespace detail

/// One call for policies with and without a model. Collective.
SORA2_TWO_SIDED
template <class C, class Warp, class In>
SORA2_HD SORA2_INLINE result<std::size_t> encode_with(Warp const& w,
                                                      typename C::template scratch<Warp>& s, In in,
                                                      view<std::byte> out, model_t<C> const& m)
{
  if constexpr (requires { C::encode(w, s, in, out, m); })
    return C::encode(w, s, in, out, m);
  else
    return C::encode(w, s, in, out);
}
SORA2_TWO_SIDED
template <class C, class Warp, class Out>
SORA2_HD SORA2_INLINE status decode_with(Warp const& w, typename C::template scratch<Warp>& s,
                                         view<std::byte const> in, Out out, model_t<C> const& m)
{
  if constexpr (requires { C::decode(w, s, in, out, m); })
    return C::decode(w, s, in, out, m);
  else
    return C::decode(w, s, in, out);
}

}  // namespace sora2
