/// Which entry goes when room is needed. Policies know entries by small numbers, and hold no entries themselves.
/// Smallest use: `s3_fifo<> e; e.insert(id, hash_of_key, bytes); e.touch(id); std::uint32_t const goes = e.victim();`.
/// Limits: host only, not synchronised. Entries below 4 GiB, numbers below 2^32 - 1 and as dense as can be: there is a node
/// for each up to the greatest.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/memory/growing_array.hpp>
#include <sora2/memory/memory_resource.hpp>

namespace sora2 {

inline constexpr std::uint32_t no_entry = UINT32_MAX;

/// - insert(id, hash, bytes): a new entry; `hash` is that of its key, `bytes` what its eviction frees; false: no memory
/// - touch(id): it was read · erase(id): it is gone · evict(id, hash): it went for lack of room
/// - victim(): the entry that should go next, which stays known until it does; no_entry when there is none
/// - bytes(): the sum over all entries · overhead_bytes(): what the policy holds of its resource
template <class P>
concept eviction_policy =
    requires(P p, P const& c, std::uint32_t id, std::uint64_t hash, std::size_t bytes) {
      {
        p.insert(id, hash, bytes)
      } -> std::same_as<bool>;
      p.touch(id);
      p.erase(id);
      p.evict(id, hash);
      {
        p.victim()
      } -> std::same_as<std::uint32_t>;
      {
        c.bytes()
      } -> std::same_as<std::size_t>;
      {
        c.overhead_bytes()
      } -> std::same_as<std::size_t>;
    };

namespace detail {

/// Doubly linked queues over one array of nodes. An entry is in one of them or in none.
template <memory_resource Resource>
class entry_queues {
 public:
  struct node {
    std::uint32_t before = no_entry, after = no_entry;
    std::uint32_t bytes = 0;
    std::uint8_t queue = 0;  ///< 0: in none
    std::uint8_t touches = 0;
  };
  struct queue {
    std::uint32_t first = no_entry, last = no_entry;
    std::size_t count = 0, bytes = 0;
  };

  explicit entry_queues(Resource resource) : nodes_(std::move(resource)) {}

  [[nodiscard]] bool make_room_for(std::uint32_t id)
  {
    while (nodes_.size() <= id)
      if (!nodes_.push_back({})) return false;
    return true;
  }
  [[nodiscard]] node& operator[](std::uint32_t id) { return nodes_[id]; }
  [[nodiscard]] node const& operator[](std::uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] bool knows(std::uint32_t id) const
  {
    return id < nodes_.size() && nodes_[id].queue != 0;
  }

  /// At the front; the last of a queue is the oldest.
  void push(queue& q, std::uint8_t number, std::uint32_t id)
  {
    node& n = nodes_[id];
    n.queue = number;
    n.before = no_entry;
    n.after = q.first;
    (q.first != no_entry ? nodes_[q.first].before : q.last) = id;
    q.first = id;
    ++q.count;
    q.bytes += n.bytes;
  }
  void remove(queue& q, std::uint32_t id)
  {
    node& n = nodes_[id];
    (n.before != no_entry ? nodes_[n.before].after : q.first) = n.after;
    (n.after != no_entry ? nodes_[n.after].before : q.last) = n.before;
    n.queue = 0;
    --q.count;
    q.bytes -= n.bytes;
  }
  [[nodiscard]] std::size_t overhead_bytes() const { return nodes_.bytes(); }

 private:
  growing_array<node, Resource> nodes_;
};

/// Keys that left not long ago, by 32 bits of their hash: some thousand of a million are mistaken, none is kept for ever.
template <memory_resource Resource>
class ghost_keys {
 public:
  explicit ghost_keys(Resource resource) : slots_(std::move(resource)) {}

  /// Remembers the key until `window` more came after it, at least while there is memory.
  void add(std::uint64_t hash, std::size_t window)
  {
    std::size_t wanted = 64;
    while (wanted < window) wanted *= 2;
    if (wanted > slots_.size() && !grow(wanted) && slots_.size() == 0) return;
    window_ = static_cast<std::uint32_t>(least(window, slots_.size()));
    slots_[place(hash)] = {static_cast<std::uint32_t>(hash), ++now_};
  }
  /// True, once, for a key that was added.
  [[nodiscard]] bool take(std::uint64_t hash)
  {
    if (slots_.size() == 0) return false;
    slot& s = slots_[place(hash)];
    bool const found =
        s.when != 0 && s.key == static_cast<std::uint32_t>(hash) && now_ - s.when < window_;
    if (found) s.when = 0;
    return found;
  }
  [[nodiscard]] std::size_t overhead_bytes() const { return slots_.bytes(); }

 private:
  struct slot {
    std::uint32_t key, when;  ///< `when` 0: empty
  };
  [[nodiscard]] std::size_t place(std::uint64_t hash) const
  {
    return static_cast<std::size_t>(hash >> 32) & (slots_.size() - 1);
  }
  /// What was remembered is forgotten: it is little, and growth is rare.
  [[nodiscard]] bool grow(std::size_t count)
  {
    if (!slots_.reserve(count)) return false;
    while (slots_.size() < count)
      if (!slots_.push_back({0, 0})) return false;
    for (std::size_t i = 0; i < count; ++i) slots_[i] = {0, 0};
    now_ = 0;
    return true;
  }

  growing_array<slot, Resource> slots_;
  std::uint32_t now_ = 0, window_ = 0;
};

}  // namespace detail

/// The entry whose last use is the longest ago.
template <memory_resource Resource = host_memory>
class lru {
 public:
  explicit lru(Resource resource = {}) : nodes_(std::move(resource)) {}

  [[nodiscard]] bool insert(std::uint32_t id, std::uint64_t, std::size_t bytes)
  {
    SORA2_EXPECTS(!nodes_.knows(id));
    if (!nodes_.make_room_for(id)) return false;
    nodes_[id] = {.bytes = static_cast<std::uint32_t>(bytes)};
    nodes_.push(all_, 1, id);
    return true;
  }
  void touch(std::uint32_t id)
  {
    nodes_.remove(all_, id);
    nodes_.push(all_, 1, id);
  }
  void erase(std::uint32_t id) { nodes_.remove(all_, id); }
  void evict(std::uint32_t id, std::uint64_t) { erase(id); }
  [[nodiscard]] std::uint32_t victim() const { return all_.last; }
  [[nodiscard]] std::size_t bytes() const { return all_.bytes; }
  [[nodiscard]] std::size_t overhead_bytes() const { return nodes_.overhead_bytes(); }

 private:
  detail::entry_queues<Resource> nodes_;
  typename detail::entry_queues<Resource>::queue all_;
};

/// S3-FIFO (Yang et al., SOSP 2023): new entries pass through a small queue, and only those that are read again there, or
/// come back soon after they left, reach the large one. A read costs a counter, no list is touched.
template <memory_resource Resource = host_memory, int SmallPercent = 10>
class s3_fifo {
  static_assert(SmallPercent > 0 && SmallPercent < 100);

 public:
  explicit s3_fifo(Resource resource = {}) : nodes_(resource), ghosts_(resource) {}

  [[nodiscard]] bool insert(std::uint32_t id, std::uint64_t hash, std::size_t bytes)
  {
    SORA2_EXPECTS(!nodes_.knows(id));
    if (!nodes_.make_room_for(id)) return false;
    nodes_[id] = {.bytes = static_cast<std::uint32_t>(bytes)};
    if (ghosts_.take(hash))
      nodes_.push(main_, in_main, id);
    else
      nodes_.push(small_, in_small, id);
    return true;
  }
  void touch(std::uint32_t id)
  {
    auto& touches = nodes_[id].touches;
    if (touches < 3) ++touches;
  }
  void erase(std::uint32_t id) { nodes_.remove(nodes_[id].queue == in_small ? small_ : main_, id); }
  void evict(std::uint32_t id, std::uint64_t hash)
  {
    if (nodes_[id].queue == in_small) ghosts_.add(hash, main_.count + small_.count);
    erase(id);
  }
  [[nodiscard]] std::uint32_t victim()
  {
    for (;;) {
      bool const from_small =
          small_.count != 0 && (main_.count == 0 || small_.bytes * 100 >= bytes() * SmallPercent);
      auto& q = from_small ? small_ : main_;
      std::uint32_t const id = q.last;
      if (id == no_entry) return id;
      auto& n = nodes_[id];
      if (from_small && n.touches > 1) {
        n.touches = 0;
        nodes_.remove(small_, id);
        nodes_.push(main_, in_main, id);
      } else if (!from_small && n.touches > 0) {
        --n.touches;
        nodes_.remove(main_, id);
        nodes_.push(main_, in_main, id);
      } else
        return id;
    }
  }
  [[nodiscard]] std::size_t bytes() const { return small_.bytes + main_.bytes; }
  [[nodiscard]] std::size_t overhead_bytes() const
  {
    return nodes_.overhead_bytes() + ghosts_.overhead_bytes();
  }

 private:
  static constexpr std::uint8_t in_small = 1, in_main = 2;

  detail::entry_queues<Resource> nodes_;
  detail::ghost_keys<Resource> ghosts_;
  typename detail::entry_queues<Resource>::queue small_, main_;
};

static_assert(eviction_policy<lru<>> && eviction_policy<s3_fifo<>>);

}  // namespace sora2
