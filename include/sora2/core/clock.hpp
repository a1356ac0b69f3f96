/// Where time comes from: nanoseconds since the epoch, as whatever a cache is composed with tells it.
/// Smallest use: `never_back<wall_clock> clock; auto const now = clock.now_ns();`.
/// Limits: host only. All clocks here are safe from any thread.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <ctime>

namespace sora2 {

template <class C>
concept clock_source = requires(C const& c) {
  {
    c.now_ns()
  } -> std::same_as<std::int64_t>;
};

/// The system's clock. It may jump, also back.
struct wall_clock {
  [[nodiscard]] std::int64_t now_ns() const
  {
    std::timespec t{};
    std::timespec_get(&t, TIME_UTC);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  }
};

/// Shows what it is set to: for tests, replays, and programs with a time of their own.
class manual_clock {
 public:
  explicit manual_clock(std::int64_t start_ns = 0) : now_(start_ns) {}
  [[nodiscard]] std::int64_t now_ns() const { return now_.load(std::memory_order_relaxed); }
  void set(std::int64_t now_ns) { now_.store(now_ns, std::memory_order_relaxed); }
  void advance(std::int64_t ns) { now_.fetch_add(ns, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> now_;
};

/// Another clock's time, but never less than it has shown before: what was old once stays old when that clock jumps back.
template <clock_source Base>
class never_back {
 public:
  template <class... Args>
    requires std::constructible_from<Base, Args...>
  explicit never_back(Args&&... args) : base_(static_cast<Args&&>(args)...)
  {}

  [[nodiscard]] std::int64_t now_ns() const
  {
    std::int64_t const now = base_.now_ns();
    std::int64_t last = last_.load(std::memory_order_relaxed);
    while (last < now && !last_.compare_exchange_weak(last, now, std::memory_order_relaxed)) {}
    return last < now ? now : last;
  }
  [[nodiscard]] Base& base() { return base_; }

 private:
  Base base_;
  mutable std::atomic<std::int64_t> last_{INT64_MIN};
};

static_assert(clock_source<wall_clock> && clock_source<manual_clock>);

}  // namespace sora2
