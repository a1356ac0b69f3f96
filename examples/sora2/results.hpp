// What one policy did to one file, and the ways to write that down.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kv_file.hpp"

namespace program {

/// Sums for a relative L2 error. Values that came back bit for bit count as right, also NaN and
/// infinity.
struct error_sums {
  double difference = 0, reference = 0;

  void add(double exact, double decoded)
  {
    if (std::isfinite(exact)) reference += exact * exact;
    if (exact == decoded || (std::isnan(exact) && std::isnan(decoded))) return;
    difference += (exact - decoded) * (exact - decoded);
  }
  void add(error_sums const& other)
  {
    difference += other.difference;
    reference += other.reference;
  }
  /// Not a number when something that is not finite was lost, or something came from nothing.
  [[nodiscard]] double relative() const
  {
    return difference == 0 ? 0 : reference == 0 ? std::nan("") : std::sqrt(difference / reference);
  }
};

struct tensor_result {
  std::string name, level, why;
  sora2::dtype type = sora2::dtype::f16;
  kv_shape shape;
  std::uint64_t values = 0, raw_bytes = 0, stored_bytes = 0;
  error_sums error;
  double encode_seconds = 0, decode_seconds = 0;

  [[nodiscard]] double ratio() const
  {
    return stored_bytes == 0 ? 0
                             : static_cast<double>(raw_bytes) / static_cast<double>(stored_bytes);
  }
  [[nodiscard]] double bits_per_value() const
  {
    return values == 0 ? 0 : 8 * static_cast<double>(stored_bytes) / static_cast<double>(values);
  }
  [[nodiscard]] double encode_gb_s() const { return rate(encode_seconds); }
  [[nodiscard]] double decode_gb_s() const { return rate(decode_seconds); }

 private:
  [[nodiscard]] double rate(double seconds) const
  {
    return seconds == 0 ? 0 : static_cast<double>(raw_bytes) / seconds * 1e-9;
  }
};

struct attention_result {
  std::string layer;
  error_sums error;
};

struct policy_result {
  std::string policy;
  std::vector<tensor_result> tensors;
  std::vector<attention_result> attention;
  double memcpy_gb_s = 0;

  /// The sums over all tensors; its name is "total".
  [[nodiscard]] tensor_result total() const;
  [[nodiscard]] error_sums attention_total() const;
  /// The error of all K or of all V tensors.
  [[nodiscard]] error_sums part_total(bool keys) const;
  std::vector<bool> is_key;  ///< for each tensor
};

/// `others`: the same file under other policies, for comparison; may be empty.
std::string to_text(kv_file const&, policy_result const&, std::vector<policy_result> const& others);
std::string to_json(policy_result const&);
std::string to_html(kv_file const&, policy_result const&, std::vector<policy_result> const& others);

}  // namespace program
