// What a safetensors file holds for this program: layers of K and V, and what else belongs to them.
#pragma once

#include <sora2/store/safetensors.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "page_codec.hpp"

namespace program {

/// [batch, seq, heads, dim], row-major.
struct kv_shape {
  std::size_t batch = 0, seq = 0, heads = 0, dim = 0;

  [[nodiscard]] std::size_t values() const { return batch * seq * heads * dim; }
};

struct kv_tensor {
  std::string name;
  sora2::dtype type = sora2::dtype::f16;
  kv_shape shape;
  sora2::view<std::byte const> data;

  [[nodiscard]] std::size_t bytes() const { return data.size; }
};

/// Rotary position embedding in half-split order: channel c turns with channel c + dim/2. Position
/// 0 is the first token.
struct rope {
  double base = 0;
};

struct kv_layer {
  std::string name;
  std::optional<kv_tensor> k, kpre, v;  ///< K after RoPE, K before it, V
  std::optional<kv_tensor> q,
      out;  ///< queries of the last positions and their exact attention output
};

struct kv_file {
  std::string path;
  sora2::safetensors_file file;
  std::vector<kv_layer> layers;
  std::optional<rope> rotation;
};

/// Opens a file and finds its layers. A tensor belongs to K, V, K before RoPE, queries or outputs
/// when a part of its name between dots is k, key or keys; v, value or values; kpre; q; out. The
/// rest of the name is the layer. Throws `failure` for whatever does not fit.
kv_file open_kv_file(std::string const& path);

/// The layers of tensors that are not looked into: their data may be absent. `path` stands in
/// messages.
std::vector<kv_layer> find_layers(std::string const& path, sora2::view<sora2::tensor_view const>);

/// Whether a tensor of this name is coded: K, K before RoPE or V.
bool names_kv(std::string const& tensor);

/// What a file says about RoPE: metadata rope_kind "half-split" and rope_base, or rope "half-split,
/// base NUMBER, ...".
std::optional<rope> find_rope(sora2::safetensors_file const&);

/// Numbers of a tensor as double, in file order.
std::vector<double> to_numbers(kv_tensor const&);

/// Pages of a tensor: 64 tokens, as many heads as make up to 256 channels. They count batch by
/// batch, then by position.
inline constexpr std::uint32_t page_tokens = 64, page_channels = 256;

struct page_place {
  std::size_t batch = 0, first_token = 0, first_head = 0;
  page shape;  ///< without data
};

std::vector<page_place> pages_of(sora2::dtype, kv_shape const&);

/// How many there are; no memory is needed to tell. Saturates at 2^64 - 1.
std::uint64_t page_count(kv_shape const&);

/// Between the tensor's order [token][head][channel] and the page's [head][token][channel].
void gather(sora2::view<std::byte const> tensor, kv_shape const&, page_place const&,
            std::byte* page_data);
void scatter(std::byte const* page_data, kv_shape const&, page_place const&,
             sora2::view<std::byte> tensor);

/// Turns the K of a page by its positions, or back. Rounds to the page's own type.
void rotate(page const&, std::size_t first_token, rope const&, bool forward);

enum class role : std::uint8_t { key, value };

/// What is stored once: V, or K in the forms the file has. Where RoPE is known, each form of K
/// gives the other.
struct kv_source {
  role part = role::value;
  std::string name;  ///< of the tensor it is reported as
  sora2::dtype type = sora2::dtype::f16;
  kv_shape shape;
  std::optional<kv_tensor> after, before;  ///< K after and before RoPE; V is in `after`
  std::optional<rope> rotation;

  [[nodiscard]] kv_tensor const& reported() const { return after ? *after : *before; }
  [[nodiscard]] bool has_after() const { return after || rotation; }
  [[nodiscard]] bool has_before() const { return before || (rotation && part == role::key); }
  /// The form that is coded when one is wished for.
  [[nodiscard]] bool codes_before(bool wished) const
  {
    return wished ? has_before() : !has_after();
  }
};

std::vector<kv_source> sources_of(kv_layer const&, std::optional<rope> const&);

/// The record of a page's tokens, shared by K, V and all heads: tokens that follow one another, are
/// all valid and belong to one sequence are a run of 8 bytes.
struct token_run {
  std::uint16_t first_offset =
      0;  ///< of the first token's row in a head of the page, in units of 16 bits
  std::uint16_t offset_step = 0;  ///< from one token to the next, in the same units
  std::uint16_t tokens = 0;
  std::uint8_t valid = 1;
  std::uint8_t sequence = 0;  ///< the batch, modulo 256
};
static_assert(sizeof(token_run) == 8);

/// The records of a layer, batch by batch and page by page; of the first of its sources.
std::vector<token_run> token_runs(kv_source const&);

}  // namespace program
