// Shows that the CUDA component brings C++20 and the headers to the consumer's kernels. Compiled, not run.
#include <cuda_runtime.h>

#include <sora2/core/result.hpp>
#include <sora2/core/view.hpp>

static_assert(__cplusplus >= 202002L);

__global__ void double_all(sora2::view<float> const numbers)
{
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < numbers.size) numbers[i] *= 2;
}

sora2::status launch(sora2::view<float> const numbers);

sora2::status launch(sora2::view<float> const numbers)
{
  double_all<<<1, 32>>>(numbers);
  return cudaGetLastError() == cudaSuccess ? sora2::status::ok : sora2::status::cuda_failure;
}
