#include <sora2/simt/dispatch.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using sora2::isa;

TEST_SUITE("simt/dispatch") {
  TEST_CASE("the named set's warp runs the function and its result comes back")
  {
    auto const name = [](auto const& w) {
      using warp = std::remove_cvref_t<decltype(w)>;
      if constexpr (std::is_same_v<warp, sora2::host_warp>)
        return isa::portable;
#if defined(__x86_64__)
      else if constexpr (std::is_same_v<warp, sora2::avx2_warp>)
        return isa::avx2;
      else if constexpr (std::is_same_v<warp, sora2::avx512_warp>)
        return isa::avx512;
#endif
    };
    for (isa set : {isa::portable, isa::avx2, isa::avx512})
      if (set <= sora2::best_isa()) CHECK(sora2::with_warp(set, name) == set);
    CHECK(sora2::with_best_warp(name) == sora2::best_isa());
  }

  TEST_CASE("a function without a result may change what it captures")
  {
    std::uint32_t total = 0;
    sora2::with_best_warp([&](auto const& w) { total = w.sum(w.lane()); });
    CHECK(total == 31 * 16);
  }

  TEST_CASE("sets have names")
  {
    CHECK(std::string(isa_name(isa::portable)) == "portable");
    CHECK(std::string(isa_name(isa::avx2)) == "avx2");
    CHECK(std::string(isa_name(isa::avx512)) == "avx512");
  }
}
