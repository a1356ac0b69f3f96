// What ends the program: one line for the user, exit code 2.
#pragma once

#include <stdexcept>
#include <string>

namespace program {

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace program
