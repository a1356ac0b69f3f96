/// Room for blocks of unlike sizes: slabs of one size, each cut into equal slots; sparse slabs can be emptied and given back.
/// Smallest use: `page_pool<> pool; auto const at = pool.allocate(bytes, owner); if (!at) return at.error();`.
/// Limits: blocks below 4 GiB; those above 1/16 of a slab have memory of their own. Not synchronised: who shares a pool
/// locks it. From 1 KiB on a slot is at most 1/12 larger than its block, 1/24 on average.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/status.hpp>
#include <sora2/core/view.hpp>
#include <sora2/memory/growing_array.hpp>
#include <sora2/memory/memory_resource.hpp>

namespace sora2 {

struct page_pool_config {
  std::size_t slab_bytes = std::size_t{1} << 18;  ///< a power of two, 4 KiB to 1 GiB
};

/// Names a block in its pool; all bits set names none.
struct page_ref {
  std::uint32_t slab = UINT32_MAX;
  std::uint32_t slot = UINT32_MAX;

  [[nodiscard]] constexpr bool empty() const { return slab == UINT32_MAX; }
  [[nodiscard]] friend constexpr bool operator==(page_ref, page_ref) = default;
};

/// Where the memory of a pool is. `blocks` + `slack` + `overhead` is what the resource gave out.
struct page_pool_use {
  std::size_t blocks = 0;         ///< bytes asked for by blocks that are there now
  std::size_t slack = 0;          ///< empty slots, and what slots are larger than their blocks
  std::size_t overhead = 0;       ///< owners, lengths and tables
  std::size_t count = 0;          ///< blocks
  std::size_t peak_blocks = 0;    ///< the most that `blocks` ever was
  std::size_t peak_reserved = 0;  ///< the most that the pool ever held of the resource

  [[nodiscard]] constexpr std::size_t reserved() const { return blocks + slack + overhead; }
};

template <memory_resource Resource = host_memory, page_pool_config Config = page_pool_config{}>
class page_pool {
  static_assert(Config.slab_bytes >= 4096 && Config.slab_bytes <= std::size_t{1} << 30 &&
                    (Config.slab_bytes & (Config.slab_bytes - 1)) == 0,
                "sora2: slabs of a page pool have a power of two of bytes, 4 KiB to 1 GiB");
  static_assert(Resource::host_accessible);

 public:
  static constexpr page_pool_config config = Config;
  static constexpr std::size_t alignment = 16;  ///< of every block

  explicit page_pool(Resource resource = {}) : slabs_(std::move(resource))
  {
    for (auto& first : partial_) first = none;
  }
  page_pool(page_pool const&) = delete;
  page_pool& operator=(page_pool const&) = delete;
  ~page_pool()
  {
    for (std::uint32_t i = 0; i < slabs_.size(); ++i)
      if (slabs_[i].data != nullptr) release(i);
    give_back_spare();
  }

  /// Room for a block; `owner` is the caller's name for it, given back by `owner` and by `drain`.
  /// Errors: input_too_large, out_of_memory; nothing has changed then.
  [[nodiscard]] result<page_ref> allocate(std::size_t bytes, std::uint32_t owner)
  {
    if (bytes > UINT32_MAX) return status::input_too_large;
    std::uint32_t const c = class_of(bytes);
    std::uint32_t i = c == own ? none : partial_[c];
    if (i == none) {
      i = new_slab(c, bytes);
      if (i == none) return status::out_of_memory;
    }
    slab& s = slabs_[i];
    std::uint32_t const slot = s.free;
    s.free = notes(s)[slot].owner;
    notes(s)[slot] = {owner, static_cast<std::uint32_t>(bytes)};
    if (++s.used == s.slots) unlink(i);
    use_.blocks += bytes;
    use_.slack -= bytes;
    ++use_.count;
    use_.peak_blocks = greatest(use_.peak_blocks, use_.blocks);
    return page_ref{i, slot};
  }
  void free(page_ref at)
  {
    SORA2_EXPECTS(holds(at));
    slab& s = slabs_[at.slab];
    note& n = notes(s)[at.slot];
    use_.blocks -= n.bytes;
    use_.slack += n.bytes;
    --use_.count;
    n = {s.free, unused};
    s.free = at.slot;
    bool const was_full = s.used == s.slots;
    if (--s.used == 0) {
      if (!was_full && !s.draining) unlink(at.slab);
      release(at.slab);
    } else if (was_full && !s.draining)
      link(at.slab);
  }

  /// The bytes of a block. They move in `drain` only.
  [[nodiscard]] view<std::byte> block(page_ref at) const
  {
    SORA2_EXPECTS(holds(at));
    slab const& s = slabs_[at.slab];
    return {s.data + std::size_t{at.slot} * s.slot_bytes, notes(s)[at.slot].bytes};
  }
  [[nodiscard]] std::uint32_t owner(page_ref at) const
  {
    SORA2_EXPECTS(holds(at));
    return notes(slabs_[at.slab])[at.slot].owner;
  }
  /// True when a block lies there.
  [[nodiscard]] bool holds(page_ref at) const
  {
    return at.slab < slabs_.size() && slabs_[at.slab].data != nullptr &&
           at.slot < slabs_[at.slab].slots && notes(slabs_[at.slab])[at.slot].bytes != unused;
  }
  [[nodiscard]] page_pool_use use() const
  {
    page_pool_use u = use_;
    u.overhead += slabs_.bytes();
    u.peak_reserved = greatest(u.peak_reserved, u.reserved());
    return u;
  }

  /// Empties slabs whose blocks fit into the empty slots of others, and gives them back. `move(owner, from, to)` is
  /// called for each block after its bytes were copied; it returns whether the owner took the new place (not while a reader
  /// holds the old one): where it did not, the block stays. Gives the bytes that went back to the resource. `move` must
  /// not call the pool.
  template <class Move>
  std::size_t drain(Move&& move)
  {
    std::size_t const before = use().reserved();
    give_back_spare();
    for (std::uint32_t c = 0; c < classes; ++c) {
      std::uint32_t aside = none;  // slabs that could not be emptied
      for (std::uint32_t i; (i = sparsest(c)) != none;) {
        unlink(i);
        slabs_[i].draining = true;
        if (empty(i, move)) continue;
        slabs_[i].after = aside;
        aside = i;
      }
      while (aside != none) {
        std::uint32_t const next = slabs_[aside].after;
        slabs_[aside].draining = false;
        link(aside);
        aside = next;
      }
      give_back_spare();
    }
    return before - use().reserved();
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t unused = UINT32_MAX;  ///< length of an empty slot
  static constexpr std::uint32_t own = UINT32_MAX;     ///< class of blocks with memory of their own

  /// Owner and length of a slot's block; the next empty slot and `unused` when it has none.
  struct note {
    std::uint32_t owner, bytes;
  };
  struct slab {
    std::byte* data;
    std::size_t slot_bytes;
    std::uint32_t slots, used, free;
    std::uint32_t size_class, before, after;  ///< neighbours among the slabs with room of the class
    bool draining;
  };

  // Slots of a slab: 16 to 31 in steps of 1, then 32 to 62 in steps of 2, and so on.
  static constexpr std::uint32_t steps = 16;
  static constexpr std::uint32_t classes =
      steps * static_cast<std::uint32_t>(bit_width(Config.slab_bytes / 64 / steps));

  [[nodiscard]] static constexpr std::uint32_t slots_of(std::uint32_t c)
  {
    return (steps + c % steps) << (c / steps);
  }
  [[nodiscard]] static constexpr std::size_t slot_bytes_of(std::uint32_t c)
  {
    return (Config.slab_bytes / slots_of(c) - sizeof(note)) / alignment * alignment;
  }
  /// The class with the smallest slots that hold so many bytes.
  [[nodiscard]] static constexpr std::uint32_t class_of(std::size_t bytes)
  {
    if (bytes > slot_bytes_of(0)) return own;
    auto const room = round_up(greatest(bytes, std::size_t{1}), alignment) + sizeof(note);
    std::uint32_t const slots =
        least(static_cast<std::uint32_t>(Config.slab_bytes / room), slots_of(classes - 1));
    auto const octave = static_cast<std::uint32_t>(bit_width(slots)) - 5;
    return octave * steps + (slots >> octave) - steps;
  }

  [[nodiscard]] static note* notes(slab const& s)
  {
    return reinterpret_cast<note*>(s.data + s.slot_bytes * s.slots);
  }
  [[nodiscard]] static std::size_t bytes_of(slab const& s)
  {
    return s.size_class == own ? s.slot_bytes + sizeof(note) : Config.slab_bytes;
  }

  [[nodiscard]] std::uint32_t new_slab(std::uint32_t c, std::size_t bytes)
  {
    slab s{};
    s.size_class = c;
    s.slots = c == own ? 1 : slots_of(c);
    s.slot_bytes = c == own ? round_up(bytes, alignment) : slot_bytes_of(c);
    std::uint32_t i = vacant_;
    if (i == none) {
      i = static_cast<std::uint32_t>(slabs_.size());
      if (i == none || !slabs_.push_back({})) return none;
      slabs_[i].data = nullptr;
      slabs_[i].after = none;
      vacant_ = i;
    }
    s.data = memory_for(s);
    if (s.data == nullptr) return none;
    vacant_ = slabs_[i].after;
    for (std::uint32_t k = 0; k < s.slots; ++k) notes(s)[k] = {k + 1, unused};
    slabs_[i] = s;
    link(i);
    use_.slack += s.slot_bytes * s.slots;
    use_.overhead += bytes_of(s) - s.slot_bytes * s.slots;
    use_.peak_reserved = greatest(use_.peak_reserved, use().reserved());
    return i;
  }
  /// One empty slab is kept: a pool at the edge of a slab would ask for it and give it back over and over.
  [[nodiscard]] std::byte* memory_for(slab const& s)
  {
    if (s.size_class != own && spare_ != nullptr) {
      use_.slack -= Config.slab_bytes;
      return std::exchange(spare_, nullptr);
    }
    void* p = slabs_.resource().allocate(bytes_of(s), alignment);
    if (p == nullptr && spare_ != nullptr) {
      give_back_spare();
      p = slabs_.resource().allocate(bytes_of(s), alignment);
    }
    return static_cast<std::byte*>(p);
  }
  void give_back_spare()
  {
    if (spare_ == nullptr) return;
    use_.slack -= Config.slab_bytes;
    slabs_.resource().deallocate(std::exchange(spare_, nullptr), Config.slab_bytes, alignment);
  }
  void release(std::uint32_t i)
  {
    slab& s = slabs_[i];
    use_.slack -= s.slot_bytes * s.slots;
    use_.overhead -= bytes_of(s) - s.slot_bytes * s.slots;
    if (s.size_class != own && spare_ == nullptr) {
      spare_ = s.data;
      use_.slack += Config.slab_bytes;
    } else
      slabs_.resource().deallocate(s.data, bytes_of(s), alignment);
    s.data = nullptr;
    s.after = vacant_;
    vacant_ = i;
  }

  void link(std::uint32_t i)
  {
    slab& s = slabs_[i];
    s.before = none;
    s.after = none;
    if (s.size_class == own) return;
    s.after = partial_[s.size_class];
    if (s.after != none) slabs_[s.after].before = i;
    partial_[s.size_class] = i;
  }
  void unlink(std::uint32_t i)
  {
    slab const& s = slabs_[i];
    if (s.size_class == own) return;
    if (s.before != none)
      slabs_[s.before].after = s.after;
    else
      partial_[s.size_class] = s.after;
    if (s.after != none) slabs_[s.after].before = s.before;
  }

  /// The slab of class c with the fewest blocks, when they fit into the others.
  [[nodiscard]] std::uint32_t sparsest(std::uint32_t c) const
  {
    std::uint32_t found = none;
    std::size_t room = 0;
    for (std::uint32_t i = partial_[c]; i != none; i = slabs_[i].after) {
      room += slabs_[i].slots - slabs_[i].used;
      if (found == none || slabs_[i].used < slabs_[found].used) found = i;
    }
    return found != none && room >= slabs_[found].slots ? found : none;
  }
  /// Moves all blocks of a slab elsewhere. False when one stayed.
  template <class Move>
  bool empty(std::uint32_t i, Move& move)
  {
    std::uint32_t left = slabs_[i].used;
    bool all = true;
    for (std::uint32_t slot = 0; left != 0; ++slot) {
      page_ref const from{i, slot};
      if (!holds(from)) continue;
      --left;
      view<std::byte> const bytes = block(from);
      auto const to = allocate(bytes.size, owner(from));
      if (!to) return false;
      std::memcpy(block(*to).data, bytes.data, bytes.size);
      bool const moved = move(owner(from), from, *to);
      free(moved ? from : *to);
      all = all && moved;
    }
    return all;
  }

  growing_array<slab, Resource> slabs_;
  std::uint32_t partial_[classes];
  std::uint32_t vacant_ = none;  ///< first of the entries of slabs_ that name none
  std::byte* spare_ = nullptr;
  page_pool_use use_;
};

}  // namespace sora2
