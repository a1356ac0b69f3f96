// The same values in registers of a kernel and on the host: the words must be equal.
#include <sora2/codec/register_cache.hpp>

#include <doctest/doctest.h>

#include <cstring>

namespace {

template <class T, int Bits>
__global__ void pack_and_load(T const* in, std::uint32_t* words, float* loaded)
{
  using cache = sora2::register_cache<T, 32, Bits>;
  T values[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) values[i] = in[threadIdx.x * 32 + i];
  auto const r = cache::pack(values);
#pragma unroll
  for (int i = 0; i < cache::words + cache::scales; ++i)
    words[threadIdx.x * (cache::words + cache::scales) + i] = r.word[i];
  loaded[threadIdx.x] = r.template value<3>();
  loaded[blockDim.x + threadIdx.x] = r.template value<31>();
}

template <class T, int Bits>
void same_on_both_sides()
{
  using cache = sora2::register_cache<T, 32, Bits>;
  constexpr int threads = 64, each = cache::words + cache::scales;
  T* in;
  std::uint32_t* words;
  float* loaded;
  if (cudaMallocManaged(&in, threads * 32 * sizeof(T)) != cudaSuccess) {
    MESSAGE("skipped: no CUDA device");
    return;
  }
  REQUIRE(cudaMallocManaged(&words, threads * each * 4) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&loaded, 2 * threads * 4) == cudaSuccess);
  std::uint32_t random = 7;
  for (int i = 0; i < threads * 32; ++i) {
    random = random * 1664525u + 1013904223u;
    float const x = static_cast<float>(static_cast<std::int32_t>(random)) /
                    static_cast<float>(1u << (8 + i / 128 % 20));
    in[i] = sora2::from_float<T>(i % 61 == 0 ? 0.0f : x);
  }
  pack_and_load<T, Bits><<<1, threads>>>(in, words, loaded);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (int t = 0; t < threads; ++t) {
    T values[32];
    std::memcpy(values, in + t * 32, sizeof values);
    auto const r = cache::pack(values);
    REQUIRE(std::memcmp(r.word, words + t * each, sizeof r.word) == 0);
    CHECK(loaded[t] == r.template value<3>());
    CHECK(loaded[threads + t] == r.template value<31>());
  }
  cudaFree(in);
  cudaFree(words);
  cudaFree(loaded);
}

}  // namespace

TEST_SUITE("codec/register_cache") {
  TEST_CASE("words packed in a kernel are those of the host")
  {
    same_on_both_sides<float, 8>();
    same_on_both_sides<float, 4>();
    same_on_both_sides<float, 2>();
    same_on_both_sides<sora2::float16, 8>();
    same_on_both_sides<sora2::float16, 16>();
    same_on_both_sides<sora2::bfloat16, 4>();
  }
}
