/// How far each source had got when an entry was made: a partial order over entries of several sources.
/// Smallest use: `version_vector<> v; if (auto const s = v.set(7, 42); s != status::ok) return s;`.
/// Limits: `Capacity` sources with a version above 0. A source that is not named has version 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/status.hpp>

namespace sora2 {

/// `before`: the other knows all of it and more. `concurrent`: each knows something that the other does not.
enum class version_order : std::uint8_t { equal, before, after, concurrent };

template <std::size_t Capacity = 4>
class version_vector {
 public:
  static constexpr std::size_t capacity = Capacity;
  struct part {
    std::uint64_t version;
    std::uint32_t source;
  };

  /// Sources with a version above 0.
  [[nodiscard]] SORA2_HD constexpr std::size_t size() const { return size_; }
  /// In rising order of sources.
  [[nodiscard]] SORA2_HD constexpr part operator[](std::size_t i) const
  {
    return {versions_[i], sources_[i]};
  }
  [[nodiscard]] SORA2_HD constexpr std::uint64_t version(std::uint32_t source) const
  {
    std::size_t const i = place(source);
    return i < size_ && sources_[i] == source ? versions_[i] : 0;
  }

  /// Errors: unsupported when there is no room for one more source; nothing has changed then.
  SORA2_HD constexpr status set(std::uint32_t source, std::uint64_t version)
  {
    std::size_t const i = place(source);
    bool const known = i < size_ && sources_[i] == source;
    if (version == 0) {
      if (known) remove(i);
      return status::ok;
    }
    if (!known) {
      if (size_ == Capacity) return status::unsupported;
      for (std::size_t k = size_++; k > i; --k) {
        sources_[k] = sources_[k - 1];
        versions_[k] = versions_[k - 1];
      }
      sources_[i] = source;
    }
    versions_[i] = version;
    return status::ok;
  }

  /// The least vector that knows all that either knows. Errors: unsupported when it has too many sources; nothing has
  /// changed then.
  SORA2_HD constexpr status merge(version_vector const& other)
  {
    version_vector all = *this;
    for (std::size_t i = 0; i < other.size_; ++i) {
      auto const version = greatest(all.version(other.sources_[i]), other.versions_[i]);
      if (auto const s = all.set(other.sources_[i], version); s != status::ok) return s;
    }
    *this = all;
    return status::ok;
  }

  [[nodiscard]] SORA2_HD constexpr version_order compare(version_vector const& other) const
  {
    bool const less = has_older_than(other), more = other.has_older_than(*this);
    if (less) return more ? version_order::concurrent : version_order::before;
    return more ? version_order::after : version_order::equal;
  }
  [[nodiscard]] SORA2_HD friend constexpr bool operator==(version_vector const& a,
                                                          version_vector const& b)
  {
    return a.compare(b) == version_order::equal;
  }

 private:
  [[nodiscard]] SORA2_HD constexpr std::size_t place(std::uint32_t source) const
  {
    std::size_t i = 0;
    while (i < size_ && sources_[i] < source) ++i;
    return i;
  }
  SORA2_HD constexpr void remove(std::size_t i)
  {
    for (--size_; i < size_; ++i) {
      sources_[i] = sources_[i + 1];
      versions_[i] = versions_[i + 1];
    }
  }
  [[nodiscard]] SORA2_HD constexpr bool has_older_than(version_vector const& other) const
  {
    for (std::size_t i = 0; i < other.size_; ++i)
      if (version(other.sources_[i]) < other.versions_[i]) return true;
    return false;
  }

  std::uint64_t versions_[Capacity] = {};
  std::uint32_t sources_[Capacity] = {};
  std::uint32_t size_ = 0;
};

}  // namespace sora2
