/// safetensors files: named tensors and text metadata, read through a map and written atomically.
/// Smallest use: `auto const file = safetensors_file::open(path); if (!file) return
/// report(file.error().message);` then `for (auto const& t : file->tensors()) use(t.name, t.type,
/// t.shape, t.data);`.
/// Limits: POSIX, host only. Every byte is distrusted: names are unique UTF-8, the tensors cover
/// the data without overlap, hole or rest, sizes follow from shape and dtype, nothing is allocated
/// on the header's word. Headers up to 100 MB, 64 dimensions, streams (pipes) up to 4 GiB. `data`
/// has no alignment: read it with `load_le` or `memcpy`. A file must not be shortened while it is
/// open. Running out of memory throws `std::bad_alloc`.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sora2/core/bits.hpp>
#include <sora2/core/status.hpp>
#include <sora2/core/view.hpp>
#include <sora2/store/detail/file_bytes.hpp>
#include <sora2/store/detail/tensor_header.hpp>

namespace sora2 {

/// Element types of the format. `f4`, `f6_*` pack several values into a byte.
enum class dtype : std::uint8_t {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e5m2fnuz,
  f8_e4m3fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64,
};

struct dtype_info {
  dtype type;
  std::string_view name;  ///< as the file spells it
  unsigned bits;          ///< a value
};

inline constexpr dtype_info dtype_table[] = {
    {dtype::boolean, "BOOL", 8},
    {dtype::f4, "F4", 4},
    {dtype::f6_e2m3, "F6_E2M3", 6},
    {dtype::f6_e3m2, "F6_E3M2", 6},
    {dtype::u8, "U8", 8},
    {dtype::i8, "I8", 8},
    {dtype::f8_e5m2, "F8_E5M2", 8},
    {dtype::f8_e4m3, "F8_E4M3", 8},
    {dtype::f8_e8m0, "F8_E8M0", 8},
    {dtype::f8_e5m2fnuz, "F8_E5M2FNUZ", 8},
    {dtype::f8_e4m3fnuz, "F8_E4M3FNUZ", 8},
    {dtype::i16, "I16", 16},
    {dtype::u16, "U16", 16},
    {dtype::f16, "F16", 16},
    {dtype::bf16, "BF16", 16},
    {dtype::i32, "I32", 32},
    {dtype::u32, "U32", 32},
    {dtype::f32, "F32", 32},
    {dtype::c64, "C64", 64},
    {dtype::f64, "F64", 64},
    {dtype::i64, "I64", 64},
    {dtype::u64, "U64", 64},
};

[[nodiscard]] constexpr std::string_view dtype_name(dtype type)
{
  return dtype_table[static_cast<std::size_t>(type)].name;
}
[[nodiscard]] constexpr unsigned dtype_bits(dtype type)
{
  return dtype_table[static_cast<std::size_t>(type)].bits;
}

/// One tensor: what it is called, what it holds, and where its bytes lie. The bytes belong to
/// someone else.
struct tensor_view {
  std::string name;
  dtype type = dtype::u8;
  std::vector<std::uint64_t> shape;  ///< empty: one value
  view<std::byte const> data;        ///< row-major, little-endian, unaligned
};

using text_metadata = std::vector<std::pair<std::string, std::string>>;

/// Product of the dimensions; nothing if it exceeds 64 bits. A zero dimension makes it zero,
/// whatever the others.
[[nodiscard]] inline std::optional<std::uint64_t> value_count(view<std::uint64_t const> shape)
{
  std::uint64_t count = 1;
  bool fits = true;
  for (std::uint64_t const extent : shape) {
    if (extent == 0) return 0;
    fits = fits && count <= UINT64_MAX / extent;
    count = fits ? count * extent : 0;
  }
  return fits ? std::optional{count} : std::nullopt;
}

/// Bytes of a tensor; nothing if they exceed 64 bits or a packed type does not fill its last byte.
[[nodiscard]] inline std::optional<std::uint64_t> tensor_bytes(dtype type,
                                                               view<std::uint64_t const> shape)
{
  auto const count = value_count(shape);
  if (!count || *count > UINT64_MAX / dtype_bits(type)) return std::nullopt;
  std::uint64_t const bits = *count * dtype_bits(type);
  return bits % 8 == 0 ? std::optional{bits / 8} : std::nullopt;
}

/// Why a file was refused: a code for programs and one line for people (file, tensor, field).
struct [[nodiscard]] file_error {
  status code = status::ok;
  std::string message;
};

/// A value or the reason why there is none.
template <class T>
class [[nodiscard]] file_result {
 public:
  file_result(T value) : value_(std::move(value)) {}
  file_result(file_error why) : error_(std::move(why)) {}

  explicit operator bool() const { return value_.has_value(); }
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] T const& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() { return &*value_; }
  [[nodiscard]] T const* operator->() const { return &*value_; }
  [[nodiscard]] file_error const& error() const { return error_; }

 private:
  std::optional<T> value_;
  file_error error_;
};

/// An opened file. Move-only; the views in `tensors()` live as long as it does and survive a move.
class safetensors_file {
 public:
  static constexpr std::uint64_t header_limit = 100'000'000;
  static constexpr std::uint64_t stream_limit = std::uint64_t{1} << 32;

  /// Opens and checks a file. Regular files are mapped, anything else (a pipe) is read to its end.
  static file_result<safetensors_file> open(std::string const& path);

  /// Checks bytes that the caller keeps alive; `label` stands for the file in messages.
  static file_result<safetensors_file> parse(view<std::byte const> bytes,
                                             std::string_view label = "input");

  /// In the order of the header.
  [[nodiscard]] view<tensor_view const> tensors() const { return tensors_; }
  [[nodiscard]] text_metadata const& metadata() const { return metadata_; }

  /// Null when there is no such tensor. Logarithmic.
  [[nodiscard]] tensor_view const* find(std::string_view name) const;

  /// Null when there is no such metadata.
  [[nodiscard]] std::string const* find_metadata(std::string_view key) const;

 private:
  safetensors_file() = default;
  [[nodiscard]] file_error take_tensors(detail::header_content&& header,
                                        view<std::byte const> data);
  [[nodiscard]] file_error check_names();
  [[nodiscard]] file_error check_cover(view<std::byte const> data) const;

  detail::file_bytes bytes_;
  std::vector<tensor_view> tensors_;
  std::vector<std::uint32_t> by_name_;
  text_metadata metadata_;
};

/// Writes a whole file under `path`, or leaves `path` as it was: new bytes go to a file beside it,
/// are flushed to the disk and take the name last. An existing regular file is replaced. Tensors
/// and metadata keep the given order; the header is padded to a multiple of 8 bytes. `path` may be
/// the file that `tensors` were read from.
[[nodiscard]] file_error save_safetensors(std::string const& path, view<tensor_view const> tensors,
                                          text_metadata const& metadata = {});

// ---- bodies -------------------------------------------------------------------------------------

namespace detail {

[[nodiscard]] inline file_error refuse(status code, std::string message)
{
  return {code, std::move(message)};
}

[[nodiscard]] inline file_error refuse_file(std::string_view path, status code,
                                            std::string const& what)
{
  return {code, one_line(path, 4096) + ": " + what};
}

[[nodiscard]] inline file_error refuse_tensor(std::string_view name, status code,
                                              std::string const& what)
{
  return {code, "tensor " + in_quotes(name) + ": " + what};
}

[[nodiscard]] inline status errno_status(int code)
{
  return code == ENOENT ? status::not_found : status::io_failure;
}

[[nodiscard]] inline std::string range_text(std::uint64_t begin, std::uint64_t end)
{
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

[[nodiscard]] inline std::string shape_text(view<std::uint64_t const> shape)
{
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

/// The length field against the format's cap, and what is wrong with it.
[[nodiscard]] inline file_error check_header_length(std::uint64_t length)
{
  if (length > safetensors_file::header_limit)
    return refuse(status::input_too_large, "header length " + std::to_string(length) +
                                               " is above the limit of 100000000 bytes");
  if (length == 0) return refuse(status::corrupt_input, "header length is 0");
  return {};
}

}  // namespace detail

inline file_result<safetensors_file> safetensors_file::open(std::string const& path)
{
  auto const system_fault = [&](char const* what, int code) {
    return detail::refuse_file(path, detail::errno_status(code), what + detail::errno_text(code));
  };
  detail::descriptor const fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd.good()) return system_fault("cannot open: ", errno);
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0) return system_fault("cannot open: ", errno);
  if (S_ISDIR(about.st_mode))
    return detail::refuse_file(path, status::io_failure, "is a folder, not a file");

  detail::file_bytes bytes;
  bool mapped = false;
  if (S_ISREG(about.st_mode)) {
    auto const size = static_cast<std::uint64_t>(about.st_size);
    if (size > SIZE_MAX)
      return detail::refuse_file(path, status::input_too_large, "is larger than the address space");
    mapped = size > 0 && bytes.map(fd.get(), static_cast<std::size_t>(size)) == 0;
  }
  if (!mapped) {
    // A stream says how long it is only in its header, so read that first, and one byte more than
    // it announces.
    constexpr std::uint64_t prefix = 8;
    std::uint64_t wanted = prefix;
    if (int const code = bytes.read_up_to(fd.get(), prefix); code != 0)
      return system_fault("cannot read: ", code);
    if (bytes.bytes().size == prefix) {
      auto const length = load_le<std::uint64_t>(bytes.bytes().data);
      if (auto why = detail::check_header_length(length); why.code != status::ok)
        return detail::refuse_file(path, why.code, why.message);
      wanted = prefix + length;
      if (int const code = bytes.read_up_to(fd.get(), static_cast<std::size_t>(wanted)); code != 0)
        return system_fault("cannot read: ", code);
    }
    if (bytes.bytes().size == wanted && wanted > prefix) {
      detail::header_content header;
      std::string_view const text{reinterpret_cast<char const*>(bytes.bytes().data) + prefix,
                                  static_cast<std::size_t>(wanted - prefix)};
      if (detail::parse_tensor_header(text, header).empty()) {
        std::uint64_t data = 0;
        for (auto const& entry : header.entries) data = greatest(data, entry.end);
        if (data >= stream_limit)
          return detail::refuse_file(path, status::input_too_large,
                                     "announces " + std::to_string(data) +
                                         " bytes, too many for a stream");
        if (int const code =
                bytes.read_up_to(fd.get(), static_cast<std::size_t>(wanted + data + 1));
            code != 0)
          return system_fault("cannot read: ", code);
      }
    }
  }

  auto file = parse(bytes.bytes(), path);
  if (file) file->bytes_ = std::move(bytes);
  return file;
}

inline file_result<safetensors_file> safetensors_file::parse(view<std::byte const> bytes,
                                                             std::string_view label)
{
  constexpr std::uint64_t prefix = 8;
  auto const corrupt = [&](std::string const& what) {
    return detail::refuse_file(label, status::corrupt_input, what);
  };
  if (bytes.empty()) return corrupt("is empty");
  if (bytes.size < prefix)
    return corrupt("has " + std::to_string(bytes.size) +
                   " bytes, fewer than the 8 of the header length");
  auto const length = load_le<std::uint64_t>(bytes.data);
  if (auto const why = detail::check_header_length(length); why.code != status::ok)
    return detail::refuse_file(label, why.code, why.message);
  if (length > bytes.size - prefix)
    return corrupt("header length " + std::to_string(length) + " runs past the end of the file (" +
                   std::to_string(bytes.size) + " bytes)");

  detail::header_content header;
  std::string_view const text{reinterpret_cast<char const*>(bytes.data) + prefix,
                              static_cast<std::size_t>(length)};
  if (auto const fault = detail::parse_tensor_header(text, header); !fault.empty())
    return corrupt(fault);

  safetensors_file file;
  auto const data = bytes.from(static_cast<std::size_t>(prefix + length));
  if (auto const why = file.take_tensors(std::move(header), data); why.code != status::ok)
    return detail::refuse_file(label, why.code, why.message);
  return file_result<safetensors_file>{std::move(file)};
}

inline file_error safetensors_file::take_tensors(detail::header_content&& header,
                                                 view<std::byte const> data)
{
  metadata_ = std::move(header.metadata);
  tensors_.reserve(header.entries.size());
  for (auto& entry : header.entries) {
    auto const* const found =
        std::find_if(std::begin(dtype_table), std::end(dtype_table),
                     [&](dtype_info const& d) { return d.name == entry.dtype; });
    if (found == std::end(dtype_table))
      return detail::refuse_tensor(entry.name, status::unsupported,
                                   "unknown dtype " + detail::in_quotes(entry.dtype));
    if (entry.end < entry.begin)
      return detail::refuse_tensor(entry.name, status::corrupt_input,
                                   "data_offsets " + detail::range_text(entry.begin, entry.end) +
                                       " end before they begin");
    auto const bytes = tensor_bytes(found->type, entry.shape);
    if (!bytes)
      return detail::refuse_tensor(entry.name, status::corrupt_input,
                                   "shape " + detail::shape_text(entry.shape) + " of " +
                                       entry.dtype + " is no whole number of bytes below 2^64");
    if (*bytes != entry.end - entry.begin)
      return detail::refuse_tensor(entry.name, status::corrupt_input,
                                   "shape " + detail::shape_text(entry.shape) + " of " +
                                       entry.dtype + " needs " + std::to_string(*bytes) +
                                       " bytes, data_offsets give " +
                                       std::to_string(entry.end - entry.begin));
    if (entry.end > data.size)
      return detail::refuse_tensor(entry.name, status::corrupt_input,
                                   "data_offsets " + detail::range_text(entry.begin, entry.end) +
                                       " run past the end of the file (" +
                                       std::to_string(data.size) + " bytes of data): cut short?");
    tensors_.push_back(
        {std::move(entry.name), found->type, std::move(entry.shape),
         data.sub(static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(*bytes))});
  }
  if (auto why = check_names(); why.code != status::ok) return why;
  return check_cover(data);
}

inline file_error safetensors_file::check_names()
{
  by_name_.resize(tensors_.size());
  for (std::uint32_t i = 0; i < by_name_.size(); ++i) by_name_[i] = i;
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return tensors_[a].name < tensors_[b].name; });
  for (std::size_t i = 1; i < by_name_.size(); ++i)
    if (tensors_[by_name_[i]].name == tensors_[by_name_[i - 1]].name)
      return detail::refuse(status::corrupt_input,
                            "duplicate tensor name " +
                                detail::in_quotes(tensors_[by_name_[i]].name));

  std::vector<std::string_view> keys;
  for (auto const& [key, value] : metadata_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  auto const twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end())
    return detail::refuse(status::corrupt_input,
                          "duplicate key " + detail::in_quotes(*twice) + " in __metadata__");
  return {};
}

inline file_error safetensors_file::check_cover(view<std::byte const> data) const
{
  std::vector<tensor_view const*> order;
  for (auto const& t : tensors_) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](tensor_view const* a, tensor_view const* b) {
    return a->data.data != b->data.data ? a->data.data < b->data.data : a->data.size < b->data.size;
  });
  std::size_t covered = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const begin = static_cast<std::size_t>(order[i]->data.data - data.data);
    if (begin < covered)
      return detail::refuse_tensor(order[i]->name, status::corrupt_input,
                                   "its data overlaps tensor " +
                                       detail::in_quotes(order[i - 1]->name));
    if (begin > covered)
      return detail::refuse_tensor(order[i]->name, status::corrupt_input,
                                   "data bytes " + detail::range_text(covered, begin) +
                                       " before it belong to no tensor");
    covered = begin + order[i]->data.size;
  }
  if (covered != data.size)
    return detail::refuse(status::corrupt_input,
                          std::to_string(data.size - covered) +
                              " bytes after the last tensor belong to no tensor");
  return {};
}

inline tensor_view const* safetensors_file::find(std::string_view name) const
{
  auto const at = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](std::uint32_t i, std::string_view key) { return tensors_[i].name < key; });
  return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
}

inline std::string const* safetensors_file::find_metadata(std::string_view key) const
{
  for (auto const& [k, value] : metadata_)
    if (k == key) return &value;
  return nullptr;
}

namespace detail {

/// The 8-byte length and the header, or why these tensors cannot be one file.
[[nodiscard]] inline file_error make_header(view<tensor_view const> tensors,
                                            text_metadata const& metadata, std::string& out)
{
  std::vector<std::string_view> names;
  std::string text = "{";
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    for (auto const& [key, value] : metadata) {
      if (!is_utf8(key) || !is_utf8(value))
        return refuse(status::unsupported, "metadata " + in_quotes(key) + " is not UTF-8");
      if (&key != &metadata.front().first) text += ',';
      append_json_string(text, key);
      text += ':';
      append_json_string(text, value);
      names.push_back(key);
    }
    text += '}';
    std::sort(names.begin(), names.end());
    if (auto const twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
      return refuse(status::unsupported, "duplicate key " + in_quotes(*twice) + " in the metadata");
    names.clear();
  }
  std::uint64_t at = 0;
  for (auto const& t : tensors) {
    if (!is_utf8(t.name))
      return refuse_tensor(t.name, status::unsupported, "its name is not UTF-8");
    if (t.name == "__metadata__")
      return refuse_tensor(t.name, status::unsupported, "this name is reserved");
    if (t.shape.size() > rank_limit)
      return refuse_tensor(t.name, status::unsupported, "more than 64 dimensions");
    auto const bytes = tensor_bytes(t.type, t.shape);
    if (!bytes || *bytes != t.data.size)
      return refuse_tensor(t.name, status::wrong_shape,
                           "shape " + shape_text(t.shape) + " of " +
                               std::string(dtype_name(t.type)) + " does not belong to " +
                               std::to_string(t.data.size) + " bytes");
    if (text.size() > 1) text += ',';
    append_json_string(text, t.name);
    text += ":{\"dtype\":\"";
    text += dtype_name(t.type);
    text += "\",\"shape\":[";
    for (std::size_t i = 0; i < t.shape.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(t.shape[i]);
    text += "],\"data_offsets\":[" + std::to_string(at) + ',' + std::to_string(at + *bytes) + "]}";
    at += *bytes;
    names.push_back(t.name);
  }
  std::sort(names.begin(), names.end());
  if (auto const twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    return refuse(status::unsupported, "duplicate tensor name " + in_quotes(*twice));
  text += '}';
  text.resize(round_up(text.size(), std::size_t{8}), ' ');
  if (text.size() > safetensors_file::header_limit)
    return refuse(status::input_too_large, "the header would exceed 100000000 bytes");
  std::uint64_t const length = text.size();
  out.assign(sizeof length, '\0');
  store_le(out.data(), length);
  out += text;
  return {};
}

}  // namespace detail

inline file_error save_safetensors(std::string const& path, view<tensor_view const> tensors,
                                   text_metadata const& metadata)
{
  std::string header;
  if (auto const why = detail::make_header(tensors, metadata, header); why.code != status::ok)
    return detail::refuse_file(path, why.code, why.message);

  detail::atomic_file file;
  if (int const code = file.create(path); code == EINVAL)
    return detail::refuse_file(path, status::io_failure, "exists and is not a regular file");
  else if (code != 0)
    return detail::refuse_file(path, detail::errno_status(code),
                               "cannot create: " + detail::errno_text(code));
  int code = file.write({reinterpret_cast<std::byte const*>(header.data()), header.size()});
  for (std::size_t i = 0; i < tensors.size && code == 0; ++i) code = file.write(tensors[i].data);
  if (code == 0) code = file.commit();
  if (code != 0)
    return detail::refuse_file(path, status::io_failure,
                               "cannot write: " + detail::errno_text(code));
  return {};
}

}  // namespace sora2
