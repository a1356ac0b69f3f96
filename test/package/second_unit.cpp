#include <sora2/codec/bulk.hpp>
#include <sora2/codec/lz4.hpp>

sora2::status unpack(sora2::view<std::byte const> packed, sora2::view<std::byte> raw);

sora2::status unpack(sora2::view<std::byte const> packed, sora2::view<std::byte> raw)
{
  return sora2::decode<sora2::lz4<>>(packed, raw);
}
