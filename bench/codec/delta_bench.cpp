// delta beside memcpy, on pages of 8 KiB and 256 KiB.
#include <sora2/codec/delta.hpp>

#include "byte_codec.hpp"

namespace {

using namespace sora2;

int register_all()
{
  for (std::size_t size : {8192u, 262'144u}) {
    std::string const name = "delta/" + std::to_string(size / 1024) + "K/";
    auto const page = bench::wave_page<float16>(size);
    bench::add_codec<delta<delta_config{.element = 1, .distance = 1}>>(name + "u8", page);
    bench::add_codec<delta<delta_config{.element = 1, .distance = 32}>>(name + "u8_row32", page);
    bench::add_codec<delta<>>(name + "u16", page);
    bench::add_codec<delta<delta_config{.element = 2, .distance = 64}>>(name + "u16_row64", page);
    bench::add_codec<delta<delta_config{.element = 2, .distance = 64, .kind = delta_kind::real}>>(
        name + "f16_row64", page);
    bench::add_codec<delta<delta_config{.element = 4, .kind = delta_kind::real}>>(name + "f32",
                                                                                  page);
    static auto const base = bench::wave_page<float16>(262'144);
    bench::add_codec<delta_base<>>(name + "base_f16", page,
                                   base_model(view<std::byte const>(base.data(), size), 1));
    bench::add_memcpy("delta/" + std::to_string(size / 1024) + "K", page);
  }
  return 0;
}
[[maybe_unused]] int const registered = register_all();

}  // namespace
