// rANS with a shared table and with one in the stream, beside htscodecs' 32-lane order-0 coder.
// htscodecs chooses its widest instruction set by itself, as ours does.
#include <sora2/codec/rans.hpp>

#if SORA2_HAS_HTSCODECS
#include <htscodecs/rANS_static4x16.h>
#endif

#include <cmath>

#include "byte_codec.hpp"

namespace {

using namespace sora2;

/// Bytes as quantised symbols are distributed: geometric, about 3.6 bits each.
bench::bytes geometric(std::size_t size)
{
  bench::bytes page(size);
  std::uint32_t random = 1;
  for (std::byte& b : page) {
    random = random * 1664525u + 1013904223u;
    double const uniform = (static_cast<double>(random >> 8) + 0.5) / (1 << 24);
    b = static_cast<std::byte>(std::min(255.0, std::floor(std::log(uniform) / std::log(0.85))));
  }
  return page;
}

#if SORA2_HAS_HTSCODECS
void add_htscodecs(std::string const& name, bench::bytes const& page)
{
  constexpr int order0_32_lanes = 4;
  bench::add(name, page,
             {rans_compress_bound_4x16(static_cast<unsigned>(page.size()), order0_32_lanes) + 1000,
              [](bench::bytes const& in, bench::bytes& out) -> std::size_t {
                auto n = static_cast<unsigned>(out.size());
                auto* from = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(in.data()));
                auto* to = reinterpret_cast<unsigned char*>(out.data());
                return rans_compress_to_4x16(from, static_cast<unsigned>(in.size()), to, &n,
                                             order0_32_lanes)
                           ? n
                           : 0;
              },
              [](view<std::byte const> in, bench::bytes& back) {
                auto n = static_cast<unsigned>(back.size());
                auto* from = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(in.data));
                auto* to = reinterpret_cast<unsigned char*>(back.data());
                return rans_uncompress_to_4x16(from, static_cast<unsigned>(in.size), to, &n) !=
                           nullptr &&
                       n == back.size();
              }});
}
#endif

int register_all()
{
  for (std::size_t size : {4096u, 16384u, 65536u, 1u << 20}) {
    bench::bytes const page = geometric(size);
    std::string const end = "/" + std::to_string(size / 1024) + "K";
    std::vector<std::uint32_t> counts(256);
    for (std::byte b : page) ++counts[static_cast<std::size_t>(b)];
    static std::vector<std::unique_ptr<rans_table<12>>> tables;  // models are views of these
    tables.push_back(std::make_unique<rans_table<12>>(*make_rans_table<12>(counts)));
    bench::add_codec<rans_shared>("rans/shared_table" + end, page, tables.back()->model());
    bench::add_codec<rans<>>("rans/table_in_stream" + end, page);
#if SORA2_HAS_HTSCODECS
    add_htscodecs("rans/htscodecs_32x16" + end, page);
#endif
    bench::add_memcpy("rans" + end, page);
  }
  return 0;
}
int const registered = register_all();

}  // namespace
