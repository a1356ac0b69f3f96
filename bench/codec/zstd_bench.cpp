// zstd beside libzstd called by hand, and behind delta and planes beside blosc's bitshuffle with zstd.
#if SORA2_HAS_ZSTD

#include <sora2/codec/zstd.hpp>

#include <zstd.h>

#include <sora2/codec/chain.hpp>
#include <sora2/codec/delta.hpp>
#include <sora2/codec/planes.hpp>

#include "blosc_peer.hpp"
#include "byte_codec.hpp"

namespace {

using namespace sora2;

using packer = chain_of<chain_config{.page_bytes = 65536},
                        delta<delta_config{.distance = 64, .kind = delta_kind::real}>, planes<>,
                        zstd<zstd_config{.level = 1}>>;

void add_libzstd(std::string const& name, bench::bytes const& page)
{
  std::shared_ptr<ZSTD_CCtx> const encoder(ZSTD_createCCtx(), ZSTD_freeCCtx);
  std::shared_ptr<ZSTD_DCtx> const decoder(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_compressionLevel, 3);
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_checksumFlag, 1);
  bench::add(name, page,
             {ZSTD_compressBound(page.size()),
              [encoder](bench::bytes const& in, bench::bytes& out) {
                std::size_t const n =
                    ZSTD_compress2(encoder.get(), out.data(), out.size(), in.data(), in.size());
                return ZSTD_isError(n) != 0 ? 0 : n;
              },
              [decoder](view<std::byte const> in, bench::bytes& back) {
                return ZSTD_decompressDCtx(decoder.get(), back.data(), back.size(), in.data,
                                           in.size) == back.size();
              }});
}

int register_all()
{
  for (std::size_t size : {8192u, 65536u}) {
    std::string const name = "zstd/" + std::to_string(size / 1024) + "K/";
    auto const patches = support::patches(size, 1);
    auto const halves = bench::wave_page<float16>(size);
    bench::add_codec<zstd<>>(name + "patches/sora2", patches);
    add_libzstd(name + "patches/libzstd", patches);
    bench::add_codec<packer>(name + "delta_planes_zstd/sora2", halves);
#if SORA2_HAS_BLOSC
    bench::add_blosc(name + "bitshuffle_zstd/blosc", halves, "zstd", 1, BLOSC_BITSHUFFLE, 2);
#endif
    bench::add_memcpy("zstd/" + std::to_string(size / 1024) + "K", halves);
  }
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace

#endif
