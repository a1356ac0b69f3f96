/// Bytes with one owner, from any memory resource.
/// Smallest use: `auto room = buffer<>::make(block_bound<lz4<>>(n)); if (!room) return room.error();`.
/// Limits: move-only, never grows, contents start unset. Views of it die with it, and survive a move.
#pragma once

#include <cstddef>
#include <utility>

#include <sora2/core/macros.hpp>
#include <sora2/core/result.hpp>
#include <sora2/core/status.hpp>
#include <sora2/core/view.hpp>
#include <sora2/memory/memory_resource.hpp>

namespace sora2 {

template <memory_resource Resource = host_memory>
class buffer {
 public:
  static constexpr std::size_t default_alignment = 64;

  buffer() = default;
#if defined(__cpp_exceptions)
  /// Throws `sora2::error` (out_of_memory); `make` reports it instead.
  explicit buffer(std::size_t bytes, std::size_t alignment = default_alignment,
                  Resource resource = {})
  {
    auto made = make(bytes, alignment, std::move(resource));
    if (!made) throw error{made.error()};
    swap(*made);
  }
#endif
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept
  {
    buffer gone(std::move(other));
    swap(gone);
    return *this;
  }
  ~buffer() { resource_.deallocate(data_, size_, alignment_); }

  /// `alignment` is a power of two. No bytes are no failure.
  [[nodiscard]] static result<buffer>
  make(std::size_t bytes, std::size_t alignment = default_alignment, Resource resource = {})
  {
    buffer b;
    b.resource_ = std::move(resource);
    b.data_ = static_cast<std::byte*>(b.resource_.allocate(bytes, alignment));
    if (b.data_ == nullptr && bytes != 0) return status::out_of_memory;
    b.size_ = bytes;
    b.alignment_ = alignment;
    return b;
  }

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] std::byte const* data() const { return data_; }
  /// Bytes.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t alignment() const { return alignment_; }
  [[nodiscard]] Resource const& resource() const { return resource_; }

  void swap(buffer& other) noexcept
  {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(alignment_, other.alignment_);
    std::swap(resource_, other.resource_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t alignment_ = default_alignment;
  Resource resource_{};
};

}  // namespace sora2
