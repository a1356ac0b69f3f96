// A bar on the error stream, only when that is a terminal and the work takes more than a moment.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace program {

class progress {
 public:
  explicit progress(std::size_t steps) : steps_(steps), shown_(isatty(STDERR_FILENO) != 0) {}
  progress(progress&&) = delete;
  ~progress()
  {
    if (drawn_) std::fprintf(stderr, "\r\033[K");
  }

  /// One of the steps begins; `what` is shown beside the bar.
  void step(std::string const& what)
  {
    std::size_t const done = done_++;
    using namespace std::chrono_literals;
    if (!shown_ || steps_ == 0 || std::chrono::steady_clock::now() - start_ < 500ms) return;
    constexpr std::size_t width = 30;
    std::size_t const filled = done * width / steps_;
    std::string const bar = std::string(filled, '#') + std::string(width - filled, '.');
    std::fprintf(stderr, "\r[%s] %zu/%zu %s\033[K", bar.c_str(), done, steps_, what.c_str());
    drawn_ = true;
  }

 private:
  std::size_t steps_, done_ = 0;
  bool shown_, drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace program
