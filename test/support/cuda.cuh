// Device memory for tests, and the line that says why a test on a device was skipped.
// Smallest use: `if (!support::have_device()) return; support::device_array<int> x(host_vector);`.
#pragma once

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <vector>

namespace support {

inline bool have_device()
{
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  static_cast<void>(cudaGetLastError());
  std::puts("skipped: no CUDA device");
  return false;
}

/// A copy of a vector on the device.
template <class T>
class device_array {
 public:
  explicit device_array(std::vector<T> const& from) : size_(from.size())
  {
    // Not a byte more, so that a checker sees every step behind the last element.
    REQUIRE(cudaMalloc(&data_, size_ == 0 ? 1 : size_ * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
  }
  device_array(device_array const&) = delete;
  device_array& operator=(device_array const&) = delete;
  ~device_array() { cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  /// Waits for the device.
  [[nodiscard]] std::vector<T> back() const
  {
    std::vector<T> to(size_);
    cudaError_t const status = cudaDeviceSynchronize();
    INFO(cudaGetErrorString(status));
    REQUIRE(status == cudaSuccess);
    REQUIRE(cudaMemcpy(to.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return to;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

}  // namespace support
