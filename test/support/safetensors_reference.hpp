// Slow, obvious verdicts on safetensors bytes: a general JSON library and one byte map. Needs
// nlohmann-json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sora2_test {

__extension__ typedef unsigned __int128 wide_uint;

inline bool safetensors_reference_accepts(std::vector<std::byte> const& file)
{
  static std::map<std::string, unsigned> const bits = {
      {"BOOL", 8},        {"F4", 4},         {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
      {"I8", 8},          {"I16", 16},       {"U16", 16},    {"F16", 16},    {"BF16", 16},
      {"I32", 32},        {"U32", 32},       {"F32", 32},    {"C64", 64},    {"F64", 64},
      {"I64", 64},        {"U64", 64},       {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},
      {"F8_E5M2FNUZ", 8}, {"F8_E4M3FNUZ", 8}};
  if (file.size() < 8) return false;
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  if (length == 0 || length > 100'000'000 || length > file.size() - 8) return false;
  std::string const text(reinterpret_cast<char const*>(file.data()) + 8, length);
  if (text[0] != '{' || text.find('\0') != std::string::npos) return false;

  bool repeated = false;
  std::vector<std::set<std::string>> open_objects;
  auto const header = nlohmann::json::parse(
      text,
      [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
        if (event == nlohmann::json::parse_event_t::object_start) open_objects.emplace_back();
        if (event == nlohmann::json::parse_event_t::object_end) open_objects.pop_back();
        if (event == nlohmann::json::parse_event_t::key)
          repeated = !open_objects.back().insert(parsed.get<std::string>()).second || repeated;
        return true;
      },
      false);
  if (header.is_discarded() || !header.is_object() || repeated) return false;

  std::size_t const data_bytes = file.size() - 8 - length;
  std::vector<int> owners(data_bytes, 0);
  for (auto const& [name, entry] : header.items()) {
    if (!entry.is_object()) return false;
    if (name == "__metadata__") {
      for (auto const& value : entry)
        if (!value.is_string()) return false;
      continue;
    }
    if (entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets"))
      return false;
    auto const &type = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
    if (!type.is_string() || !bits.contains(type.get<std::string>())) return false;
    if (!shape.is_array() || shape.size() > 64 || !offsets.is_array() || offsets.size() != 2)
      return false;
    for (auto const& x : shape)
      if (!x.is_number_unsigned()) return false;
    for (auto const& x : offsets)
      if (!x.is_number_unsigned()) return false;
    std::uint64_t const begin = offsets[0], end = offsets[1];
    if (end < begin || end > data_bytes) return false;
    bool zero = false;
    for (auto const& x : shape) zero = zero || x == 0u;
    wide_uint total = zero ? 0 : bits.at(type.get<std::string>());
    for (auto const& x : shape) {
      if (!zero) total *= x.get<std::uint64_t>();
      if (total > UINT64_MAX) return false;
    }
    if (total != static_cast<wide_uint>(end - begin) * 8) return false;
    for (std::uint64_t i = begin; i < end; ++i) ++owners[i];
    if (begin == end && begin > 0 && begin < data_bytes) {
      // An empty tensor may lie between others but not inside one: checked below against every
      // other tensor.
      for (auto const& [other_name, other] : header.items())
        if (other_name != "__metadata__" && other.is_object() && other.contains("data_offsets")) {
          auto const& o = other["data_offsets"];
          if (o.is_array() && o.size() == 2 && o[0].is_number_unsigned() &&
              o[1].is_number_unsigned() && o[0].get<std::uint64_t>() < begin &&
              begin < o[1].get<std::uint64_t>())
            return false;
        }
    }
  }
  for (int const n : owners)
    if (n != 1) return false;
  return true;
}

}  // namespace sora2_test
