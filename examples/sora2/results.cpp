#include "results.hpp"

#include <nlohmann/json.hpp>

#include <sora2/core/version.hpp>

#include <cstdarg>
#include <cstdio>

namespace program {

tensor_result policy_result::total() const
{
  tensor_result sum;
  sum.name = "total";
  for (auto const& t : tensors) {
    sum.values += t.values;
    sum.raw_bytes += t.raw_bytes;
    sum.stored_bytes += t.stored_bytes;
    sum.error.add(t.error);
    sum.encode_seconds += t.encode_seconds;
    sum.decode_seconds += t.decode_seconds;
    if (sum.level.empty()) sum.level = t.level;
    if (sum.level != t.level) sum.level = "mixed";
  }
  return sum;
}

error_sums policy_result::attention_total() const
{
  error_sums sum;
  for (auto const& a : attention) sum.add(a.error);
  return sum;
}

error_sums policy_result::part_total(bool keys) const
{
  error_sums sum;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (is_key[i] == keys) sum.add(tensors[i].error);
  return sum;
}

std::string to_json(policy_result const& r)
{
  using json = nlohmann::ordered_json;
  auto const sums = [](json& out, tensor_result const& t) {
    out["values"] = t.values;
    out["level"] = t.level;
    out["stored_bytes"] = t.stored_bytes;
    out["ratio"] = t.ratio();
    out["bits_per_value"] = t.bits_per_value();
    out["relative_error"] = t.error.relative();
    out["encode_gb_s"] = t.encode_gb_s();
    out["decode_gb_s"] = t.decode_gb_s();
  };
  json out;
  out["format_version"] = SORA2_FORMAT_VERSION;
  out["policy"] = r.policy;
  out["tensors"] = json::array();
  for (auto const& t : r.tensors) {
    json entry;
    entry["name"] = t.name;
    entry["shape"] = {t.shape.batch, t.shape.seq, t.shape.heads, t.shape.dim};
    entry["dtype"] = sora2::dtype_name(t.type);
    sums(entry, t);
    out["tensors"].push_back(std::move(entry));
  }
  out["attention"] = json::array();
  for (auto const& a : r.attention)
    out["attention"].push_back({{"layer", a.layer}, {"relative_error", a.error.relative()}});
  out["total"] = json::object();
  sums(out["total"], r.total());
  out["memcpy_gb_s"] = r.memcpy_gb_s;
  return out.dump(2) + "\n";
}

namespace {

[[gnu::format(printf, 2, 3)]] void line(std::string& out, char const* format, ...)
{
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out += text;
}

std::string short_error(double e)
{
  char text[32];
  if (std::isnan(e)) return "-";
  std::snprintf(text, sizeof text, e == 0 ? "0" : e < 1e-3 ? "%.1e" : "%.4f", e);
  return text;
}

std::string short_name(std::string const& name, std::size_t width)
{
  std::string const shown = sora2::detail::one_line(name, 200);
  return shown.size() <= width ? shown : "..." + shown.substr(shown.size() - width + 3);
}

}  // namespace

std::string to_text(kv_file const& file, policy_result const& r,
                    std::vector<policy_result> const& others)
{
  std::string out;
  tensor_result const total = r.total();
  line(out, "%s: %.2f million values of K and V in %zu layer%s, %.2f MB\n",
       sora2::detail::one_line(file.path, 300).c_str(), static_cast<double>(total.values) * 1e-6,
       file.layers.size(), file.layers.size() == 1 ? "" : "s",
       static_cast<double>(total.raw_bytes) * 1e-6);
  line(out,
       "one core, pages of 64 tokens; memcpy in cache %.1f GB/s; GB = 10^9 bytes of the tensors' "
       "own type\n\n",
       r.memcpy_gb_s);

  if (!others.empty()) {
    line(out, "%-14s %6s %7s %9s %9s %9s %8s %8s\n", "every level", "bits", "ratio", "K error",
         "V error", "attention", "encode", "decode");
    auto const row = [&](policy_result const& p) {
      tensor_result const t = p.total();
      line(out, "%-14s %6.3f %6.2f:1 %9s %9s %9s %8.2f %8.2f\n", p.policy.c_str(),
           t.bits_per_value(), t.ratio(), short_error(p.part_total(true).relative()).c_str(),
           short_error(p.part_total(false).relative()).c_str(),
           p.attention.empty() ? "-" : short_error(p.attention_total().relative()).c_str(),
           t.encode_gb_s(), t.decode_gb_s());
    };
    for (auto const& p : others) row(p);
    row(r);
    out += '\n';
  }

  line(out, "%-18s %-7s %10s %6s %7s %9s %8s %8s  %s\n", ("policy " + r.policy).c_str(), "level",
       "bytes", "bits", "ratio", "error", "encode", "decode", "why");
  auto const row = [&](tensor_result const& t) {
    line(out, "%-18s %-7s %10llu %6.3f %6.2f:1 %9s %8.2f %8.2f  %s\n",
         short_name(t.name, 18).c_str(), t.level.c_str(),
         static_cast<unsigned long long>(t.stored_bytes), t.bits_per_value(), t.ratio(),
         short_error(t.error.relative()).c_str(), t.encode_gb_s(), t.decode_gb_s(), t.why.c_str());
  };
  for (auto const& t : r.tensors) row(t);
  row(total);
  if (!r.attention.empty()) {
    out += "\nattention error";
    for (auto const& a : r.attention)
      out += "  " + short_name(a.layer, 24) + " " + short_error(a.error.relative());
    out += "\n";
  }
  return out;
}

}  // namespace program
