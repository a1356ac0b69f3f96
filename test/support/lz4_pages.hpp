// Pages with repeats near and far, for tests of matching encoders; the same ones on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sora2/core/bits.hpp>

#include "support/byte_pages.hpp"

namespace support {

inline std::vector<std::byte> repeated(std::size_t size, std::size_t period)
{
  std::vector<std::byte> page = noise(size, period);
  for (std::size_t i = period; i < size; ++i) page[i] = page[i - period];
  return page;
}
/// Words of a small vocabulary.
inline std::vector<std::byte> text(std::size_t size, std::uint64_t seed)
{
  random_source next(seed);
  std::vector<std::byte> page;
  while (page.size() < size) {
    std::uint32_t word = next.below(next.below(200) + 1) * 2654435761u;
    for (std::uint32_t n = 2 + word % 7; n > 0 && page.size() < size; --n, word >>= 4)
      page.push_back(static_cast<std::byte>('a' + word % 16));
    if (page.size() < size) page.push_back(std::byte{' '});
  }
  return page;
}
/// Pieces of noise, runs, repeats of earlier bytes near and far, in changing shares.
inline std::vector<std::byte> mixture(std::size_t size, std::uint64_t seed)
{
  random_source next(seed);
  std::vector<std::byte> page;
  std::uint32_t const kind = next.below(5), reach = 1u << next.below(17);
  while (page.size() < size) {
    std::uint32_t n = 1 + next.below(1u << next.below(kind == 0 ? 11 : 7));
    bool const again = !page.empty() && next.below(5) > kind;
    std::size_t const back = again ? 1 + next.below(static_cast<std::uint32_t>(
                                             sora2::least<std::size_t>(page.size(), reach)))
                                   : 0;
    for (; n > 0 && page.size() < size; --n)
      page.push_back(again ? page[page.size() - back] : static_cast<std::byte>(next()));
  }
  return page;
}

}  // namespace support
