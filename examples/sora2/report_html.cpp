// One self-contained page: tables and plots as inline SVG, no script, nothing loaded from elsewhere.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "results.hpp"

namespace program {

namespace {

char const* const style = R"(
:root { --ink: #1c2430; --soft: #5d6b7e; --line: #d8dee7; --page: #ffffff; --card: #f5f7fa;
  --k: #2f6fb0; --v: #d9822b; --encode: #2a9d8f; --decode: #7d5ba6; --other: #8a97a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf2; --soft: #9aa8ba; --line: #364252; --page: #161b22;
  --card: #1f2630; --k: #6aa9e9; --v: #eda55d; --encode: #55c4b6; --decode: #b094d6; --other: #77869a; } }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: var(--ink); background: var(--page);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .2rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .4rem; }
p { margin: .2rem 0 .6rem; color: var(--soft); }
.cards { display: flex; flex-wrap: wrap; gap: .7rem; margin: 1rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .9rem; }
.card b { display: block; font-size: 1.25rem; } .card span { color: var(--soft); font-size: .85rem; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .soft { fill: var(--soft); } svg .grid { stroke: var(--line); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } th:first-child, td:first-child, td.text, th.text { text-align: left; }
td.text { white-space: normal; min-width: 11rem; }
tr.sum td { font-weight: 600; }
)";

std::string escape(std::string const& text)
{
  std::string out;
  for (char const c : sora2::detail::one_line(text, 200)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

template <class... Values>
std::string text(char const* format, Values... values)
{
  char out[640];
  std::snprintf(out, sizeof out, format, values...);
  return out;
}

std::string error_text(double e)
{
  if (std::isnan(e)) return "not finite";
  return e == 0 ? "0" : e < 1e-3 ? text("%.1e", e) : text("%.4f", e);
}

std::string shortened(std::string const& name, std::size_t width)
{
  std::string const shown = sora2::detail::one_line(name, 200);
  return escape(shown.size() <= width ? shown : "..." + shown.substr(shown.size() - width + 3));
}

struct bar {
  std::string label;
  double value = 0;
  std::string shown, color;
};

constexpr double width = 940, label_width = 190, value_width = 90, row_height = 20;

/// A round number of about `x` divided into four or five.
double tick_step(double x)
{
  double const magnitude = std::pow(10, std::floor(std::log10(x / 4)));
  for (double const step : {1.0, 2.0, 2.5, 5.0})
    if (x / (step * magnitude) <= 5.5) return step * magnitude;
  return 10 * magnitude;
}

/// Horizontal bars from zero; `mark` is a line across all of them, none if 0.
std::string bars(std::vector<bar> const& rows, double mark, char const* mark_label)
{
  double largest = mark;
  for (auto const& r : rows)
    if (std::isfinite(r.value)) largest = std::max(largest, r.value);
  if (largest <= 0) largest = 1;
  double const room = width - label_width - value_width, top = 22;
  double const height = top + row_height * static_cast<double>(rows.size()) + 8;
  auto const x = [&](double v) { return label_width + room * v / largest; };
  std::string out = text("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", width, height);
  double const step = tick_step(largest);
  for (double v = 0; v <= largest * 1.0001; v += step) {
    out += text("<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x(v),
                x(v), top, height - 6);
    out += text("<text class=\"soft\" x=\"%.1f\" y=\"12\" text-anchor=\"middle\">%g</text>\n", x(v),
                v);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double const y = top + row_height * static_cast<double>(i);
    double const value = std::isfinite(rows[i].value) ? rows[i].value : 0;
    out += text("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", label_width - 8, y + 14) +
           rows[i].label + "</text>";
    out += text(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" fill=\"var(--%s)\"/>",
        label_width, y + 3, std::max(1.0, x(value) - label_width), row_height - 6,
        rows[i].color.c_str());
    out += text("<text x=\"%.1f\" y=\"%.1f\">", x(value) + 6, y + 14) + rows[i].shown + "</text>\n";
  }
  if (mark > 0)
    out += text("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(--ink)\" "
                "stroke-dasharray=\"4 3\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" class=\"soft\">%s</text>",
                x(mark), x(mark), top - 4, height - 6, x(mark) - 4, top + 10, mark_label);
  return out + "</svg>\n";
}

struct dot {
  std::string label;
  double ratio = 1, error = 0;
  std::string color;
  bool large = false;
};

/// Ratio to the right, error upwards on a logarithmic scale; exact results lie on the lowest line.
std::string scatter(std::vector<dot> const& dots)
{
  double low = 1, high = 1e-6, widest = 1;
  for (auto const& d : dots) {
    widest = std::max(widest, d.ratio);
    if (!(d.error > 0) || !std::isfinite(d.error)) continue;
    low = std::min(low, d.error);
    high = std::max(high, d.error);
  }
  if (low > high) low = high = 1e-2;
  double const first = std::floor(std::log10(low)), last = std::ceil(std::log10(high) + 1e-9);
  double const left = 70, right = width - 110, top = 14, bottom = 300, exact = bottom + 24;
  auto const x = [&](double r) { return left + (right - left) * r / (widest * 1.05); };
  auto const y = [&](double e) {
    if (!(e > 0) || !std::isfinite(e)) return exact;
    return bottom - (bottom - top) * (std::log10(e) - first) / std::max(1.0, last - first);
  };
  std::string out = text("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", width, exact + 44);
  for (double decade = first; decade <= last; ++decade) {
    double const at = y(std::pow(10, decade));
    out += text("<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", left,
                right, at, at);
    out += text("<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                left - 8, at + 4, std::pow(10, decade));
  }
  out += text("<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", left, right,
              exact, exact);
  out += text("<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">exact</text>\n",
              left - 8, exact + 4);
  double const step = tick_step(widest);
  for (double r = 0; r <= widest * 1.05; r += step)
    out += text("<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n",
                x(r), exact + 20, r);
  out += text("<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">ratio</text>\n",
              (left + right) / 2, exact + 38);
  std::vector<std::pair<double, double>> labels;
  for (auto const& d : dots) {
    out +=
        text("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"var(--%s)\" "
             "fill-opacity=\"%s\"><title>",
             x(d.ratio), y(d.error), d.large ? 5.5 : 3.5, d.color.c_str(), d.large ? "1" : "0.55") +
        d.label + text(": %.2f : 1, error ", d.ratio) + error_text(d.error) + "</title></circle>\n";
  }
  // Labels go where they meet neither a large point nor another label; the first place that is free wins.
  struct box {
    double left, top, right, bottom;
    [[nodiscard]] bool meets(box const& o) const
    {
      return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
    }
  };
  std::vector<box> taken;
  for (auto const& d : dots)
    if (d.large) taken.push_back({x(d.ratio) - 6, y(d.error) - 6, x(d.ratio) + 6, y(d.error) + 6});
  for (auto const& d : dots) {
    if (!d.large) continue;
    double const wide = 7.0 * static_cast<double>(d.label.size()), px = x(d.ratio), py = y(d.error);
    auto const find_place = [&] {
      box place{};
      for (double const rise : {0.0, 17.0, -17.0, 31.0, -31.0, 45.0, -45.0, 59.0})
        for (double const side : {9.0, -9.0 - wide, -wide / 2}) {
          place = {px + side, py - rise - 7, px + side + wide, py - rise + 7};
          if (std::none_of(taken.begin(), taken.end(),
                           [&](box const& t) { return t.meets(place); }))
            return place;
        }
      return place;
    };
    box const place = find_place();
    taken.push_back(place);
    out +=
        text("<text x=\"%.1f\" y=\"%.1f\">", place.left, place.bottom - 3) + d.label + "</text>\n";
  }
  return out + "</svg>\n";
}

std::string file_name(std::string const& path) { return path.substr(path.rfind('/') + 1); }

std::string card(std::string const& value, char const* label)
{
  return "<div class=\"card\"><b>" + value + "</b><span>" + label + "</span></div>\n";
}

std::string cell(std::string const& value) { return "<td>" + value + "</td>"; }

std::string figures(tensor_result const& t)
{
  return cell(text("%llu", static_cast<unsigned long long>(t.stored_bytes))) +
         cell(text("%.3f", t.bits_per_value())) + cell(text("%.2f", t.ratio())) +
         cell(error_text(t.error.relative())) + cell(text("%.2f", t.encode_gb_s())) +
         cell(text("%.2f", t.decode_gb_s()));
}

char const* const figure_heads = "<th>bytes</th><th>bits</th><th>ratio</th><th>error</"
                                 "th><th>encode GB/s</th><th>decode GB/s</th>";

}  // namespace

std::string to_html(kv_file const& file, policy_result const& r,
                    std::vector<policy_result> const& others)
{
  tensor_result const total = r.total();
  std::vector<policy_result> every = others;
  every.push_back(r);

  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>sora2: " +
      escape(file_name(file.path)) + "</title>\n<style>" + style + "</style></head><body>\n";
  out += "<h1>" + escape(file_name(file.path)) + "</h1>\n";
  out += text("<p>policy <b>%s</b>, %.2f million values of K and V in %zu layer%s. Stored bytes "
              "count everything: block "
              "headers, scales, token headers, checksums. One core; GB = 10<sup>9</sup> bytes of "
              "the tensors' own type."
              "</p>\n",
              r.policy.c_str(), static_cast<double>(total.values) * 1e-6, file.layers.size(),
              file.layers.size() == 1 ? "" : "s");

  out += "<div class=\"cards\">\n" +
         card(text("%.3f", total.bits_per_value()), "stored bits a value") +
         card(text("%.2f : 1", total.ratio()), "ratio") +
         card(error_text(r.part_total(true).relative()), "error of K") +
         card(error_text(r.part_total(false).relative()), "error of V");
  if (!r.attention.empty())
    out += card(error_text(r.attention_total().relative()), "error of attention");
  out += card(text("%.2f", total.encode_gb_s()), "encode GB/s") +
         card(text("%.2f", total.decode_gb_s()), "decode GB/s") +
         card(text("%.1f", r.memcpy_gb_s), "memcpy GB/s, 256 KiB") + "</div>\n";

  std::vector<bar> bits, errors, speed;
  std::vector<dot> dots;
  double raw_bits = 0;
  for (std::size_t i = 0; i < r.tensors.size(); ++i) {
    auto const& t = r.tensors[i];
    std::string const color = r.is_key[i] ? "k" : "v", label = shortened(t.name, 26);
    raw_bits = std::max(raw_bits, t.values == 0 ? 0
                                                : 8 * static_cast<double>(t.raw_bytes) /
                                                      static_cast<double>(t.values));
    bits.push_back(
        {label, t.bits_per_value(), text("%.2f  ", t.bits_per_value()) + t.level, color});
    errors.push_back({label, t.error.relative(), error_text(t.error.relative()), color});
    dots.push_back({escape(r.policy + " " + t.name), t.ratio(), t.error.relative(), color, false});
  }
  for (auto const& a : r.attention)
    errors.push_back({"attention " + shortened(a.layer, 16), a.error.relative(),
                      error_text(a.error.relative()), "other"});
  double memcpy_gb_s = 0;
  for (auto const& p : every) memcpy_gb_s = std::max(memcpy_gb_s, p.memcpy_gb_s);
  for (auto const& p : every) {
    auto const t = p.total();
    dots.push_back({escape(p.policy), t.ratio(), t.error.relative(), "other", true});
    auto const share = [&](double gb_s) { return memcpy_gb_s == 0 ? 0 : 100 * gb_s / memcpy_gb_s; };
    speed.push_back({escape(p.policy) + " encode", share(t.encode_gb_s()),
                     text("%.2f GB/s", t.encode_gb_s()), "encode"});
    speed.push_back({escape(p.policy) + " decode", share(t.decode_gb_s()),
                     text("%.2f GB/s", t.decode_gb_s()), "decode"});
  }

  out += "<h2>Stored bits a value</h2>\n<p>K blue, V orange; dashed: as it came.</p>\n" +
         bars(bits, raw_bits, "as it came");
  out += "<h2>Relative error</h2>\n<p>Plain L2 error over the norm; of the attention output per "
         "layer where the file has "
         "queries and exact outputs.</p>\n" +
         bars(errors, 0, "");
  out += "<h2>Ratio and error</h2>\n<p>Large points: whole file. Small points: tensors under " +
         escape(r.policy) + ".</p>\n" + scatter(dots);
  out += text("<h2>Speed</h2>\n<p>Percent of memcpy in cache (%.1f GB/s in this run).</p>\n",
              memcpy_gb_s) +
         bars(speed, 100, "memcpy");

  if (!others.empty()) {
    out += std::string("<h2>Every level</h2>\n<div class=\"scroll\"><table><tr><th>policy</th>") +
           figure_heads + "<th>attention error</th></tr>\n";
    for (auto const& p : every)
      out += "<tr>" + cell(escape(p.policy)) + figures(p.total()) +
             cell(p.attention.empty() ? "" : error_text(p.attention_total().relative())) +
             "</tr>\n";
    out += "</table></div>\n";
  }
  out += "<h2>Tensors under " + escape(r.policy) +
         "</h2>\n<div class=\"scroll\"><table><tr><th>tensor</th><th>shape</th>"
         "<th>dtype</th><th>level</th>" +
         figure_heads + "<th class=\"text\">why</th></tr>\n";
  for (auto const& t : r.tensors)
    out += "<tr>" + cell(shortened(t.name, 40)) +
           cell(text("%zu &times; %zu &times; %zu &times; %zu", t.shape.batch, t.shape.seq,
                     t.shape.heads, t.shape.dim)) +
           cell(std::string(sora2::dtype_name(t.type))) + cell(t.level) + figures(t) +
           "<td class=\"text\">" + escape(t.why) + "</td></tr>\n";
  out += "<tr class=\"sum\">" + cell("total") + cell("") + cell("") + cell(total.level) +
         figures(total) + "<td></td></tr>\n</table></div>\n</body></html>\n";
  return out;
}

}  // namespace program
