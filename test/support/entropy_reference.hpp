// A slow, obvious rANS coder that follows docs/formats/rans.md one symbol at a time, and inputs for entropy coders.
// Smallest use: `CHECK(support::reference_rans(raw, frequencies, 12, head) == packed);`. Limits: host, tests only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace support {

using bytes = std::vector<std::byte>;

inline bytes read_bytes(std::string const& path)
{
  std::ifstream file(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  bytes out(text.size());
  std::transform(text.begin(), text.end(), out.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return out;
}

/// A simple generator whose numbers do not depend on the standard library.
struct numbers {
  std::uint64_t state;
  std::uint32_t next()
  {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 33);
  }
};

/// Bytes whose value v has probability about (1 - p) p^v; p in 256ths.
inline bytes geometric_bytes(std::size_t n, std::uint32_t p, std::uint64_t seed)
{
  numbers g{seed};
  bytes out(n);
  for (auto& b : out) {
    unsigned v = 0;
    while (v < 255 && g.next() % 256 < p) ++v;
    b = static_cast<std::byte>(v);
  }
  return out;
}

inline std::vector<std::uint32_t> count_bytes(bytes const& in)
{
  std::vector<std::uint32_t> counts(256);
  for (std::byte const b : in) ++counts[static_cast<std::size_t>(b)];
  return counts;
}

/// Order-0 entropy of the whole, in bits.
inline double entropy_bits(bytes const& in)
{
  double bits = 0;
  for (std::uint32_t const c : count_bytes(in))
    if (c != 0) bits -= c * std::log2(static_cast<double>(c) / static_cast<double>(in.size()));
  return bits;
}

/// States and words of a coded page of more than 64 bytes. `frequencies` has a value above 0 for each byte of the page,
/// or for the escape, which then stands for it and is followed by it.
inline bytes reference_rans(bytes const& in, std::vector<std::uint32_t> const& frequencies,
                            int bits, std::uint32_t escape = 256)
{
  std::vector<std::uint64_t> start(257);
  for (std::size_t s = 0; s < 256; ++s) start[s + 1] = start[s] + frequencies[s];
  std::size_t const coded = in.size() - 64;
  std::uint64_t x[32];
  for (std::size_t lane = 0; lane < 32; ++lane)
    x[lane] = 0x10000u | static_cast<std::uint64_t>(in[coded + lane]) |
              static_cast<std::uint64_t>(in[coded + 32 + lane]) << 8;
  std::vector<std::uint16_t> words;  // last one first
  std::size_t const rows = (coded + 31) / 32;
  for (std::size_t row = rows; row-- > 0;) {
    std::size_t const n = std::min<std::size_t>(32, coded - 32 * row);
    for (std::size_t lane = n; lane-- > 0;) {
      auto s = static_cast<std::size_t>(in[32 * row + lane]);
      if (frequencies[s] == 0) s = escape;
      std::uint64_t const f = frequencies[s];
      if (x[lane] >= f << (31 - bits)) {
        words.push_back(static_cast<std::uint16_t>(x[lane]));
        x[lane] >>= 16;
      }
      x[lane] = (x[lane] / f << bits) + x[lane] % f + start[s];
    }
    for (std::size_t lane = n; lane-- > 0;) {
      auto const s = static_cast<std::size_t>(in[32 * row + lane]);
      if (frequencies[s] == 0 || s == escape) words.push_back(static_cast<std::uint16_t>(s));
    }
  }
  // How many bits lie below each leading one, less 15, in nibbles; then those bits.
  bytes out(16);
  std::vector<bool> below;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    unsigned length = 15;
    while (x[lane] >> (length + 1) != 0) ++length;
    out[lane / 2] |= static_cast<std::byte>((length - 15) << (lane % 2 * 4));
    for (unsigned i = 0; i < length; ++i) below.push_back((x[lane] >> i & 1) != 0);
  }
  while (below.size() % 16 != 0) below.push_back(false);
  for (std::size_t i = 0; i < below.size(); i += 8) {
    unsigned value = 0;
    for (unsigned j = 0; j < 8; ++j) value |= (below[i + j] ? 1u : 0u) << j;
    out.push_back(static_cast<std::byte>(value));
  }
  for (std::size_t i = words.size(); i-- > 0;) {
    out.push_back(static_cast<std::byte>(words[i] & 0xFF));
    out.push_back(static_cast<std::byte>(words[i] >> 8));
  }
  return out;
}

}  // namespace support
