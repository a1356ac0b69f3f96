// sora2 roundtrip, pack, unpack. A packed file is a safetensors file: where K and V stood there are the bytes of their
// blocks (U8), "sora2.tokens.LAYER" holds the token headers, everything else is as it was. Its metadata says what is
// needed to decode: sora2.policy, and for each coded tensor sora2.tensor.NAME = "DTYPE BATCH SEQ HEADS DIM".
#include <sora2/store/safetensors.hpp>

#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "coding.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "progress.hpp"

namespace program {

namespace {

constexpr std::string_view policy_key = "sora2.policy", tensor_key = "sora2.tensor.",
                           tokens_key = "sora2.tokens.";

void save(std::string const& path, std::vector<sora2::tensor_view> const& tensors,
          sora2::text_metadata const& metadata)
{
  auto const why = sora2::save_safetensors(path, tensors, metadata);
  if (why.code != sora2::status::ok) throw failure(why.message);
}

/// Decoded tensors by name, each to stand where the tensor stood.
using new_bytes = std::map<std::string, tensor_bytes>;

void take(new_bytes& out, kv_source const& source, decoded_source&& decoded)
{
  if (source.after) out[source.after->name] = std::move(decoded.after);
  if (source.before) out[source.before->name] = std::move(decoded.before);
}

/// "F16 1 2048 3 64"
std::string describe(kv_tensor const& t)
{
  std::string text{sora2::dtype_name(t.type)};
  for (auto const n : {t.shape.batch, t.shape.seq, t.shape.heads, t.shape.dim})
    text += " " + std::to_string(n);
  return text;
}

bool read_description(std::string const& text, sora2::tensor_view& out)
{
  std::istringstream in(text);
  std::string type, rest;
  out.shape.assign(4, 0);
  in >> type;
  for (auto& extent : out.shape) in >> extent;
  for (auto const& d : sora2::dtype_table)
    if (d.name == type) {
      out.type = d.type;
      return !in.fail() && !(in >> rest) && text.find('-') == std::string::npos;
    }
  return false;
}

}  // namespace

void run_roundtrip(roundtrip_options const& options)
{
  policy const& p = find_policy(options.policy);
  kv_file const file = open_kv_file(options.in);
  new_bytes bytes;
  {
    progress bar(file.layers.size());
    for (auto const& layer : file.layers) {
      bar.step(layer.name);
      for (auto const& source : sources_of(layer, file.rotation))
        take(bytes, source,
             decode_source(encode_source(source, p, options.demand).blocks, source, p));
    }
  }
  std::vector<sora2::tensor_view> tensors(file.file.tensors().begin(), file.file.tensors().end());
  for (auto& t : tensors)
    if (auto const found = bytes.find(t.name); found != bytes.end()) t.data = found->second;
  save(options.out, tensors, file.file.metadata());
}

void run_pack(roundtrip_options const& options)
{
  policy const& p = find_policy(options.policy);
  kv_file const file = open_kv_file(options.in);
  std::map<std::string, std::vector<std::byte>> bytes;  // blocks by the name of their tensor
  sora2::text_metadata metadata = file.file.metadata();
  metadata.emplace_back(policy_key, p.name);
  std::vector<std::pair<std::string, std::vector<token_run>>> headers;
  {
    progress bar(file.layers.size());
    for (auto const& layer : file.layers) {
      bar.step(layer.name);
      auto const sources = sources_of(layer, file.rotation);
      headers.emplace_back(std::string(tokens_key) + layer.name, token_runs(sources[0]));
      for (auto const& source : sources) {
        for (auto const& form : {source.after, source.before})
          if (form) {
            metadata.emplace_back(std::string(tensor_key) + form->name, describe(*form));
            bytes[form->name] = {};  // the form that is not reported is derived from the other
          }
        bytes[source.name] = encode_source(source, p, options.demand).blocks;
      }
    }
  }
  std::vector<sora2::tensor_view> tensors(file.file.tensors().begin(), file.file.tensors().end());
  for (auto& t : tensors)
    if (auto const found = bytes.find(t.name); found != bytes.end()) {
      t.type = sora2::dtype::u8;
      t.shape = {found->second.size()};
      t.data = found->second;
    }
  for (auto const& [name, runs] : headers) {
    sora2::view<token_run const> const records(runs);
    tensors.push_back({name, sora2::dtype::u8, {records.bytes()}, sora2::as_bytes(records)});
  }
  save(options.out, tensors, metadata);
}

void run_unpack(std::string const& in, std::string const& out)
{
  std::string const path = sora2::detail::one_line(in, 4096);
  auto const opened = sora2::safetensors_file::open(in);
  if (!opened) throw failure(opened.error().message);
  auto const* const policy_name = opened->find_metadata(policy_key);
  if (policy_name == nullptr) throw failure(path + ": is not a packed file");
  policy const& p = [&]() -> policy const& {
    try {
      return find_policy(*policy_name);
    } catch (failure const& e) {
      throw failure(path + ": " + e.what());
    }
  }();

  sora2::text_metadata metadata;
  std::vector<sora2::tensor_view> coded;
  for (auto const& [key, value] : opened->metadata()) {
    if (!key.starts_with("sora2.")) metadata.emplace_back(key, value);
    if (!key.starts_with(tensor_key)) continue;
    sora2::tensor_view t;
    t.name = key.substr(tensor_key.size());
    auto const* const blocks = opened->find(t.name);
    if (blocks == nullptr || blocks->type != sora2::dtype::u8 || !read_description(value, t))
      throw failure(path + ": metadata " + sora2::detail::in_quotes(key) +
                    " does not describe packed blocks");
    coded.push_back(std::move(t));
  }

  new_bytes bytes;
  auto const rotation = find_rope(*opened);
  std::vector<std::string> header_names;
  for (auto const& layer : find_layers(path, coded)) {
    auto const sources = sources_of(layer, rotation);
    header_names.push_back(std::string(tokens_key) + layer.name);
    for (auto const& source : sources) {
      try {
        take(bytes, source, decode_source(opened->find(source.name)->data, source, p));
      } catch (failure const& e) {
        throw failure(path + ": " + e.what());
      }
    }
    // Only now is the shape known to be true.
    auto const* const records = opened->find(header_names.back());
    auto const runs = token_runs(sources[0]);
    if (records == nullptr || records->data.size != runs.size() * sizeof(token_run) ||
        (!runs.empty() && std::memcmp(records->data.data, runs.data(), records->data.size) != 0))
      throw failure(path + ": tensor " + sora2::detail::in_quotes(header_names.back()) +
                    " does not hold the token headers of its layer");
  }

  std::vector<sora2::tensor_view> tensors;
  for (auto t : opened->tensors()) {
    // Blocks that no metadata speaks of would pass for a tensor of bytes.
    bool const described = bytes.find(t.name) != bytes.end();
    if (names_kv(t.name) && !described)
      throw failure(path + ": no metadata describes the blocks of tensor " +
                    sora2::detail::in_quotes(t.name));
    bool dropped = false;
    for (auto const& name : header_names) dropped = dropped || t.name == name;
    if (dropped) continue;
    if (auto const found = bytes.find(t.name); found != bytes.end()) {
      for (auto const& c : coded)
        if (c.name == t.name) {
          t.type = c.type;
          t.shape = c.shape;
        }
      t.data = found->second;
    }
    tensors.push_back(std::move(t));
  }
  save(out, tensors, metadata);
}

}  // namespace program
