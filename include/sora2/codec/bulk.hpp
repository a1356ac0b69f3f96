/// Host entries: encode or decode one page with the widest instruction set of this CPU.
/// Smallest use: `auto const n = encode<lz4<>>(raw, packed); if (!n) return n.error();`.
/// Limits: host only. Scratch lies on the stack of the call (at most a few 100 KiB). Blocks; safe from any thread.
#pragma once

#include <sora2/codec/policy.hpp>
#include <sora2/simt/dispatch.hpp>

namespace sora2 {

/// Runs `f(warp)` with the warp of `set` for work with these codecs, which may need none of its instructions.
template <class... Codecs, class F>
inline auto with_warp_for(isa set, F&& f)
{
  if constexpr ((is_scalar_on_host<Codecs> && ...))
    return with_host_warp(f);
  else
    return with_warp(set, f);
}

/// Encodes `in` and gives the number of bytes written to `out`.
/// Errors: output_too_small (`Codec::encoded_bound` is always enough), and those of the policy.
template <byte_codec_policy Codec>
[[nodiscard]] result<std::size_t> encode(view<std::byte const> in, view<std::byte> out,
                                         model_t<Codec> const& m = {}, isa set = best_isa())
{
  return with_warp_for<Codec>(set, [&](auto const& w) -> result<std::size_t> {
    typename Codec::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return encode_with<Codec>(w, s, in, out, m);
  });
}
/// Decodes exactly `out.size` bytes, or reports why not. Never leaves its views.
template <byte_codec_policy Codec>
[[nodiscard]] status decode(view<std::byte const> in, view<std::byte> out,
                            model_t<Codec> const& m = {}, isa set = best_isa())
{
  return with_warp_for<Codec>(set, [&](auto const& w) -> status {
    typename Codec::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return decode_with<Codec>(w, s, in, out, m);
  });
}

/// The same for a tile of values.
template <value_codec_policy Codec, class T>
  requires real_type<std::remove_const_t<T>>
[[nodiscard]] result<std::size_t> encode(tile<T> in, view<std::byte> out,
                                         model_t<Codec> const& m = {}, isa set = best_isa())
{
  return with_warp_for<Codec>(set, [&](auto const& w) -> result<std::size_t> {
    typename Codec::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return encode_with<Codec>(w, s, tile<T const>(in), out, m);
  });
}
template <value_codec_policy Codec, real_type T>
[[nodiscard]] status decode(view<std::byte const> in, tile<T> out, model_t<Codec> const& m = {},
                            isa set = best_isa())
{
  return with_warp_for<Codec>(set, [&](auto const& w) -> status {
    typename Codec::template scratch<std::remove_cvref_t<decltype(w)>> s;
    detail::leave_unset(s);
    return decode_with<Codec>(w, s, in, out, m);
  });
}

}  // namespace sora2
