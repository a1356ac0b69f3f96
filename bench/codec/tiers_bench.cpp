// What it costs to choose the codec at run time: tiers beside the same codec called by its name, and beside memcpy.
#include <sora2/codec/tiers.hpp>

#include <sora2/codec/bulk.hpp>
#include <sora2/codec/chain.hpp>
#include <sora2/codec/lz4.hpp>
#include <sora2/codec/quantize.hpp>

#include "composed.hpp"

namespace {

using namespace sora2;
using bench::page_set;

using fast = chain_of<chain_config{.page_bytes = page_set::page_bytes},
                      quantize<quantize_config{.bits = 4, .symmetric = false}>, lz4<>>;
using levels = tiers<quantize<>, fast>;

/// As a router does: known at run time only.
level volatile chosen_level;
level chosen(level l)
{
  chosen_level = l;
  return chosen_level;
}

// Functions, so that each is compiled once.
result<std::size_t> encode_level(level l, tile<float16 const> in, view<std::byte> out)
{
  return with_best_warp([&](auto const& w) -> result<std::size_t> {
    typename levels::template scratch<std::remove_cvref_t<decltype(w)>> s;
    return levels::encode(w, s, l, in, out);
  });
}
status decode_level(level l, view<std::byte const> in, tile<float16> out)
{
  return with_best_warp([&](auto const& w) -> status {
    typename levels::template scratch<std::remove_cvref_t<decltype(w)>> s;
    return levels::decode(w, s, l, in, out);
  });
}

template <class Codec>
void add_level(std::string const& name, std::shared_ptr<page_set> const& set)
{
  bench::add_codec(
      "tiers/" + name, "tiers", set,
      [](auto in, view<std::byte> out) { return encode_level(chosen(Codec::tier), in, out); },
      [](view<std::byte const> in, auto out) {
        return decode_level(chosen(Codec::tier), in, out);
      });
  bench::add_codec(
      "tiers/" + name, "direct", set,
      [](auto in, view<std::byte> out) { return encode<Codec>(in, out); },
      [](view<std::byte const> in, auto out) { return decode<Codec>(in, out); });
  bench::add_codec(
      "tiers/" + name + "_block", "tiers", set,
      [](auto in, view<std::byte> out) {
        return write_block<levels>(chosen(Codec::tier), in, out);
      },
      [](view<std::byte const> in, auto out) { return read_block<levels>(in, out); });
  bench::add_codec(
      "tiers/" + name + "_block", "direct", set,
      [](auto in, view<std::byte> out) { return write_block<Codec>(in, out); },
      [](view<std::byte const> in, auto out) { return read_block<Codec>(in, out); });
}

int register_all()
{
  for (auto const& set : bench::page_sets()) {
    add_level<quantize<>>("int8", set);
    add_level<fast>("int4_lz4", set);
    bench::add_copy("tiers", set);
  }
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace
