/// What a cache asks of the place where entries outlive it: bytes under keys, one writer's order, a durable flush.
/// Smallest use: `template <store_policy Store> class my_cache;`, with `no_store` where nothing shall outlive the process.
/// Limits: host only. Every call is safe from any thread.
#pragma once

#include <concepts>
#include <cstddef>

#include <sora2/core/macros.hpp>
#include <sora2/core/status.hpp>
#include <sora2/core/view.hpp>

namespace sora2 {

/// - put(key, bytes): takes a copy, which reads see at once and the medium some time later; may wait while too much is on
///   its way. What is refused changes nothing. Errors: input_too_large (key or bytes), out_of_memory (no room: memory,
///   disk or map), io_failure
/// - erase(key): the same way; a full medium does not refuse it. ok when there was nothing
/// - read(key, take): calls take(bytes) once where the key is there; they are good during the call. Errors: not_found,
///   checksum_mismatch and corrupt_input (found damaged; take was not called), io_failure
/// - flush(): waits until all that was accepted before is durable. An error when some of it is not, and never will be
/// An accepted put or erase hides what was there before even if it fails later: reads then find nothing. What was not
/// flushed may be gone after a restart, and what it replaced may be back.
template <class S>
concept store_policy =
    requires(S s, view<std::byte const> bytes, void (*take)(view<std::byte const>)) {
      {
        s.put(bytes, bytes)
      } -> std::same_as<status>;
      {
        s.erase(bytes)
      } -> std::same_as<status>;
      {
        s.read(bytes, take)
      } -> std::same_as<status>;
      {
        s.flush()
      } -> std::same_as<status>;
    };

/// Keeps nothing: what a cache evicts is gone, and nothing is promised to survive.
struct no_store {
  [[nodiscard]] status put(view<std::byte const>, view<std::byte const>) const
  {
    return status::unsupported;
  }
  [[nodiscard]] status erase(view<std::byte const>) const { return status::ok; }
  template <class Take>
  [[nodiscard]] status read(view<std::byte const>, Take&&) const
  {
    return status::not_found;
  }
  [[nodiscard]] status flush() const { return status::ok; }
};

static_assert(store_policy<no_store>);

}  // namespace sora2
