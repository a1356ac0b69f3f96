// A text file that appears whole or not at all; what is no regular file (a pipe, /dev/stdout) is
// written through.
#pragma once

#include <sora2/store/detail/file_bytes.hpp>
#include <sora2/store/safetensors.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>

#include "failure.hpp"

namespace program {

class output_file {
 public:
  /// Writes `text` beside `path`; nothing happens for an empty path.
  output_file(std::string path, std::string const& text) : path_(std::move(path))
  {
    if (path_.empty()) return;
    std::error_code ignored;
    auto const there = std::filesystem::status(path_, ignored);
    if (std::filesystem::is_directory(there)) refuse("is a folder, not a file");
    through_ = std::filesystem::exists(there) && !std::filesystem::is_regular_file(there);
    if (through_) {
      text_ = text;
      return;
    }
    check(file_.create(path_));
    check(file_.write({reinterpret_cast<std::byte const*>(text.data()), text.size()}));
  }
  output_file(output_file&&) = delete;

  void commit()
  {
    if (path_.empty()) return;
    if (!through_) return check(file_.commit());
    std::FILE* const out = std::fopen(path_.c_str(), "wb");
    if (out == nullptr) return check(errno);
    int code = std::fwrite(text_.data(), 1, text_.size(), out) == text_.size() ? 0 : errno;
    if (std::fclose(out) != 0 && code == 0) code = errno;
    check(code);
  }

 private:
  [[noreturn]] void refuse(std::string const& what) const
  {
    throw failure(sora2::detail::one_line(path_, 4096) + ": " + what);
  }
  void check(int code) const
  {
    if (code != 0) refuse("cannot write: " + sora2::detail::errno_text(code));
  }

  std::string path_, text_;
  sora2::detail::atomic_file file_;
  bool through_ = false;
};

}  // namespace program
