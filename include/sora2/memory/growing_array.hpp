/// An array that grows, in memory of a resource: unlike std::vector it reports that there is no room, and what it takes is
/// seen where all memory is counted.
/// Smallest use: `growing_array<int> a; if (!a.push_back(7)) return status::out_of_memory;`.
/// Limits: trivially copyable elements; references die when it grows. Not synchronised.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <sora2/core/bits.hpp>
#include <sora2/memory/memory_resource.hpp>

namespace sora2 {

template <class T, memory_resource Resource = host_memory>
class growing_array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit growing_array(Resource resource = {}) : resource_(std::move(resource)) {}
  growing_array(growing_array const&) = delete;
  growing_array& operator=(growing_array const&) = delete;
  ~growing_array() { resource_.deallocate(data_, bytes(), alignof(T)); }

  /// False when there is no room; nothing has changed then.
  [[nodiscard]] bool push_back(T const& x)
  {
    if (size_ == capacity_ && !reserve(greatest<std::size_t>(8, capacity_ + capacity_ / 2)))
      return false;
    data_[size_++] = x;
    return true;
  }
  [[nodiscard]] bool reserve(std::size_t capacity)
  {
    if (capacity <= capacity_) return true;
    auto* const more = static_cast<T*>(resource_.allocate(capacity * sizeof(T), alignof(T)));
    if (more == nullptr) return false;
    if (size_ != 0) std::memcpy(more, data_, size_ * sizeof(T));
    resource_.deallocate(data_, bytes(), alignof(T));
    data_ = more;
    capacity_ = capacity;
    return true;
  }
  void pop_back() { --size_; }
  /// The resources, too.
  void swap(growing_array& other) noexcept
  {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(resource_, other.resource_);
  }

  [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] T const& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// What it holds of the resource.
  [[nodiscard]] std::size_t bytes() const { return capacity_ * sizeof(T); }
  [[nodiscard]] Resource& resource() { return resource_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  Resource resource_;
};

}  // namespace sora2
