#include <sora2/simt/packed.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <vector>

#include "support/warps.hpp"

namespace {

static_assert(sora2::packed_bytes<4>(7) == 4 && sora2::packed_bytes<2>(1) == 1 &&
              sora2::packed_bytes<8>(0) == 0);

/// Element i of packed memory, by the definition.
template <int Bits>
std::uint32_t element(std::byte const* p, std::uint32_t i)
{
  std::uint32_t const bit = i * Bits;
  return static_cast<std::uint32_t>(p[bit / 8]) >> (bit % 8) & ((1u << Bits) - 1);
}
template <int Bits>
std::int32_t with_sign(std::uint32_t x)
{
  return static_cast<std::int32_t>(x) - (x >> (Bits - 1) != 0 ? 1 << Bits : 0);
}

template <int Bits>
void every_count_and_byte()
{
  std::mt19937 random(3);
  for (std::uint32_t n = 0; n <= 32; ++n) {
    // Exactly the bytes that hold the elements: a step outside is seen by AddressSanitizer and the watching warp.
    std::size_t const bytes = sora2::packed_bytes<Bits>(n);
    auto const packed = std::make_unique<std::byte[]>(bytes);
    for (std::size_t i = 0; i < bytes; ++i) packed[i] = static_cast<std::byte>(random());
    support::on_all_warps([&](auto const& w) {
      std::uint32_t plain[32];
      std::int32_t sign[32];
      w.store(plain, sora2::load_packed<Bits, std::uint32_t>(w, packed.get(), n));
      w.store(sign, sora2::load_packed<Bits, std::int32_t>(w, packed.get(), n));
      float numbers[32];
      sora2::packed_steps<Bits, std::int32_t, std::remove_cvref_t<decltype(w)>> const steps(0.25f,
                                                                                            3.0f);
      w.store(numbers, steps.load(w, packed.get(), n));
      for (std::uint32_t i = 0; i < 32; ++i) {
        std::uint32_t const expected = i < n ? element<Bits>(packed.get(), i) : 0;
        REQUIRE(plain[i] == expected);
        REQUIRE(sign[i] == with_sign<Bits>(expected));
        if (i < n) REQUIRE(numbers[i] == static_cast<float>(sign[i]) * 0.25f + 3.0f);
      }
      auto const again = std::make_unique<std::byte[]>(bytes);
      sora2::store_packed<Bits>(w, again.get(), n, w.template load<std::uint32_t>(plain));
      for (std::uint32_t i = 0; i < n; ++i) REQUIRE(element<Bits>(again.get(), i) == plain[i]);
      for (std::uint32_t i = n; i < bytes * 8 / Bits; ++i)
        REQUIRE(element<Bits>(again.get(), i) == 0);
    });
  }
}

}  // namespace

TEST_SUITE("simt/packed") {
  TEST_CASE("elements of 8 bits") { every_count_and_byte<8>(); }
  TEST_CASE("elements of 4 bits") { every_count_and_byte<4>(); }
  TEST_CASE("elements of 2 bits") { every_count_and_byte<2>(); }
}
