// planes beside memcpy, and with lz4 behind beside blosc's shuffle and bitshuffle with lz4.
#include <sora2/codec/planes.hpp>

#include <sora2/codec/chain.hpp>
#include <sora2/codec/lz4.hpp>

#include "blosc_peer.hpp"
#include "byte_codec.hpp"

namespace {

using namespace sora2;

template <int Element, plane_kind Kind>
using of = planes<planes_config{.element = Element, .kind = Kind}>;
template <class Planes>
using with_lz4 = chain_of<chain_config{.page_bytes = 262'144}, Planes, lz4<>>;

int register_all()
{
  for (std::size_t size : {8192u, 262'144u}) {
    std::string const name = "planes/" + std::to_string(size / 1024) + "K/";
    auto const halves = bench::wave_page<float16>(size), singles = bench::wave_page<float>(size);
    bench::add_codec<of<2, plane_kind::byte>>(name + "byte2", halves);
    bench::add_codec<of<4, plane_kind::byte>>(name + "byte4", singles);
    bench::add_codec<of<8, plane_kind::byte>>(name + "byte8", singles);
    bench::add_codec<of<1, plane_kind::bit>>(name + "bit1", halves);
    bench::add_codec<of<2, plane_kind::bit>>(name + "bit2", halves);
    bench::add_codec<of<4, plane_kind::bit>>(name + "bit4", singles);
    bench::add_memcpy("planes/" + std::to_string(size / 1024) + "K", halves);
    bench::add_codec<with_lz4<of<4, plane_kind::byte>>>(name + "byte4_lz4/sora2", singles);
    bench::add_codec<with_lz4<of<2, plane_kind::bit>>>(name + "bit2_lz4/sora2", halves);
#if SORA2_HAS_BLOSC
    bench::add_blosc(name + "byte4_lz4/blosc", singles, "lz4", 9, BLOSC_SHUFFLE, 4);
    bench::add_blosc(name + "bit2_lz4/blosc", halves, "lz4", 9, BLOSC_BITSHUFFLE, 2);
#endif
  }
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace
