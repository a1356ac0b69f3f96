/// Borrowed memory: `view` is a row of elements, `tile` a dense [plane][row][column] block of them.
/// Smallest use: `view<float const> v{data, n}; v[3]`. Trivially copyable, passed by value, never owns.
/// Limits: sizes count elements; a view of bytes has `size` bytes. Indexing is checked in checked builds only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sora2/core/macros.hpp>

namespace sora2 {

template <class T>
struct view {
  T* data = nullptr;
  std::size_t size = 0;

  constexpr view() = default;
  SORA2_HD constexpr view(T* first, std::size_t count) : data(first), size(count) {}

  /// From a view of the same elements, less const.
  template <class U>
    requires(!std::same_as<U, T> && std::convertible_to<U (*)[], T (*)[]>)
  SORA2_HD constexpr view(view<U> other) : data(other.data), size(other.size)
  {}

  /// From a contiguous container; host only.
  template <class Container>
    requires requires(Container& c) {
      {
        c.data()
      } -> std::convertible_to<T*>;
      {
        c.size()
      } -> std::convertible_to<std::size_t>;
    }
  constexpr view(Container&& c) : data(c.data()), size(c.size())
  {}

  [[nodiscard]] SORA2_HD constexpr T& operator[](std::size_t i) const
  {
    SORA2_EXPECTS(i < size);
    return data[i];
  }
  [[nodiscard]] SORA2_HD constexpr T* begin() const { return data; }
  [[nodiscard]] SORA2_HD constexpr T* end() const { return data + size; }
  [[nodiscard]] SORA2_HD constexpr bool empty() const { return size == 0; }
  [[nodiscard]] SORA2_HD constexpr std::size_t bytes() const { return size * sizeof(T); }

  /// `count` elements from `first` on; both inside the view.
  [[nodiscard]] SORA2_HD constexpr view sub(std::size_t first, std::size_t count) const
  {
    SORA2_EXPECTS(first <= size && count <= size - first);
    return {data + first, count};
  }
  [[nodiscard]] SORA2_HD constexpr view from(std::size_t first) const
  {
    SORA2_EXPECTS(first <= size);
    return {data + first, size - first};
  }
};

/// A block of values, e.g. [head][token][channel] of one KV page. Element (p, r, c) lies at p*plane_stride + r*columns + c.
template <class T>
struct tile {
  T* data = nullptr;
  std::uint32_t planes = 0, rows = 0, columns = 0;
  std::size_t plane_stride = 0;  ///< elements from one plane to the next; rows * columns when dense

  constexpr tile() = default;
  /// Dense.
  SORA2_HD constexpr tile(T* first, std::uint32_t plane_count, std::uint32_t row_count,
                          std::uint32_t column_count)
      : data(first),
        planes(plane_count),
        rows(row_count),
        columns(column_count),
        plane_stride(std::size_t{row_count} * column_count)
  {}
  template <class U>
    requires(!std::same_as<U, T> && std::convertible_to<U (*)[], T (*)[]>)
  SORA2_HD constexpr tile(tile<U> other)
      : data(other.data),
        planes(other.planes),
        rows(other.rows),
        columns(other.columns),
        plane_stride(other.plane_stride)
  {}

  [[nodiscard]] SORA2_HD constexpr std::size_t size() const
  {
    return std::size_t{planes} * rows * columns;
  }
  [[nodiscard]] SORA2_HD constexpr bool dense() const
  {
    return planes <= 1 || plane_stride == std::size_t{rows} * columns;
  }
  [[nodiscard]] SORA2_HD constexpr T* row(std::uint32_t plane, std::uint32_t r) const
  {
    SORA2_EXPECTS(plane < planes && r < rows);
    return data + plane * plane_stride + std::size_t{r} * columns;
  }
  /// The rows from `first` on, in every plane; `first <= rows`.
  [[nodiscard]] SORA2_HD constexpr tile rows_from(std::uint32_t first) const
  {
    SORA2_EXPECTS(first <= rows);
    tile t = *this;
    t.data = size() == 0 ? data : data + std::size_t{first} * columns;
    t.rows = rows - first;
    return t;
  }
};

/// The same memory as bytes.
template <class T>
[[nodiscard]] SORA2_HD constexpr auto as_bytes(view<T> v)
{
  using byte_type = std::conditional_t<std::is_const_v<T>, std::byte const, std::byte>;
  return view<byte_type>{reinterpret_cast<byte_type*>(v.data), v.size * sizeof(T)};
}
template <class T>
[[nodiscard]] SORA2_HD constexpr auto as_bytes(tile<T> t)
{
  SORA2_EXPECTS(t.dense());
  return as_bytes(view<T>{t.data, t.size()});
}

static_assert(std::is_trivially_copyable_v<view<float>> &&
              std::is_trivially_copyable_v<tile<float>>);

}  // namespace sora2
