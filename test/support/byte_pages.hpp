// Pages of bytes and values for tests: the same ones on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <sora2/core/float16.hpp>
#include <sora2/core/view.hpp>

namespace support {

/// A small generator of the multiply-and-shift kind; equal on all machines.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint32_t operator()()
  {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33) ^ static_cast<std::uint32_t>(state_ >> 11);
  }
  /// 0 to limit - 1.
  std::uint32_t below(std::uint32_t limit) { return (*this)() % limit; }

 private:
  std::uint64_t state_;
};

inline std::vector<std::byte> noise(std::size_t bytes, std::uint64_t seed)
{
  random_source next(seed);
  std::vector<std::byte> page(bytes);
  for (auto& b : page) b = static_cast<std::byte>(next());
  return page;
}
/// Runs of equal bytes of 1 to 40.
inline std::vector<std::byte> patches(std::size_t bytes, std::uint64_t seed)
{
  random_source next(seed);
  std::vector<std::byte> page;
  while (page.size() < bytes) {
    auto const value = static_cast<std::byte>(next());
    for (std::uint32_t n = 1 + next.below(40); n > 0 && page.size() < bytes; --n)
      page.push_back(value);
  }
  return page;
}
/// Values of unlike columns with a few outliers, row after row.
template <class T>
std::vector<T> unlike_columns(std::size_t count, std::uint32_t columns, std::uint64_t seed)
{
  random_source next(seed);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t const column = i % columns;
    float x = static_cast<float>(next.below(4001)) / 1000.0f - 2.0f;
    x = x * static_cast<float>(1 + column % 5) + static_cast<float>(column % 3);
    if (next.below(97) == 0) x *= 30.0f;
    values[i] = sora2::from_float<T>(x);
  }
  return values;
}

/// Values of a slow wave with some noise, as they lie in caches; all finite.
template <class T>
std::vector<T> wave(std::size_t count, std::uint64_t seed, float height = 20.0f)
{
  random_source next(seed);
  std::vector<T> values(count);
  float level = 0.0f, slope = 0.0f;
  for (auto& v : values) {
    slope += (static_cast<float>(next.below(2001)) / 1000.0f - 1.0f - level / height) * 0.2f;
    slope *= 0.9f;
    level += slope;
    v = sora2::from_float<T>(level);
  }
  return values;
}

/// FNV-1a, 64 bits: names the right output of a case.
inline std::uint64_t fnv1a(sora2::view<std::byte const> bytes)
{
  std::uint64_t h = 0xCBF29CE484222325u;
  for (auto b : bytes) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001B3u;
  return h;
}

/// Exactly sized heap memory, so that the address sanitizer sees every step beside it.
class exact_copy {
 public:
  explicit exact_copy(sora2::view<std::byte const> from)
      : data_(new std::byte[from.size]), size_(from.size)
  {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = from[i];
  }
  operator sora2::view<std::byte const>() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_;
};

/// The whole file; empty and a failed `found` when it cannot be read.
inline std::vector<std::byte> file_bytes(std::string const& path, bool& found)
{
  std::vector<std::byte> bytes;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  found = file != nullptr;
  if (!found) return bytes;
  std::byte chunk[4096];
  for (std::size_t n; (n = std::fread(chunk, 1, sizeof chunk, file)) > 0;)
    bytes.insert(bytes.end(), chunk, chunk + n);
  std::fclose(file);
  return bytes;
}

}  // namespace support
