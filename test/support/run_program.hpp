// Runs the built program `sora2` as its users do: by a command line, in a process of its own.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "temporary_folder.hpp"

#ifndef SORA2_PROGRAM
#define SORA2_PROGRAM ""
#endif

/// First line of every test that needs the program; CLI11 may be missing, and the program then is.
#define NEEDS_PROGRAM()                                           \
  if (std::string_view(SORA2_PROGRAM).empty()) {                  \
    MESSAGE("skipped: the program is not built, it needs CLI11"); \
    return;                                                       \
  }

namespace sora2_test {

struct run_result {
  int exit_code = -1;
  std::string out, err;

  [[nodiscard]] int error_lines() const
  {
    int lines = 0;
    for (char const c : err) lines += c == '\n';
    return lines;
  }
};

inline std::string shell_word(std::string_view text)
{
  std::string word = "'";
  for (char const c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

inline std::string text_of(std::string const& path)
{
  auto const bytes = read_bytes(path);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

inline run_result run_program(std::vector<std::string> const& words)
{
  temporary_folder const place;
  std::string command = shell_word(SORA2_PROGRAM);
  for (auto const& word : words) command += " " + shell_word(word);
  command +=
      " </dev/null >" + shell_word(place.file("out")) + " 2>" + shell_word(place.file("err"));
  int const status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, text_of(place.file("out")),
          text_of(place.file("err"))};
}

}  // namespace sora2_test
