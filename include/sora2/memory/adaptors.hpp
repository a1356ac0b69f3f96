/// Resources around another resource: one that counts, one that keeps to a limit, one that fails when told to.
/// Smallest use: `memory_counters c; buffer<counting_memory<>> b = *buffer<counting_memory<>>::make(100, 64, counting_memory<>(c));`.
/// Limits: what is counted lies outside, is shared by all copies of an adaptor, and must outlive them; without it they
/// hand on every call. Safe from any thread where the resource inside is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sora2/core/macros.hpp>
#include <sora2/memory/memory_resource.hpp>

namespace sora2 {

/// What a counting_memory saw. Bytes are those asked for, without what the resource adds to them.
class memory_counters {
 public:
  /// Bytes that are out now, and the most that ever were.
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t peak_bytes() const { return peak_.load(std::memory_order_relaxed); }
  /// Pieces that are out now.
  [[nodiscard]] std::size_t pieces() const { return pieces_.load(std::memory_order_relaxed); }
  /// Since the beginning.
  [[nodiscard]] std::uint64_t allocations() const { return all_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

  void allocated(std::size_t bytes)
  {
    std::size_t const now = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {}
    pieces_.fetch_add(1, std::memory_order_relaxed);
    all_.fetch_add(1, std::memory_order_relaxed);
  }
  void deallocated(std::size_t bytes)
  {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    pieces_.fetch_sub(1, std::memory_order_relaxed);
  }
  void failed() { failures_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> bytes_{0}, peak_{0}, pieces_{0};
  std::atomic<std::uint64_t> all_{0}, failures_{0};
};

/// A number of bytes that several resources share.
class memory_limit {
 public:
  explicit memory_limit(std::size_t most_bytes) : most_(most_bytes) {}
  [[nodiscard]] std::size_t most_bytes() const { return most_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  /// False when it would be more than allowed.
  [[nodiscard]] bool take(std::size_t bytes)
  {
    std::size_t now = bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > most_ - now) return false;
    } while (!bytes_.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::size_t most_;
  std::atomic<std::size_t> bytes_{0};
};

/// When a failing_memory fails: from the allocation of that number on, counted from 0, for as many as given.
class failure_plan {
 public:
  explicit failure_plan(std::uint64_t first, std::uint64_t count = UINT64_MAX)
      : first_(first), count_(count)
  {}
  /// True for the next allocation when it shall fail.
  [[nodiscard]] bool next()
  {
    std::uint64_t const n = seen_.fetch_add(1, std::memory_order_relaxed);
    return n >= first_ && n - first_ < count_;
  }
  [[nodiscard]] std::uint64_t seen() const { return seen_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t first_, count_;
  std::atomic<std::uint64_t> seen_{0};
};

namespace detail {

/// What the adaptors share: the resource inside and where the state lies.
template <memory_resource Base, class State>
class memory_adaptor {
 public:
  static constexpr bool host_accessible = Base::host_accessible;
  static constexpr bool device_accessible = Base::device_accessible;

  memory_adaptor() = default;
  explicit memory_adaptor(State& state, Base base = {}) : base_(std::move(base)), state_(&state) {}
  [[nodiscard]] Base const& base() const { return base_; }
  [[nodiscard]] friend bool operator==(memory_adaptor const& a, memory_adaptor const& b)
  {
    return a.base_ == b.base_ && a.state_ == b.state_;
  }

 protected:
  Base base_{};
  State* state_ = nullptr;
};

}  // namespace detail

template <memory_resource Base = host_memory>
class counting_memory : public detail::memory_adaptor<Base, memory_counters> {
 public:
  using detail::memory_adaptor<Base, memory_counters>::memory_adaptor;

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment)
  {
    void* const p = this->base_.allocate(bytes, alignment);
    if (this->state_ != nullptr && bytes != 0) {
      if (p != nullptr)
        this->state_->allocated(bytes);
      else
        this->state_->failed();
    }
    return p;
  }
  void deallocate(void* p, std::size_t bytes, std::size_t alignment)
  {
    if (this->state_ != nullptr && p != nullptr) this->state_->deallocated(bytes);
    this->base_.deallocate(p, bytes, alignment);
  }
};

template <memory_resource Base = host_memory>
class limiting_memory : public detail::memory_adaptor<Base, memory_limit> {
 public:
  using detail::memory_adaptor<Base, memory_limit>::memory_adaptor;

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment)
  {
    if (this->state_ != nullptr && !this->state_->take(bytes)) return nullptr;
    void* const p = this->base_.allocate(bytes, alignment);
    if (p == nullptr && this->state_ != nullptr) this->state_->give_back(bytes);
    return p;
  }
  void deallocate(void* p, std::size_t bytes, std::size_t alignment)
  {
    if (this->state_ != nullptr && p != nullptr) this->state_->give_back(bytes);
    this->base_.deallocate(p, bytes, alignment);
  }
};

template <memory_resource Base = host_memory>
class failing_memory : public detail::memory_adaptor<Base, failure_plan> {
 public:
  using detail::memory_adaptor<Base, failure_plan>::memory_adaptor;

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment)
  {
    if (this->state_ != nullptr && bytes != 0 && this->state_->next()) return nullptr;
    return this->base_.allocate(bytes, alignment);
  }
  void deallocate(void* p, std::size_t bytes, std::size_t alignment)
  {
    this->base_.deallocate(p, bytes, alignment);
  }
};

static_assert(memory_resource<counting_memory<>> && memory_resource<limiting_memory<>> &&
              memory_resource<failing_memory<counting_memory<>>>);

}  // namespace sora2
