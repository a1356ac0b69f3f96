// A text file that appears whole or not at all; what is no regular file (a pipe, /dev/stdout) is
// written through.
#pragma once

#include <filesystem>
#include <fstream>
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
    through_ = std::filesystem::exists(there) && !std::filesystem::is_regular_file(there);
    if (through_ && std::filesystem::is_directory(there))
      throw failure(path_ + ": is a folder, not a file");
    part_ = through_ ? path_ : path_ + ".part";
    text_ = text;
    if (!through_) write();
  }
  output_file(output_file&&) = delete;
  ~output_file()
  {
    std::error_code ignored;
    if (!through_ && !path_.empty()) std::filesystem::remove(part_, ignored);
  }

  void commit()
  {
    if (path_.empty()) return;
    std::error_code why;
    if (through_)
      write();
    else
      std::filesystem::rename(part_, path_, why);
    if (why) throw failure(path_ + ": cannot write: " + why.message());
  }

 private:
  void write()
  {
    std::ofstream out(part_, std::ios::binary);
    out << text_;
    out.close();
    if (!out) {
      std::error_code ignored;
      if (!through_) std::filesystem::remove(part_, ignored);
      throw failure(path_ + ": cannot write");
    }
  }

  std::string path_, part_, text_;
  bool through_ = false;
};

}  // namespace program
