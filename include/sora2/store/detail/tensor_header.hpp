/// The JSON header of a safetensors file, read strictly and without recursion.
/// Smallest use: `header_content h; std::string const fault = parse_tensor_header(text, h);`, empty
/// when the text is good.
/// Limits: exactly the grammar of that header, so no other JSON document parses. A hand-written
/// scanner because a general library costs 2.5 s a translation unit and forgives what the format
/// forbids (repeated names, a NUL as the end).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sora2::detail {

/// One tensor as the header states it; nothing here is checked against the file yet.
struct header_entry {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

struct header_content {
  std::vector<header_entry> entries;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Dimensions a tensor may have. The format names no limit; one is needed so that a header cannot
/// inflate in memory.
inline constexpr std::size_t rank_limit = 64;

/// Bytes of the UTF-8 sequence that starts at `at`; 0 if it is not one (cut, overlong, surrogate,
/// above U+10FFFF).
[[nodiscard]] inline std::size_t utf8_sequence(std::string_view text, std::size_t at)
{
  auto const byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  unsigned const first = byte(0);
  if (at >= text.size()) return 0;
  if (first < 0x80) return 1;
  std::size_t const length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0u) != 0x80u) return 0;
  unsigned const second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return length;
}

[[nodiscard]] inline bool is_utf8(std::string_view text)
{
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const length = utf8_sequence(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

/// The text on one line: control characters and broken UTF-8 as \xNN, cut to about `limit` bytes.
[[nodiscard]] inline std::string one_line(std::string_view text, std::size_t limit)
{
  constexpr char digits[] = "0123456789abcdef";
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    if (line.size() >= limit) return line + "...";
    std::size_t const length = utf8_sequence(text, at);
    auto const byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      line += "\\x";
      line += digits[byte >> 4];
      line += digits[byte & 15];
      ++at;
    } else {
      line += text.substr(at, length);
      at += length;
    }
  }
  return line;
}

[[nodiscard]] inline std::string in_quotes(std::string_view text)
{
  return "'" + one_line(text, 64) + "'";
}

/// Reads one header. The first fault stays in `fault` and stops everything.
class header_scanner {
 public:
  explicit header_scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string const& fault() const { return fault_; }

  void read(header_content& out)
  {
    if (text_.empty() || text_[0] != '{') return fail("the header does not begin with '{'");
    bool metadata_seen = false;
    read_object([&](std::string& name) {
      if (name != "__metadata__") return read_entry(name, out);
      if (metadata_seen) return fail("duplicate name '__metadata__'");
      metadata_seen = true;
      read_metadata(out);
    });
    skip_space();
    if (good() && at_ != text_.size()) fail_here("unexpected bytes after the header's closing '}'");
  }

 private:
  [[nodiscard]] bool good() const { return fault_.empty(); }
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void fail(std::string what)
  {
    if (good()) fault_ = std::move(what);
  }
  void fail_here(std::string const& what)
  {
    fail("header byte " + std::to_string(at_) + ": " + what);
  }

  void skip_space()
  {
    while (next() == ' ' || next() == '\n' || next() == '\r' || next() == '\t') ++at_;
  }

  /// Takes `c` after optional space; otherwise a fault.
  bool expect(char c)
  {
    skip_space();
    if (good() && next() == c) {
      ++at_;
      return true;
    }
    fail_here(at_ == text_.size() ? "the header ends in the middle"
                                  : std::string("expected '") + c + "'");
    return false;
  }

  /// Calls `member(name)` for every "name": in an object; `member` reads the value.
  template <class Member>
  void read_object(Member&& member)
  {
    if (!expect('{')) return;
    skip_space();
    if (next() == '}') {
      ++at_;
      return;
    }
    while (good()) {
      std::string name = read_string();
      if (!expect(':')) return;
      skip_space();
      member(name);
      skip_space();
      if (good() && next() == ',')
        ++at_;
      else {
        expect('}');
        return;
      }
    }
  }

  /// Calls `element()` for every element of an array.
  template <class Element>
  void read_array(Element&& element)
  {
    if (!expect('[')) return;
    skip_space();
    if (next() == ']') {
      ++at_;
      return;
    }
    while (good()) {
      element();
      skip_space();
      if (good() && next() == ',')
        ++at_;
      else {
        expect(']');
        return;
      }
    }
  }

  void read_metadata(header_content& out)
  {
    if (next() != '{') return fail("__metadata__ is not an object");
    read_object([&](std::string& key) {
      if (next() != '"')
        return fail("__metadata__ value of " + in_quotes(key) + " is not a string");
      std::string value = read_string();
      if (good()) out.metadata.emplace_back(std::move(key), std::move(value));
    });
  }

  void read_entry(std::string& name, header_content& out)
  {
    header_entry entry;
    bool has_dtype = false, has_shape = false, has_offsets = false;
    std::string const tensor = "tensor " + in_quotes(name) + ": ";
    if (next() != '{') return fail(tensor + "its entry is not an object");
    auto const first_time = [&](bool& seen, char const* field) {
      if (seen) fail(tensor + "duplicate field '" + field + "'");
      seen = true;
      return good();
    };
    read_object([&](std::string& field) {
      if (field == "dtype") {
        if (!first_time(has_dtype, "dtype")) return;
        if (next() != '"') return fail(tensor + "dtype is not a string");
        entry.dtype = read_string();
      } else if (field == "shape") {
        if (!first_time(has_shape, "shape")) return;
        if (next() != '[') return fail(tensor + "shape is not an array");
        read_array([&] {
          if (entry.shape.size() == rank_limit) return fail(tensor + "more than 64 dimensions");
          entry.shape.push_back(read_number(tensor, "shape"));
        });
      } else if (field == "data_offsets") {
        if (!first_time(has_offsets, "data_offsets")) return;
        if (next() != '[') return fail(tensor + "data_offsets is not an array");
        int count = 0;
        read_array([&] {
          std::uint64_t const x = read_number(tensor, "data_offsets");
          if (count == 0) entry.begin = x;
          if (count == 1) entry.end = x;
          if (++count > 2) fail(tensor + "data_offsets has more than two numbers");
        });
        if (count < 2) fail(tensor + "data_offsets has fewer than two numbers");
      } else {
        fail(tensor + "unknown field " + in_quotes(field));
      }
    });
    if (!has_dtype) fail(tensor + "no dtype");
    if (!has_shape) fail(tensor + "no shape");
    if (!has_offsets) fail(tensor + "no data_offsets");
    if (!good()) return;
    entry.name = std::move(name);
    out.entries.push_back(std::move(entry));
  }

  /// An unsigned 64-bit integer as JSON writes it: digits only, no leading zero.
  std::uint64_t read_number(std::string const& tensor, char const* field)
  {
    skip_space();
    std::size_t const start = at_;
    std::uint64_t value = 0;
    bool fits = true;
    for (; next() >= '0' && next() <= '9'; ++at_) {
      auto const digit = static_cast<std::uint64_t>(next() - '0');
      fits = fits && value <= (UINT64_MAX - digit) / 10;
      value = fits ? value * 10 + digit : 0;
    }
    std::size_t const digits = at_ - start;
    char const after = next();
    bool const whole = digits > 0 && after != '.' && after != 'e' && after != 'E' && after != '-';
    if (!whole || !fits || (digits > 1 && text_[start] == '0')) {
      std::size_t stop = start;
      while (stop < text_.size() && text_[stop] != ',' && text_[stop] != ']') ++stop;
      fail(tensor + field + " holds " + in_quotes(text_.substr(start, stop - start)) +
           ", not an unsigned 64-bit integer");
    }
    return value;
  }

  std::string read_string()
  {
    std::string value;
    if (!expect('"')) return value;
    while (good()) {
      if (at_ == text_.size()) {
        fail_here("the header ends inside a string");
      } else if (text_[at_] == '"') {
        ++at_;
        return value;
      } else if (text_[at_] == '\\') {
        ++at_;
        read_escape(value);
      } else if (static_cast<unsigned char>(text_[at_]) < 0x20) {
        fail_here("control character inside a string");
      } else if (std::size_t const length = utf8_sequence(text_, at_); length == 0) {
        fail_here("not UTF-8");
      } else {
        value += text_.substr(at_, length);
        at_ += length;
      }
    }
    return value;
  }

  void read_escape(std::string& value)
  {
    char const c = next();
    constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (std::size_t const which = names.find(c);
        which != std::string_view::npos && at_ < text_.size()) {
      value += meanings[which];
      ++at_;
      return;
    }
    if (c != 'u') return fail_here("unknown escape in a string");
    ++at_;
    std::uint32_t code = read_hex();
    if (code >= 0xD800 && code < 0xDC00) {
      bool const paired = text_.substr(at_, 2) == "\\u";
      at_ += paired ? 2 : 0;
      std::uint32_t const low = paired ? read_hex() : 0;
      if (low < 0xDC00 || low > 0xDFFF) return fail_here("half a surrogate pair in a string");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      return fail_here("half a surrogate pair in a string");
    }
    auto const put = [&](std::uint32_t byte) {
      value += static_cast<char>(static_cast<unsigned char>(byte));
    };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | (code >> 6));
      put(0x80 | (code & 63));
    } else if (code < 0x10000) {
      put(0xE0 | (code >> 12));
      put(0x80 | ((code >> 6) & 63));
      put(0x80 | (code & 63));
    } else {
      put(0xF0 | (code >> 18));
      put(0x80 | ((code >> 12) & 63));
      put(0x80 | ((code >> 6) & 63));
      put(0x80 | (code & 63));
    }
  }

  std::uint32_t read_hex()
  {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      char const c = next();
      std::uint32_t digit = 0;
      if (c >= '0' && c <= '9')
        digit = static_cast<std::uint32_t>(c - '0');
      else if (c >= 'a' && c <= 'f')
        digit = static_cast<std::uint32_t>(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F')
        digit = static_cast<std::uint32_t>(c - 'A' + 10);
      else {
        fail_here("four hexadecimal digits must follow \\u");
        return 0;
      }
      code = code * 16 + digit;
    }
    return code;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string fault_;
};

/// Fills `out`; returns an empty string, or what is wrong and where.
[[nodiscard]] inline std::string parse_tensor_header(std::string_view text, header_content& out)
{
  header_scanner scanner{text};
  scanner.read(out);
  return scanner.fault();
}

/// `text` between quotes, as JSON writes it. The text is UTF-8.
inline void append_json_string(std::string& out, std::string_view text)
{
  constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace sora2::detail
