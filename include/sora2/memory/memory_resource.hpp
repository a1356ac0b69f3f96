/// Where memory comes from: a resource allocates and takes back; owners such as `buffer` take one as policy.
/// Smallest use: `host_memory r; void* p = r.allocate(1000, 64); r.deallocate(p, 1000, 64);`.
/// Limits: alignments are powers of two. No bytes have no address: allocate(0, a) is nullptr and no failure; for more,
/// nullptr says that there is no room.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>

namespace sora2 {

/// Resources compare equal when each can take back what the other gave. The shape is that of `cuda::mr`, without streams.
template <class R>
concept memory_resource =
    std::copyable<R> && std::equality_comparable<R> && requires(R r, void* p, std::size_t n) {
      {
        r.allocate(n, n)
      } -> std::same_as<void*>;
      {
        r.deallocate(p, n, n)
      };
      {
        R::host_accessible
      } -> std::convertible_to<bool>;
      {
        R::device_accessible
      } -> std::convertible_to<bool>;
    };

/// The host's heap. Safe from any thread.
struct host_memory {
  static constexpr bool host_accessible = true;
  static constexpr bool device_accessible = false;

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const noexcept
  {
    if (bytes == 0 || bytes > most || !is_power_of_two(alignment)) return nullptr;
    return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
  }
  void deallocate(void* p, std::size_t, std::size_t alignment) const noexcept
  {
    if (p != nullptr) ::operator delete(p, std::align_val_t{alignment});
  }
  [[nodiscard]] friend constexpr bool operator==(host_memory, host_memory) { return true; }

 private:
  static constexpr std::size_t most = PTRDIFF_MAX - 65536;  // rounding up must not wrap
  static constexpr bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }
};

static_assert(memory_resource<host_memory>);

}  // namespace sora2
