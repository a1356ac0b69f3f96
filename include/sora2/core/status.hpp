/// What a call reports: one byte, the same on both machines, uniform over a warp.
/// Smallest use: `if (auto const s = read(...); s != status::ok) return s;`.
#pragma once

#include <cstdint>

#include <sora2/core/macros.hpp>

namespace sora2 {

enum class [[nodiscard]] status : std::uint8_t {
  ok,
  output_too_small,   ///< the destination has no room for the result; nothing useful was written
  input_too_large,    ///< beyond a limit of the format (4 GiB blocks, 0x7E000000-byte LZ4 inputs)
  corrupt_input,      ///< cut, damaged or malformed bytes
  checksum_mismatch,  ///< whole, but the CRC-32C of header and payload differs
  wrong_version,      ///< written with another SORA2_FORMAT_VERSION
  wrong_format,  ///< a block of another codec or configuration than the reader was composed for
  wrong_shape,   ///< sizes of input and output do not belong together
  wrong_table,   ///< made with another shared table, base or dictionary
  non_finite,    ///< NaN or infinity where the codec only takes finite values
  not_resident,  ///< exists, but this machine cannot decode it (host-only codec met in a kernel)
  not_found,
  stale,
  out_of_memory,
  io_failure,
  unsupported,  ///< valid, but this build or this codec does not do it
  cuda_failure,
};

/// The enumerator's name, for messages.
[[nodiscard]] SORA2_HD constexpr char const* status_name(status s)
{
  switch (s) {
    case status::ok: return "ok";
    case status::output_too_small: return "output_too_small";
    case status::input_too_large: return "input_too_large";
    case status::corrupt_input: return "corrupt_input";
    case status::checksum_mismatch: return "checksum_mismatch";
    case status::wrong_version: return "wrong_version";
    case status::wrong_format: return "wrong_format";
    case status::wrong_shape: return "wrong_shape";
    case status::wrong_table: return "wrong_table";
    case status::non_finite: return "non_finite";
    case status::not_resident: return "not_resident";
    case status::not_found: return "not_found";
    case status::stale: return "stale";
    case status::out_of_memory: return "out_of_memory";
    case status::io_failure: return "io_failure";
    case status::unsupported: return "unsupported";
    case status::cuda_failure: return "cuda_failure";
  }
  return "unknown";
}

}  // namespace sora2
