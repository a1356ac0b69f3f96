#include "kv_file.hpp"

#include <sora2/core/bits.hpp>
#include <sora2/core/float16.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "failure.hpp"

namespace program {

namespace {

enum class part { none, k, kpre, v, q, out };

part part_of(std::string_view word)
{
  if (word == "k" || word == "key" || word == "keys") return part::k;
  if (word == "v" || word == "value" || word == "values") return part::v;
  if (word == "kpre") return part::kpre;
  if (word == "q") return part::q;
  if (word == "out") return part::out;
  return part::none;
}

/// What a tensor is, and its name without the word that says so.
part split_name(std::string const& name, std::string& layer)
{
  for (std::size_t begin = 0; begin <= name.size();) {
    std::size_t const end = std::min(name.find('.', begin), name.size());
    part const found = part_of(std::string_view(name).substr(begin, end - begin));
    if (found != part::none) {
      layer = name.substr(0, begin) + (end < name.size() ? name.substr(end + 1) : "");
      if (end == name.size() && !layer.empty()) layer.pop_back();
      return found;
    }
    begin = end + 1;
  }
  return part::none;
}

std::string name_in(std::string const& path, std::string const& tensor)
{
  return sora2::detail::one_line(path, 4096) + ": tensor " + sora2::detail::in_quotes(tensor) +
         ": ";
}

std::string shape_text(std::vector<std::uint64_t> const& shape)
{
  return sora2::detail::shape_text(shape);
}

kv_tensor check_tensor(std::string const& path, sora2::tensor_view const& t)
{
  using sora2::dtype;
  if (t.type != dtype::f16 && t.type != dtype::bf16 && t.type != dtype::f32)
    throw failure(name_in(path, t.name) + "dtype " + std::string(sora2::dtype_name(t.type)) +
                  " is none of F16, BF16, F32");
  if (t.shape.size() != 4)
    throw failure(name_in(path, t.name) + "shape " + shape_text(t.shape) +
                  " is not [batch, seq, heads, dim]");
  kv_tensor out{t.name, t.type, {}, t.data};
  // The data bounds the extents, unless one of them is zero.
  for (auto const extent : t.shape)
    if (extent > 0xFFFFFFFFu || !sora2::tensor_bytes(t.type, t.shape))
      throw failure(name_in(path, t.name) + "shape " + shape_text(t.shape) + " is too large");
  if (t.shape[3] > 65535)
    throw failure(name_in(path, t.name) + "dim " + std::to_string(t.shape[3]) + " is above 65535");
  out.shape = {t.shape[0], t.shape[1], t.shape[2], t.shape[3]};
  return out;
}

void check_together(std::string const& path, kv_layer const& layer)
{
  auto const same_tokens = [](kv_tensor const& a, kv_tensor const& b) {
    return a.shape.batch == b.shape.batch && a.shape.seq == b.shape.seq;
  };
  auto const misfit = [&](kv_tensor const& t, std::string const& what) {
    throw failure(name_in(path, t.name) + what);
  };
  if (layer.k && layer.v && !same_tokens(*layer.k, *layer.v))
    misfit(*layer.v, "batch and seq differ from those of its K");
  if (layer.k && layer.kpre &&
      (!same_tokens(*layer.k, *layer.kpre) || layer.k->shape.heads != layer.kpre->shape.heads ||
       layer.k->shape.dim != layer.kpre->shape.dim || layer.k->type != layer.kpre->type))
    misfit(*layer.kpre, "shape or dtype differ from those of K after RoPE");
  if (layer.kpre && layer.v && !same_tokens(*layer.kpre, *layer.v))
    misfit(*layer.v, "batch and seq differ from those of its K");
  if (!layer.q || !layer.out || !layer.v || (!layer.k && !layer.kpre)) return;
  kv_shape const &q = layer.q->shape, &out = layer.out->shape, &v = layer.v->shape;
  kv_shape const& k = layer.k ? layer.k->shape : layer.kpre->shape;
  if (q.batch != k.batch || q.seq > k.seq || q.dim != k.dim || k.heads == 0 ||
      q.heads % k.heads != 0 || v.heads != k.heads)
    misfit(*layer.q, "does not fit its K and V");
  if (out.batch != q.batch || out.seq != q.seq || out.heads != q.heads || out.dim != v.dim)
    misfit(*layer.out, "does not fit its queries and V");
}

template <class T>
void append_numbers(sora2::view<std::byte const> data, std::vector<double>& out)
{
  for (std::size_t i = 0; i + sizeof(T) <= data.size; i += sizeof(T))
    out.push_back(sora2::to_float(sora2::load_le<T>(data.data + i)));
}

template <class T>
void turn(page const& p, std::vector<double> const& cosine, std::vector<double> const& sine)
{
  std::size_t const half = p.dim / 2;
  for (std::size_t row = 0; row < std::size_t{p.heads} * p.tokens; ++row) {
    T* const x = reinterpret_cast<T*>(p.data) + row * p.dim;
    std::size_t const angles = row % p.tokens * half;
    for (std::size_t c = 0; c < half; ++c) {
      double const cs = cosine[angles + c], sn = sine[angles + c];
      double const u = sora2::to_float(x[c]), w = sora2::to_float(x[c + half]);
      x[c] = sora2::from_float<T>(static_cast<float>(u * cs - w * sn));
      x[c + half] = sora2::from_float<T>(static_cast<float>(w * cs + u * sn));
    }
  }
}

template <class Copy>
void each_row(kv_shape const& shape, page_place const& p, Copy&& copy)
{
  std::size_t const row = p.shape.dim * (sora2::dtype_bits(p.shape.type) / 8);
  for (std::size_t h = 0; h < p.shape.heads; ++h)
    for (std::size_t t = 0; t < p.shape.tokens; ++t) {
      std::size_t const in_tensor =
          ((p.batch * shape.seq + p.first_token + t) * shape.heads + p.first_head + h) * row;
      copy(in_tensor, (h * p.shape.tokens + t) * row, row);
    }
}

}  // namespace

std::optional<rope> find_rope(sora2::safetensors_file const& file)
{
  auto const* kind = file.find_metadata("rope_kind");
  auto const* base = file.find_metadata("rope_base");
  std::string_view number;
  if (kind != nullptr && base != nullptr && *kind == "half-split")
    number = *base;
  else if (auto const* text = file.find_metadata("rope"); text != nullptr) {
    // "half-split, base 100000, position 0 = first token"
    std::size_t const at = text->find("base ");
    if (text->starts_with("half-split") && at != std::string::npos)
      number = std::string_view(*text).substr(at + 5);
  }
  double value = 0;
  auto const parsed = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || parsed.ec != std::errc{} || !(value > 1) || !std::isfinite(value))
    return std::nullopt;
  return rope{value};
}

bool names_kv(std::string const& tensor)
{
  std::string layer;
  part const what = split_name(tensor, layer);
  return what == part::k || what == part::kpre || what == part::v;
}

std::vector<kv_layer> find_layers(std::string const& path,
                                  sora2::view<sora2::tensor_view const> tensors)
{
  std::vector<kv_layer> layers;
  for (auto const& t : tensors) {
    std::string layer_name;
    part const what = split_name(t.name, layer_name);
    if (what == part::none) continue;
    auto layer = std::find_if(layers.begin(), layers.end(),
                              [&](kv_layer const& l) { return l.name == layer_name; });
    if (layer == layers.end()) {
      layer = layers.insert(layer, kv_layer{});
      layer->name = layer_name;
    }
    auto& slot = what == part::k      ? layer->k
                 : what == part::kpre ? layer->kpre
                 : what == part::v    ? layer->v
                 : what == part::q    ? layer->q
                                      : layer->out;
    if (slot)
      throw failure(name_in(path, t.name) + "is the same part of its layer as " +
                    sora2::detail::in_quotes(slot->name));
    slot = check_tensor(path, t);
  }
  std::erase_if(layers, [](kv_layer const& l) { return !l.k && !l.kpre && !l.v; });
  std::sort(layers.begin(), layers.end(),
            [](kv_layer const& a, kv_layer const& b) { return a.name < b.name; });
  for (auto const& layer : layers) check_together(path, layer);
  return layers;
}

kv_file open_kv_file(std::string const& path)
{
  auto opened = sora2::safetensors_file::open(path);
  if (!opened) throw failure(opened.error().message);
  for (auto const& [key, value] : opened->metadata())
    if (key.starts_with("sora2."))
      throw failure(sora2::detail::one_line(path, 4096) + ": is already packed");
  kv_file out{path, std::move(*opened), {}, {}};
  out.layers = find_layers(path, out.file.tensors());
  out.rotation = find_rope(out.file);
  if (out.layers.empty())
    throw failure(
        sora2::detail::one_line(path, 4096) +
        ": holds no K or V tensors (names like k.L00 and v.L00, shape [batch, seq, heads, dim])");
  return out;
}

std::vector<double> to_numbers(kv_tensor const& t)
{
  std::vector<double> out;
  out.reserve(t.shape.values());
  if (t.type == sora2::dtype::f32)
    append_numbers<float>(t.data, out);
  else if (t.type == sora2::dtype::bf16)
    append_numbers<sora2::bfloat16>(t.data, out);
  else
    append_numbers<sora2::float16>(t.data, out);
  return out;
}

namespace {

/// Heads of one page. A block numbers its planes with one byte.
std::size_t heads_in_group(kv_shape const& shape)
{
  return std::clamp<std::size_t>(page_channels / shape.dim, 1, 255);
}

}  // namespace

std::uint64_t page_count(kv_shape const& shape)
{
  if (shape.values() == 0) return 0;
  std::uint64_t const extents[] = {
      shape.batch, sora2::div_up<std::uint64_t>(shape.seq, page_tokens),
      sora2::div_up<std::uint64_t>(shape.heads, heads_in_group(shape))};
  return sora2::value_count({extents, 3}).value_or(UINT64_MAX);
}

std::vector<page_place> pages_of(sora2::dtype type, kv_shape const& shape)
{
  std::vector<page_place> pages;
  if (shape.values() == 0) return pages;
  std::size_t const group = heads_in_group(shape);
  for (std::size_t b = 0; b < shape.batch; ++b)
    for (std::size_t t = 0; t < shape.seq; t += page_tokens)
      for (std::size_t h = 0; h < shape.heads; h += group) {
        page_place place{b, t, h, {}};
        place.shape.type = type;
        place.shape.heads = static_cast<std::uint32_t>(std::min(group, shape.heads - h));
        place.shape.tokens =
            static_cast<std::uint32_t>(std::min<std::size_t>(page_tokens, shape.seq - t));
        place.shape.dim = static_cast<std::uint32_t>(shape.dim);
        pages.push_back(place);
      }
  return pages;
}

void gather(sora2::view<std::byte const> tensor, kv_shape const& shape, page_place const& place,
            std::byte* page_data)
{
  each_row(shape, place, [&](std::size_t in_tensor, std::size_t in_page, std::size_t bytes) {
    std::memcpy(page_data + in_page, tensor.data + in_tensor, bytes);
  });
}

void scatter(std::byte const* page_data, kv_shape const& shape, page_place const& place,
             sora2::view<std::byte> tensor)
{
  each_row(shape, place, [&](std::size_t in_tensor, std::size_t in_page, std::size_t bytes) {
    std::memcpy(tensor.data + in_tensor, page_data + in_page, bytes);
  });
}

void rotate(page const& p, std::size_t first_token, rope const& r, bool forward)
{
  std::size_t const half = p.dim / 2;
  std::vector<double> cosine(p.tokens * half), sine(p.tokens * half);
  for (std::size_t c = 0; c < half; ++c) {
    double const turn =
        std::pow(r.base, -2.0 * static_cast<double>(c) / p.dim) * (forward ? 1 : -1);
    for (std::size_t t = 0; t < p.tokens; ++t) {
      double const angle = static_cast<double>(first_token + t) * turn;
      cosine[t * half + c] = std::cos(angle);
      sine[t * half + c] = std::sin(angle);
    }
  }
  if (p.type == sora2::dtype::f32)
    turn<float>(p, cosine, sine);
  else if (p.type == sora2::dtype::bf16)
    turn<sora2::bfloat16>(p, cosine, sine);
  else
    turn<sora2::float16>(p, cosine, sine);
}

std::vector<kv_source> sources_of(kv_layer const& layer, std::optional<rope> const& rotation)
{
  std::vector<kv_source> out;
  auto const add = [&](role part, std::optional<kv_tensor> const& after,
                       std::optional<kv_tensor> const& before, std::optional<rope> const& turn) {
    kv_source s;
    s.part = part;
    s.after = after;
    s.before = before;
    s.rotation = turn;
    s.name = s.reported().name;
    s.type = s.reported().type;
    s.shape = s.reported().shape;
    out.push_back(std::move(s));
  };
  if (layer.k && layer.kpre && !rotation) {
    // Without RoPE neither gives the other: two tensors.
    add(role::key, layer.k, {}, {});
    add(role::key, {}, layer.kpre, {});
  } else if (layer.k || layer.kpre) {
    add(role::key, layer.k, layer.kpre, rotation);
  }
  if (layer.v) add(role::value, layer.v, {}, {});
  return out;
}

std::vector<token_run> token_runs(kv_source const& s)
{
  std::vector<token_run> runs;
  for (auto const& place : pages_of(s.type, s.shape)) {
    if (place.first_head != 0) continue;
    token_run run;
    run.offset_step = static_cast<std::uint16_t>(s.shape.dim * (sora2::dtype_bits(s.type) / 8) / 2);
    run.tokens = static_cast<std::uint16_t>(place.shape.tokens);
    run.sequence = static_cast<std::uint8_t>(place.batch);
    runs.push_back(run);
  }
  return runs;
}

}  // namespace program
