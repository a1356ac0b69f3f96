// A whole tensor through a policy: blocks, the tensor decoded from them alone, and the time both
// took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kv_file.hpp"
#include "policies.hpp"

namespace program {

/// Memory at a multiple of 64 bytes.
class aligned_bytes {
 public:
  explicit aligned_bytes(std::size_t size)
      : data_(static_cast<std::byte*>(::operator new(size, std::align_val_t{64}))), size_(size)
  {}
  aligned_bytes(aligned_bytes&&) = delete;
  ~aligned_bytes() { ::operator delete(data_, std::align_val_t{64}); }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* data_;
  std::size_t size_;
};

/// Bytes of a whole tensor, unset at first. Memory is only taken where something is written: a shape alone costs none.
class tensor_bytes {
 public:
  tensor_bytes() = default;
  explicit tensor_bytes(std::size_t size) : data_(new std::byte[size]), size_(size) {}
  tensor_bytes(tensor_bytes&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0))
  {}
  tensor_bytes& operator=(tensor_bytes&& other) noexcept
  {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] std::byte const* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
};

struct coded_tensor {
  std::vector<std::byte> blocks;           ///< one after the other, in the order of `pages_of`
  std::array<std::size_t, 5> pages_at{};   ///< pages by level, raw first
  std::array<std::size_t, 4> pages_for{};  ///< routed: pages by `route_reason`
  double entropy_bits = 0;  ///< routed: mean over the pages that were looked at; 0 if none was
};

/// Encodes every page once. Throws `failure` naming tensor and page.
coded_tensor encode_source(kv_source const&, policy const&, demand_options const&);

/// The forms of a source that exist, each a whole tensor.
struct decoded_source {
  tensor_bytes after, before;

  [[nodiscard]] tensor_bytes const& reported(kv_source const& s) const
  {
    return s.after ? after : before;
  }
};

/// Decodes from blocks alone; the tensors of `source` give shapes and names, their data is not
/// looked at. Throws `failure` for anything that is not such a tensor's blocks.
decoded_source decode_source(sora2::view<std::byte const> blocks, kv_source const& source,
                             policy const&);

struct speeds {
  double encode_seconds = 0, decode_seconds = 0;  ///< for the whole tensor, best of several rounds
  double memcpy_gb_s = 0;                         ///< 256 KiB to 256 KiB, in turn with the others
};

/// Times the same work page by page, on pages already in the order and form of a cache.
speeds measure(kv_source const&, policy const&, demand_options const&);

}  // namespace program
