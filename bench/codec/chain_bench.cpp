// What a chain costs: beside the same codecs called one after the other, and beside memcpy.
#include <sora2/codec/chain.hpp>

#include <sora2/codec/bulk.hpp>
#include <sora2/codec/delta.hpp>
#include <sora2/codec/lz4.hpp>
#include <sora2/codec/planes.hpp>
#include <sora2/codec/quantize.hpp>
#include <sora2/codec/rans.hpp>

#include "composed.hpp"

namespace {

using namespace sora2;
using bench::page_set;

constexpr chain_config small{.page_bytes = page_set::page_bytes};

using codes = quantize<quantize_config{.bits = 4, .symmetric = false}>;
using packed_codes = chain_of<small, codes, lz4<>>;

using rows_apart = delta<delta_config{.distance = page_set::columns}>;
using packed_rows = chain_of<small, rows_apart, planes<>, rans<>>;

/// What lies between two codecs.
struct between {
  alignas(16) std::byte a[page_set::room];
  alignas(16) std::byte b[page_set::room];
};

/// All pages have one shape, so the stream of `codes` always has this size.
constexpr std::size_t codes_bytes = codes::encoded_size(1, page_set::rows, page_set::columns);

result<std::size_t> encode_codes(tile<float16 const> in, view<std::byte> out)
{
  between t;
  auto const n = encode<codes>(in, view<std::byte>(t.a, sizeof t.a));
  if (!n) return n.error();
  return encode<lz4<>>(view<std::byte const>(t.a, *n), out);
}
status decode_codes(view<std::byte const> in, tile<float16> out)
{
  between t;
  if (auto const done = decode<lz4<>>(in, view<std::byte>(t.a, codes_bytes)); done != status::ok)
    return done;
  return decode<codes>(view<std::byte const>(t.a, codes_bytes), out);
}
result<std::size_t> encode_rows(view<std::byte const> in, view<std::byte> out)
{
  between t;
  auto const n = encode<rows_apart>(in, view<std::byte>(t.a, sizeof t.a));
  if (!n) return n.error();
  auto const m = encode<planes<>>(view<std::byte const>(t.a, *n), view<std::byte>(t.b, sizeof t.b));
  if (!m) return m.error();
  return encode<rans<>>(view<std::byte const>(t.b, *m), out);
}
status decode_rows(view<std::byte const> in, view<std::byte> out)
{
  between t;
  if (auto const done = decode<rans<>>(in, view<std::byte>(t.b, out.size)); done != status::ok)
    return done;
  if (auto const done =
          decode<planes<>>(view<std::byte const>(t.b, out.size), view<std::byte>(t.a, out.size));
      done != status::ok)
    return done;
  return decode<rows_apart>(view<std::byte const>(t.a, out.size), out);
}

int register_all()
{
  for (auto const& set : bench::page_sets()) {
    bench::add_codec(
        "chain/int4_lz4", "chain", set,
        [](auto in, view<std::byte> out) { return encode<packed_codes>(in, out); },
        [](view<std::byte const> in, auto out) { return decode<packed_codes>(in, out); });
    bench::add_codec("chain/int4_lz4", "apart", set, encode_codes, decode_codes);
    bench::add_codec(
        "chain/delta_planes_rans", "chain", set,
        [](auto in, view<std::byte> out) { return encode<packed_rows>(as_bytes(in), out); },
        [](view<std::byte const> in, auto out) { return decode<packed_rows>(in, as_bytes(out)); });
    bench::add_codec(
        "chain/delta_planes_rans", "apart", set,
        [](auto in, view<std::byte> out) { return encode_rows(as_bytes(in), out); },
        [](view<std::byte const> in, auto out) { return decode_rows(in, as_bytes(out)); });
    bench::add_copy("chain", set);
  }
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace
