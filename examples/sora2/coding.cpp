#include "coding.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "failure.hpp"

namespace program {

namespace {

std::string page_name(std::string const& tensor, page_place const& p)
{
  return "tensor " + sora2::detail::in_quotes(tensor) + ", tokens " +
         std::to_string(p.first_token) + " to " +
         std::to_string(p.first_token + p.shape.tokens - 1) + " of batch " +
         std::to_string(p.batch) + ": ";
}

std::uint32_t exact_tokens_in(page_place const& p, std::uint32_t exact_tokens)
{
  return p.first_token == 0 ? exact_tokens : 0;
}

page at(page_place const& place, std::byte* data)
{
  page p = place.shape;
  p.data = data;
  return p;
}

std::size_t round_to_line(std::size_t n) { return (n + 63) / 64 * 64; }

/// Writes the page in the form that is coded when one is wished for.
void fill(kv_source const& s, page_place const& place, bool before, page const& out)
{
  bool const coded_before = s.codes_before(before);
  auto const& exact = coded_before ? s.before : s.after;
  gather(exact ? exact->data : s.reported().data, s.shape, place, out.data);
  if (!exact) rotate(out, place.first_token, *s.rotation, !coded_before);
}

double seconds_since(std::chrono::steady_clock::time_point start)
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

coded_tensor encode_source(kv_source const& source, policy const& p, demand_options const& demand)
{
  coded_tensor out;
  auto const places = pages_of(source.type, source.shape);
  if (places.empty()) return out;
  aligned_bytes const values(places[0].shape.bytes());
  std::vector<std::byte> block;
  double entropy_sum = 0;
  std::size_t entropy_pages = 0;
  for (auto const& place : places) {
    page const data = at(place, values.data());
    fill(source, place, false, data);
    auto const choice = choose(p, demand, data, source.part);
    if (source.codes_before(choice.codec->before_rope) != source.codes_before(false))
      fill(source, place, true, data);
    block.resize(choice.codec->bound(data));
    auto const n = choice.codec->write(data, block, exact_tokens_in(place, choice.exact_tokens));
    if (!n) throw failure(page_name(source.name, place) + sora2::status_name(n.error()));
    out.blocks.insert(out.blocks.end(), block.begin(),
                      block.begin() + static_cast<std::ptrdiff_t>(*n));
    ++out.pages_at[static_cast<std::size_t>(choice.level)];
    if (!p.routed) continue;
    ++out.pages_for[static_cast<std::size_t>(choice.reason)];
    if (!std::isnan(choice.entropy_bits)) {
      entropy_sum += choice.entropy_bits;
      ++entropy_pages;
    }
  }
  if (entropy_pages > 0) out.entropy_bits = entropy_sum / static_cast<double>(entropy_pages);
  return out;
}

decoded_source decode_source(sora2::view<std::byte const> blocks, kv_source const& source,
                             policy const& p)
{
  // A block is longer than its header, so these bytes hold no more pages: no list is allocated on
  // the shape's word. The tensor is, but its memory is only taken page by page.
  std::uint64_t const pages = page_count(source.shape);
  if (pages > blocks.size / sizeof(sora2::block_header))
    throw failure("tensor " + sora2::detail::in_quotes(source.name) + ": " +
                  std::to_string(blocks.size) + " bytes are too few for its " +
                  std::to_string(pages) + " pages");
  auto const places = pages_of(source.type, source.shape);
  std::vector<sora2::view<std::byte const>> found;
  sora2::view<std::byte const> rest = blocks;
  for (auto const& place : places) {
    constexpr std::size_t head = sizeof(sora2::block_header);
    if (rest.size < head) throw failure(page_name(source.name, place) + "the blocks end before it");
    std::uint32_t const stored = sora2::load_le<sora2::block_header>(rest.data).stored_bytes;
    if (stored > rest.size - head)
      throw failure(page_name(source.name, place) + "its block runs past the end");
    auto const header = sora2::read_header(rest.sub(0, head + stored), place.shape.bytes());
    if (!header) throw failure(page_name(source.name, place) + sora2::status_name(header.error()));
    if (header->raw_bytes != place.shape.bytes() ||
        header->values !=
            with_tile(place.shape, []<class T>(sora2::tile<T>) { return sora2::value_type_of<T>; }))
      throw failure(page_name(source.name, place) + sora2::status_name(sora2::status::wrong_shape));
    found.push_back(rest.sub(0, head + stored));
    rest = rest.from(head + stored);
  }
  if (!rest.empty())
    throw failure("tensor " + sora2::detail::in_quotes(source.name) + ": " +
                  std::to_string(rest.size) + " bytes after its last block");

  decoded_source out;
  std::size_t const bytes = source.shape.values() * (sora2::dtype_bits(source.type) / 8);
  bool const wants_after = source.after || source.rotation,
             wants_before = source.before.has_value();
  if (wants_after) out.after = tensor_bytes(bytes);
  if (wants_before) out.before = tensor_bytes(bytes);
  if (places.empty()) return out;
  aligned_bytes const values(places[0].shape.bytes());
  for (std::size_t i = 0; i < places.size(); ++i) {
    page const data = at(places[i], values.data());
    auto const refuse = [&](sora2::status s) {
      throw failure(page_name(source.name, places[i]) + sora2::status_name(s));
    };
    // A block lies at any address in the file; a codec may want it aligned.
    aligned_bytes const block(found[i].size);
    std::memcpy(block.data(), found[i].data, found[i].size);
    sora2::view<std::byte const> const bytes_of_block{block.data(), block.size()};
    auto const header = sora2::read_header(bytes_of_block, data.bytes());
    if (!header) refuse(header.error());
    auto const* const codec = codec_of(p, *header, data, source.part);
    if (codec == nullptr) refuse(sora2::status::wrong_format);
    std::memset(values.data(), 0xFF, values.size());
    if (auto const s = codec->read(bytes_of_block, data); s != sora2::status::ok) refuse(s);

    bool const before = source.codes_before(codec->before_rope);
    auto& same = before ? out.before : out.after;
    auto& other = before ? out.after : out.before;
    if (!same.empty()) scatter(data.data, source.shape, places[i], same);
    if (other.empty()) continue;
    rotate(data, places[i].first_token, *source.rotation, before);
    scatter(data.data, source.shape, places[i], other);
  }
  return out;
}

speeds measure(kv_source const& source, policy const& p, demand_options const& demand)
{
  auto const places = pages_of(source.type, source.shape);
  speeds best;
  if (places.empty()) return best;
  std::size_t const page_bytes = round_to_line(places[0].shape.bytes());
  bool const two_forms = source.codes_before(true) != source.codes_before(false);
  aligned_bytes const after(places.size() * page_bytes),
      before(two_forms ? places.size() * page_bytes : 1);
  std::vector<page> pages, pages_before;
  std::size_t block_bytes = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    pages.push_back(at(places[i], after.data() + i * page_bytes));
    fill(source, places[i], false, pages[i]);
    pages_before.push_back(two_forms ? at(places[i], before.data() + i * page_bytes) : pages[i]);
    if (two_forms) fill(source, places[i], true, pages_before[i]);
    auto const choice = choose(p, demand, pages[i], source.part);
    block_bytes = std::max(block_bytes, round_to_line(choice.codec->bound(pages[i])));
  }
  aligned_bytes const blocks(places.size() * block_bytes), decoded(page_bytes);
  std::vector<std::size_t> lengths(places.size());
  std::vector<page_codec const*> codecs(places.size());

  constexpr std::size_t copy_bytes = 256 * 1024, copies = 8;
  aligned_bytes const from(copy_bytes), to(copy_bytes);
  std::memset(from.data(), 1, copy_bytes);
  std::memset(to.data(), 2, copy_bytes);

  auto const start = std::chrono::steady_clock::now();
  constexpr int fewest = 3, most = 25;
  constexpr double enough_seconds = 0.15;
  for (int round = 0; round < most && (round < fewest || seconds_since(start) < enough_seconds);
       ++round) {
    auto clock = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < pages.size(); ++i) {
      auto const choice = choose(p, demand, pages[i], source.part);
      codecs[i] = choice.codec;
      page const& data = choice.codec->before_rope ? pages_before[i] : pages[i];
      auto const n = choice.codec->write(data, {blocks.data() + i * block_bytes, block_bytes},
                                         exact_tokens_in(places[i], choice.exact_tokens));
      if (!n) throw failure(page_name(source.name, places[i]) + sora2::status_name(n.error()));
      lengths[i] = *n;
    }
    double const encode = seconds_since(clock);

    clock = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < pages.size(); ++i) {
      page const out = at(places[i], decoded.data());
      auto const s = codecs[i]->read({blocks.data() + i * block_bytes, lengths[i]}, out);
      if (s != sora2::status::ok)
        throw failure(page_name(source.name, places[i]) + sora2::status_name(s));
    }
    double const decode = seconds_since(clock);

    clock = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < copies; ++i) {
      std::memcpy(to.data(), from.data(), copy_bytes);
      asm volatile("" : : "r"(to.data()) : "memory");  // the copy has a reader
    }
    double const copy_gb_s = static_cast<double>(copies * copy_bytes) / seconds_since(clock) * 1e-9;

    if (round == 0 || encode < best.encode_seconds) best.encode_seconds = encode;
    if (round == 0 || decode < best.decode_seconds) best.decode_seconds = decode;
    best.memcpy_gb_s = std::max(best.memcpy_gb_s, copy_gb_s);
  }
  return best;
}

}  // namespace program
