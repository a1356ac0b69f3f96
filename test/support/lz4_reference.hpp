// An LZ4 block decoder that is slow and obvious, and says whether a block keeps the rules for encoders.
// Smallest use: `auto const r = support::slow_lz4(block); REQUIRE(r.legal); CHECK(r.out == page);`.
#pragma once

#include <cstddef>
#include <vector>

#include <sora2/core/view.hpp>

namespace support {

struct slow_lz4_result {
  bool legal = false;  ///< ends where the input ends, behind literals; all offsets reach something
  bool ends_as_encoders_must =
      false;  ///< 5 literals at the end, and the last match starts 12 bytes before it
  std::vector<std::byte> out;
};

inline slow_lz4_result slow_lz4(sora2::view<std::byte const> in,
                                sora2::view<std::byte const> dictionary = {})
{
  slow_lz4_result r;
  std::vector<std::byte> made(dictionary.begin(), dictionary.end());
  std::size_t at = 0, last_start = 0, literals = 0;
  bool matched = false;
  auto const left = [&] { return in.size - at; };
  auto const next = [&] { return static_cast<std::size_t>(in[at++]); };
  auto const extended = [&](std::size_t& length) {
    if (length != 15) return true;
    for (;;) {
      if (left() == 0) return false;
      std::size_t const more = next();
      length += more;
      if (more != 255) return true;
    }
  };
  for (;;) {
    if (left() == 0) return r;
    std::size_t const token = next();
    literals = token >> 4;
    if (!extended(literals) || literals > left()) return r;
    for (std::size_t i = 0; i < literals; ++i) made.push_back(in[at++]);
    if (left() == 0) break;
    if (left() < 2) return r;
    std::size_t const low = next(), offset = low | next() << 8;
    std::size_t length = token & 15;
    if (!extended(length)) return r;
    if (offset == 0 || offset > made.size()) return r;
    last_start = made.size();
    matched = true;
    for (std::size_t i = 0; i < length + 4; ++i) made.push_back(made[made.size() - offset]);
  }
  r.legal = true;
  r.ends_as_encoders_must = !matched || (literals >= 5 && made.size() - last_start >= 12);
  r.out.assign(made.begin() + static_cast<std::ptrdiff_t>(dictionary.size), made.end());
  return r;
}

}  // namespace support
