// What a block costs on top of its codec: header, checksum and copy, beside memcpy.
#include <sora2/codec/block.hpp>

#include <sora2/codec/planes.hpp>

#include "byte_codec.hpp"

namespace {

using namespace sora2;

/// planes never gain: the block holds the page as it came, after a try.
using codec = planes<>;

int register_all()
{
  for (std::size_t size : {4096u, 8192u, 65536u, 262'144u}) {
    std::string const name = "block/" + std::to_string(size / 1024) + "K";
    auto const page = support::noise(size, 1);
    bench::add(
        name + "/raw", page,
        {block_bound<codec>(size),
         [](bench::bytes const& in, bench::bytes& out) {
           return write_block<codec>(view<std::byte const>(in), view<std::byte>(out)).value_or(0);
         },
         [](view<std::byte const> in, bench::bytes& back) {
           return read_block<codec>(in, view<std::byte>(back)) == status::ok;
         }});
    bench::add_memcpy(name, page);
  }
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace
