// Compressed keys inside your own kernel: each warp decodes one page in place and scores it against a query.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <sora2/codec/block.hpp>
#include <sora2/codec/quantize.hpp>
#include <sora2/simt/cuda_warp.cuh>

using int8 = sora2::quantize<sora2::quantize_config{.bits = 8, .along = sora2::axis::channel}>;

template <class Codec>
__global__ void score(std::byte const* blocks, std::size_t stride, std::size_t const* length,
                      float const* query, float* out, sora2::status* result)
{
  __shared__ typename Codec::template scratch<sora2::cuda_warp> scratch;
  __shared__ float keys[64 * 32];  // 64 tokens of 32 channels
  sora2::cuda_warp const warp;
  sora2::view<std::byte const> const block{blocks + blockIdx.x * stride, length[blockIdx.x]};
  auto const s =
      sora2::decode_block<Codec>(warp, scratch, block, sora2::tile<float>{keys, 1, 64, 32});
  warp.store_one(result + blockIdx.x, s);
  if (s != sora2::status::ok) return;  // the same answer in all lanes
  auto const q = warp.load<float>(query);
  for (unsigned token = 0; token < 64; ++token)
    warp.store_one(out + blockIdx.x * 64 + token,
                   warp.sum(warp.load<float>(keys + token * 32) * q));
}

int main()
{
  std::vector<sora2::float16> page(64 * 32);
  std::vector<float> query(32);
  for (std::size_t i = 0; i < page.size(); ++i)
    page[i] =
        sora2::to_float16(static_cast<float>(std::sin(0.37 * double(i)) + double(i % 32) / 8));
  for (std::size_t i = 0; i < 32; ++i) query[i] = static_cast<float>(i % 5) - 2;

  // The host writes the blocks, with the same source that the kernel reads them with.
  std::size_t const pages = 3, stride = sora2::block_bound<int8>(2 * page.size());
  std::vector<std::byte> blocks(pages * stride);
  std::vector<std::size_t> length(pages);
  for (std::size_t p = 0; p < pages; ++p) {
    auto const n = sora2::write_block<int8>(sora2::tile<sora2::float16>{page.data(), 1, 64, 32},
                                            {blocks.data() + p * stride, stride});
    if (!n) return std::fprintf(stderr, "write: %s\n", sora2::status_name(n.error())), 1;
    length[p] = *n;
  }
  std::byte* device_blocks;
  std::size_t* device_length;
  float *device_query, *scores;
  sora2::status* result;
  cudaMallocManaged(&device_blocks, blocks.size());
  cudaMallocManaged(&device_length, pages * sizeof(std::size_t));
  cudaMallocManaged(&device_query, 32 * sizeof(float));
  cudaMallocManaged(&scores, pages * 64 * sizeof(float));
  if (cudaMallocManaged(&result, pages) != cudaSuccess)
    return std::fprintf(stderr, "no CUDA device: %s\n", cudaGetErrorString(cudaGetLastError())), 77;
  std::copy(blocks.begin(), blocks.end(), device_blocks);
  std::copy(length.begin(), length.end(), device_length);
  std::copy(query.begin(), query.end(), device_query);
  score<int8>
      <<<unsigned(pages), 32>>>(device_blocks, stride, device_length, device_query, scores, result);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return std::fprintf(stderr, "kernel: %s\n", cudaGetErrorString(cudaGetLastError())), 1;

  double expected = 0;
  for (std::size_t i = 0; i < 32; ++i)
    expected += double(sora2::to_float(page[7 * 32 + i])) * double(query[i]);
  for (std::size_t p = 0; p < pages; ++p)
    std::printf("page %zu: %s, token 7 scores %.3f (exact keys: %.3f)\n", p,
                sora2::status_name(result[p]), double(scores[p * 64 + 7]), expected);
  for (void* p :
       {static_cast<void*>(device_blocks), static_cast<void*>(device_length),
        static_cast<void*>(device_query), static_cast<void*>(scores), static_cast<void*>(result)})
    cudaFree(p);
}
