// A codec on many pages at once, one warp a block: what a kernel says of each page, and the bytes it leaves.
// Smallest use: `support::byte_rows in(4), out(4); in.add(page); out.add(bytes(100));`, then
// `auto const said = support::run_there(support::encode_pages<lz4<>>, in, out, no_model{});`.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <sora2/codec/policy.hpp>
#include <sora2/simt/cuda_warp.cuh>
#include <sora2/simt/host_warp.hpp>

#include "cuda.cuh"

namespace support {

/// Bytes of one page or stream in a row of all of them.
struct slice {
  std::size_t first, size;
};

/// What a kernel, or the host, says of one page.
struct verdict {
  sora2::status what = sora2::status::not_found;
  std::uint32_t size = 0;
  bool uniform = true;  ///< all lanes said the same

  verdict() = default;
  SORA2_HD verdict(sora2::status s) : what(s) {}
  SORA2_HD verdict(sora2::result<std::size_t> const& n)
      : what(n.error()), size(n ? static_cast<std::uint32_t>(*n) : 0)
  {}
  friend bool operator==(verdict const&, verdict const&) = default;
};

__device__ inline void keep(verdict* out, verdict mine)
{
  constexpr unsigned every = 0xFFFFFFFFu;
  auto const what = static_cast<unsigned>(mine.what);
  bool const same =
      what == __shfl_sync(every, what, 0) && mine.size == __shfl_sync(every, mine.size, 0);
  mine.uniform = __all_sync(every, same) != 0;
  if (threadIdx.x % 32 == 0) *out = mine;
}

/// Rows of bytes in one piece of memory with marked bytes around each. Row addresses are multiples of `align`, not of
/// twice as much.
class byte_rows {
 public:
  explicit byte_rows(std::size_t align) : align_(align) {}

  void add(sora2::view<std::byte const> row)
  {
    std::size_t const first = sora2::round_up(all_.size() + margin, 2 * align_) + align_;
    slices_.push_back({first, row.size});
    all_.resize(first, mark);
    all_.insert(all_.end(), row.begin(), row.end());
  }
  [[nodiscard]] std::size_t size() const { return slices_.size(); }
  [[nodiscard]] sora2::view<std::byte const> operator[](std::size_t i) const
  {
    return {all_.data() + slices_[i].first, slices_[i].size};
  }
  [[nodiscard]] std::vector<slice> const& slices() const { return slices_; }
  /// All rows, and marked bytes behind the last one.
  [[nodiscard]] std::vector<std::byte> whole() const
  {
    std::vector<std::byte> bytes = all_;
    bytes.resize(bytes.size() + margin, mark);
    return bytes;
  }
  /// Takes the bytes that a kernel left, and looks whether it kept off those around the rows.
  void take(std::vector<std::byte> after)
  {
    std::vector<std::byte> rest = after;
    for (slice const s : slices_)
      for (std::size_t i = 0; i < s.size; ++i) rest[s.first + i] = all_[s.first + i];
    CHECK(rest == whole());
    after.resize(all_.size());
    all_ = std::move(after);
  }

 private:
  static constexpr std::size_t margin = 48;
  static constexpr std::byte mark{0xA7};

  std::size_t align_;
  std::vector<std::byte> all_;
  std::vector<slice> slices_;
};

/// Calls kernel<<<one block a row, 32>>>(from, its slices, to, its slices, others..., verdicts).
template <class... Types, class... Others>
std::vector<verdict> run_there(void (*kernel)(std::byte const*, slice const*, std::byte*,
                                              slice const*, Types...),
                               byte_rows const& from, byte_rows& to, Others const&... others)
{
  device_array<std::byte> const in(from.whole()), out(to.whole());
  device_array<slice> const in_at(from.slices()), out_at(to.slices());
  device_array<verdict> const said{std::vector<verdict>(from.size())};
  kernel<<<static_cast<unsigned>(from.size()), 32>>>(in.data(), in_at.data(), out.data(),
                                                     out_at.data(), others..., said.data());
  to.take(out.back());
  auto verdicts = said.back();
  for (verdict const& v : verdicts) CHECK(v.uniform);
  return verdicts;
}

// ---- the same here; the compiler pass for the device would refuse the vectors of host lanes ----

template <class Codec, class In>
sora2::result<std::size_t> encode_here(In in, sora2::view<std::byte> out,
                                       sora2::model_t<Codec> const& m)
{
#if SORA2_ON_DEVICE
  static_cast<void>(in), static_cast<void>(out), static_cast<void>(m);
  return sora2::status::unsupported;
#else
  auto const s = std::make_unique<typename Codec::template scratch<sora2::host_warp>>();
  return sora2::encode_with<Codec>(sora2::host_warp{}, *s, in, out, m);
#endif
}
template <class Codec, class Out>
sora2::status decode_here(sora2::view<std::byte const> in, Out out, sora2::model_t<Codec> const& m)
{
#if SORA2_ON_DEVICE
  static_cast<void>(in), static_cast<void>(out), static_cast<void>(m);
  return sora2::status::unsupported;
#else
  auto const s = std::make_unique<typename Codec::template scratch<sora2::host_warp>>();
  return sora2::decode_with<Codec>(sora2::host_warp{}, *s, in, out, m);
#endif
}

// ---- codecs of bytes ----

template <class Codec>
__global__ void encode_pages(std::byte const* in, slice const* pages, std::byte* out,
                             slice const* rooms, sora2::model_t<Codec> m, verdict* said)
{
  __shared__ typename Codec::template scratch<sora2::cuda_warp> s;
  slice const page = pages[blockIdx.x], room = rooms[blockIdx.x];
  keep(said + blockIdx.x,
       sora2::encode_with<Codec>(sora2::cuda_warp{}, s,
                                 sora2::view<std::byte const>(in + page.first, page.size),
                                 sora2::view<std::byte>(out + room.first, room.size), m));
}
template <class Codec>
__global__ void decode_pages(std::byte const* in, slice const* streams, std::byte* out,
                             slice const* pages, sora2::model_t<Codec> m, verdict* said)
{
  __shared__ typename Codec::template scratch<sora2::cuda_warp> s;
  slice const stream = streams[blockIdx.x], page = pages[blockIdx.x];
  keep(said + blockIdx.x,
       sora2::decode_with<Codec>(sora2::cuda_warp{}, s,
                                 sora2::view<std::byte const>(in + stream.first, stream.size),
                                 sora2::view<std::byte>(out + page.first, page.size), m));
}

// ---- codecs of values ----

/// A tile, and how many of its rows a codec is to leave out in front.
struct shape {
  std::uint32_t planes, rows, columns, skip = 0;

  [[nodiscard]] constexpr std::size_t size() const { return std::size_t{planes} * rows * columns; }
  template <class T>
  [[nodiscard]] SORA2_HD sora2::tile<T> of(T* values) const
  {
    return sora2::tile<T>(values, planes, rows, columns).rows_from(skip);
  }
};

template <class Codec, class T>
__global__ void encode_tiles(std::byte const* in, slice const* pages, std::byte* out,
                             slice const* rooms, shape const* shapes, sora2::model_t<Codec> m,
                             verdict* said)
{
  __shared__ typename Codec::template scratch<sora2::cuda_warp> s;
  slice const room = rooms[blockIdx.x];
  auto const* const values = reinterpret_cast<T const*>(in + pages[blockIdx.x].first);
  keep(said + blockIdx.x,
       sora2::encode_with<Codec>(sora2::cuda_warp{}, s, shapes[blockIdx.x].of(values),
                                 sora2::view<std::byte>(out + room.first, room.size), m));
}
template <class Codec, class T>
__global__ void decode_tiles(std::byte const* in, slice const* streams, std::byte* out,
                             slice const* pages, shape const* shapes, sora2::model_t<Codec> m,
                             verdict* said)
{
  __shared__ typename Codec::template scratch<sora2::cuda_warp> s;
  slice const stream = streams[blockIdx.x];
  auto* const values = reinterpret_cast<T*>(out + pages[blockIdx.x].first);
  keep(said + blockIdx.x,
       sora2::decode_with<Codec>(sora2::cuda_warp{}, s,
                                 sora2::view<std::byte const>(in + stream.first, stream.size),
                                 shapes[blockIdx.x].of(values), m));
}

}  // namespace support
