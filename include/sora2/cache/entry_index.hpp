/// Finds the number of an entry by the hash of its key: open addressing, 8 bytes a slot, at most 4 of 5 slots taken.
/// Smallest use: `entry_index<> i; i.insert(hash, id); auto const id = i.find(hash, [&](std::uint32_t e) { return keys[e] == key; });`.
/// Limits: host only, not synchronised; numbers below 2^32 - 1. Hashes must be good in their low 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <sora2/cache/eviction.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/memory/growing_array.hpp>
#include <sora2/memory/memory_resource.hpp>

namespace sora2 {

template <memory_resource Resource = host_memory>
class entry_index {
 public:
  explicit entry_index(Resource resource = {}) : slots_(resource) {}

  /// The entry with this hash for which `same(number)` holds; no_entry when there is none. `same` compares keys: unlike keys
  /// may share a hash.
  template <class Same>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, Same&& same) const
  {
    if (slots_.size() == 0) return no_entry;
    auto const key = static_cast<std::uint32_t>(hash);
    for (std::size_t i = home(key);; i = next(i)) {
      slot const& s = slots_[i];
      if (s.number == no_entry) return no_entry;
      if (s.key == key && same(s.number)) return s.number;
    }
  }
  /// A number that is not there yet. False when there is no memory; nothing has changed then.
  [[nodiscard]] bool insert(std::uint64_t hash, std::uint32_t number)
  {
    if ((count_ + 1) * 5 > slots_.size() * 4 && !grow()) return false;
    put({static_cast<std::uint32_t>(hash), number});
    ++count_;
    return true;
  }
  /// A number that is there, with the hash it came with.
  void erase(std::uint64_t hash, std::uint32_t number)
  {
    std::size_t i = home(static_cast<std::uint32_t>(hash));
    while (slots_[i].number != number) {
      SORA2_EXPECTS(slots_[i].number != no_entry);
      i = next(i);
    }
    // What follows without a gap moves up where it may, so that no search ends too soon and no marks stay behind.
    for (std::size_t k = next(i); slots_[k].number != no_entry; k = next(k)) {
      std::size_t const from_home = (k - home(slots_[k].key)) & (slots_.size() - 1);
      if (from_home >= ((k - i) & (slots_.size() - 1))) {
        slots_[i] = slots_[k];
        i = k;
      }
    }
    slots_[i].number = no_entry;
    --count_;
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t overhead_bytes() const { return slots_.bytes(); }

 private:
  struct slot {
    std::uint32_t key, number;
  };

  [[nodiscard]] std::size_t home(std::uint32_t key) const { return key & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  void put(slot const& s)
  {
    std::size_t i = home(s.key);
    while (slots_[i].number != no_entry) i = next(i);
    slots_[i] = s;
  }
  [[nodiscard]] bool grow()
  {
    std::size_t const count = greatest(std::size_t{16}, slots_.size() * 2);
    growing_array<slot, Resource> more(slots_.resource());
    if (!more.reserve(count)) return false;
    for (std::size_t i = 0; i < count; ++i) static_cast<void>(more.push_back({0, no_entry}));
    slots_.swap(more);
    for (std::size_t i = 0; i < more.size(); ++i)
      if (more[i].number != no_entry) put(more[i]);
    return true;
  }

  growing_array<slot, Resource> slots_;  // a power of two of them
  std::size_t count_ = 0;
};

}  // namespace sora2
