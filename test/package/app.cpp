// What each consumer builds and runs: the library from a user's side, in two units that both include it.
#include <cstdio>

#include <sora2/core/result.hpp>
#include <sora2/core/version.hpp>
#include <sora2/core/view.hpp>

#ifdef USES_lz4
#include <lz4.h>
#endif
#ifdef USES_zstd
#include <zstd.h>
#endif
#ifdef USES_safetensors
#include <nlohmann/json.hpp>
#endif

sora2::result<int> last_of(sora2::view<int const> numbers);  // in the other unit

int main()
{
  static_assert(SORA2_VERSION ==
                10000 * SORA2_VERSION_MAJOR + 100 * SORA2_VERSION_MINOR + SORA2_VERSION_PATCH);
  int const numbers[] = {3, 1, 4};
  auto const last = last_of({numbers, 3});
  auto const none = last_of({});
  bool good = last && *last == 4 && none.error() == sora2::status::not_found;
#ifdef USES_lz4
  good = good && LZ4_versionNumber() > 0;
#endif
#ifdef USES_zstd
  good = good && ZSTD_versionNumber() > 0;
#endif
#ifdef USES_safetensors
  good = good && nlohmann::json::parse("{\"a\": 1}").at("a") == 1;
#endif
  std::printf("sora2 %d: %s\n", SORA2_VERSION, good ? "works" : "is broken");
  return good ? 0 : 1;
}
