// What each consumer builds and runs: the library from a user's side, in two units that both include it.
#include <cstdio>
#include <vector>

#include <sora2/codec/bulk.hpp>
#include <sora2/codec/lz4.hpp>
#include <sora2/core/version.hpp>

#ifdef USES_lz4
#include <lz4.h>
#endif
#ifdef USES_zstd
#include <zstd.h>
#endif
#ifdef USES_safetensors
#include <sora2/store/safetensors.hpp>
#endif

sora2::status unpack(sora2::view<std::byte const> packed, sora2::view<std::byte> raw);

int main()
{
  static_assert(SORA2_VERSION ==
                10000 * SORA2_VERSION_MAJOR + 100 * SORA2_VERSION_MINOR + SORA2_VERSION_PATCH);
  std::vector<std::byte> raw(10000), back(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<std::byte>(i / 100);
  std::vector<std::byte> packed(sora2::lz4<>::encoded_bound(raw.size()));
  auto const bytes = sora2::encode<sora2::lz4<>>(raw, packed);
  bool good = bytes && *bytes < raw.size() / 4;
  if (good) packed.resize(*bytes);
  good = good && unpack(packed, back) == sora2::status::ok && back == raw;
#ifdef USES_lz4
  good = good && LZ4_decompress_safe(reinterpret_cast<char const*>(packed.data()),
                                     reinterpret_cast<char*>(back.data()),
                                     static_cast<int>(packed.size()), 10000) == 10000;
#endif
#ifdef USES_zstd
  good = good && ZSTD_versionNumber() > 0;
#endif
  std::printf("sora2 %d: %s\n", SORA2_VERSION, good ? "works" : "is broken");
  return good ? 0 : 1;
}
