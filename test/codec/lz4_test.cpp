#include <sora2/codec/lz4.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <sora2/codec/block.hpp>
#include <sora2/codec/bulk.hpp>
#include <sora2/simt/audit_warp.hpp>
#include <support/byte_pages.hpp>
#include <support/lz4_pages.hpp>
#include <support/lz4_reference.hpp>
#include <support/warps.hpp>

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(SORA2_HAS_LZ4)
#include <lz4.h>
#endif

namespace {

using namespace sora2;
using bytes = std::vector<std::byte>;

/// Calls f(warp) with the host's warps, where scalar code does the work, and with one that takes the lanes.
template <class F>
void on_warps(F&& f)
{
  for (isa set : {isa::portable, isa::avx2, isa::avx512})
    if (set <= best_isa()) with_warp(set, f);
  f(support::kernel_like_warp{});
}

/// What every warp must agree on: the verdict and, if good, the bytes.
struct outcome {
  status what = status::ok;
  bytes out;
  friend bool operator==(outcome const&, outcome const&) = default;
};

/// Heap memory of exactly `size` bytes, all of them `fill`.
struct exact_room {
  std::unique_ptr<std::byte[]> data;
  std::size_t size;

  exact_room(std::size_t n, std::byte fill) : data(new std::byte[n]), size(n)
  {
    std::fill(data.get(), data.get() + n, fill);
  }
  view<std::byte> room() const { return {data.get(), size}; }
};

template <class Warp>
outcome decoded(Warp const& w, view<std::byte const> block, std::size_t capacity,
                bool front = false, view<std::byte const> dictionary = {},
                std::byte fill = std::byte{0xA5})
{
  support::exact_copy const in(block);
  exact_room const out(capacity, fill);
  auto const n = front ? lz4<>::decode_front(w, in, out.room(), dictionary)
                       : lz4<>::decode_whole(w, in, out.room(), dictionary);
  if (!n) return {n.error(), {}};
  REQUIRE(*n <= capacity);
  return {status::ok, bytes(out.data.get(), out.data.get() + *n)};
}
/// The same from the scalar twin in both its instruction sets and from the lanes, with different old contents of the output.
outcome decoded(view<std::byte const> block, std::size_t capacity, bool front = false,
                view<std::byte const> dictionary = {})
{
  outcome const first = decoded(host_warp{}, block, capacity, front, dictionary);
  unsigned fill = 0;
  on_warps([&](auto const& w) {
    fill += 0x5C;
    REQUIRE(decoded(w, block, capacity, front, dictionary, static_cast<std::byte>(fill)) == first);
  });
  return first;
}

/// One copy of the encoder for each kind of warp: the lanes' is large.
template <class Codec, class Warp>
[[gnu::noinline]] result<std::size_t> encode_to(Warp const& w, view<std::byte const> page,
                                                view<std::byte> room, model_t<Codec> const& m = {})
{
  auto const s = std::make_unique<typename Codec::template scratch<Warp>>();
  return encode_with<Codec>(w, *s, page, room, m);
}
template <class Codec = lz4<>, class Warp>
bytes encoded(Warp const& w, view<std::byte const> page, model_t<Codec> const& m = {})
{
  support::exact_copy const in(page);
  exact_room const out(Codec::encoded_bound(page.size), std::byte{0x11});
  auto const n = encode_to<Codec>(w, in, out.room(), m);
  REQUIRE(n);
  REQUIRE(*n <= out.size);
  return {out.data.get(), out.data.get() + *n};
}
/// Encodes by scalar code and, if wanted, by lanes; checks that they agree, that the block keeps the rules and comes back.
template <class Codec = lz4<>, bool by_lanes = true>
bytes packed(view<std::byte const> page)
{
  bytes const block = encoded<Codec>(host_warp{}, page);
  if constexpr (by_lanes) REQUIRE(encoded<Codec>(support::kernel_like_warp{}, page) == block);
  auto const slow = support::slow_lz4(block);
  REQUIRE(slow.legal);
  REQUIRE(slow.ends_as_encoders_must);
  REQUIRE(slow.out == bytes(page.begin(), page.end()));
  REQUIRE(decoded(block, page.size) == outcome{status::ok, slow.out});
  return block;
}

using support::mixture;
using support::repeated;
using support::text;

bytes case_file(std::string const& name)
{
  bool found = false;
  bytes content = support::file_bytes(SORA2_TEST_DATA_DIR "/lz4/" + name, found);
  REQUIRE_MESSAGE(found, name);
  return content;
}
struct listed_case {
  std::string id, file, call, expect;
  std::size_t out_size = 0;
  std::uint64_t out_hash = 0;
  bool has_output = false;

  /// The number behind `name=` in the call.
  std::size_t number(char const* name, std::size_t otherwise) const
  {
    std::size_t const at = call.find(name);
    return at == std::string::npos
               ? otherwise
               : std::strtoull(call.c_str() + at + std::strlen(name), nullptr, 10);
  }
};
std::vector<listed_case> listed_cases()
{
  bytes const content = case_file("manifest.tsv");
  std::vector<listed_case> cases;
  std::vector<std::string> fields(1);
  bool heading = true;
  for (auto b : content) {
    char const c = static_cast<char>(b);
    if (c == '\t') fields.emplace_back();
    if (c != '\t' && c != '\n') fields.back() += c;
    if (c != '\n') continue;
    REQUIRE(fields.size() == 7);
    if (!heading)
      cases.push_back({fields[0], fields[1], fields[2], fields[3],
                       std::strtoull(fields[4].c_str(), nullptr, 10),
                       std::strtoull(fields[5].c_str(), nullptr, 16), !fields[5].empty()});
    heading = false;
    fields.assign(1, {});
  }
  return cases;
}

#if defined(__unix__)
/// Memory whose end is the end of what may be touched.
class guarded_room {
 public:
  explicit guarded_room(std::size_t size)
  {
    std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = round_up(size, page) + page;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + mapped_ - page, page, PROT_NONE) == 0);
    end_ = base_ + mapped_ - page;
  }
  guarded_room(guarded_room const&) = delete;
  guarded_room& operator=(guarded_room const&) = delete;
  ~guarded_room() { munmap(base_, mapped_); }
  view<std::byte> last(std::size_t n) const { return {end_ - n, n}; }

 private:
  std::size_t mapped_ = 0;
  std::byte *base_ = nullptr, *end_ = nullptr;
};
#endif

}  // namespace

TEST_SUITE("codec/lz4") {
  TEST_CASE("blocks that decoders got wrong have the listed verdicts")
  {
    auto const cases = listed_cases();
    CHECK(cases.size() == 61);
    bytes const dictionary = case_file("dict_64k.bin");
    for (auto const& c : cases) {
      CAPTURE(c.id);
      bytes const block = case_file(c.file);
      std::size_t const target = c.number("target=", SIZE_MAX);
      std::size_t const capacity = target != SIZE_MAX ? target : c.number("cap=", 0);
      bytes wrong(65536, std::byte{'x'});
      bool const with_dictionary = c.call.find("dict") != std::string::npos;
      outcome const got = decoded(block, capacity, target != SIZE_MAX,
                                  !with_dictionary             ? view<std::byte const>{}
                                  : c.expect == "caller-check" ? view<std::byte const>(wrong)
                                                               : view<std::byte const>(dictionary));
      bool const right = got.what == status::ok && got.out.size() == c.out_size &&
                         support::fnv1a(got.out) == c.out_hash;
      if (c.expect == "accept") {
        CHECK(right);
        // The plain call takes a block if it fills its output.
        if (target == SIZE_MAX && !with_dictionary) {
          bytes out(c.out_size);
          CHECK(decode<lz4<>>(block, view<std::byte>(out)) == status::ok);
          CHECK(support::fnv1a(out) == c.out_hash);
          if (capacity != c.out_size) {
            out.resize(capacity);
            CHECK(decode<lz4<>>(block, view<std::byte>(out)) == status::wrong_shape);
          }
        }
      } else if (c.expect == "reject")
        CHECK(got.what != status::ok);
      else if (c.expect == "either") {
        // These are legal but for the rules that bind encoders alone: they decode.
        if (c.has_output)
          CHECK(right);
        else
          CHECK((got.what == status::ok) == support::slow_lz4(block).legal);
      } else {
        REQUIRE(c.expect == "caller-check");
        CHECK(got.what ==
              status::ok);  // only the block around it can tell: see "a block names its dictionary"
      }
    }
  }

  TEST_CASE("a block cut anywhere is refused, or is a legal block of the bytes before the cut")
  {
    bytes const block = case_file("whole.lz4b");
    bytes const whole = decoded(block, 3000).out;
    REQUIRE(whole.size() == 3000);
    std::size_t legal = 0;
    for (std::size_t cut = 0; cut < block.size(); ++cut) {
      outcome const got = decoded({block.data(), cut}, 3000);
      auto const slow = support::slow_lz4({block.data(), cut});
      CHECK((got.what == status::ok) == slow.legal);
      if (!slow.legal) continue;
      ++legal;
      CHECK(got.out == slow.out);
      CHECK(std::equal(got.out.begin(), got.out.end(), whole.begin()));
      bytes out(3000);
      CHECK(decode<lz4<>>({block.data(), cut}, view<std::byte>(out)) == status::wrong_shape);
    }
    CHECK(legal > 0);
  }

  TEST_CASE("offset 0 and offsets before the start are refused whatever the match length")
  {
    bytes const start = support::noise(65536 + 100, 3);
    for (std::size_t literals : {8u, 40u, 65536u + 100u})
      for (std::size_t length = 4; length <= 40; ++length)
        for (std::size_t offset : {std::size_t{0}, literals + 1, std::size_t{65535}}) {
          if (offset > 65535 || (offset != 0 && offset <= literals)) continue;
          bytes block;
          auto const extend = [&](std::size_t n) {
            for (; n >= 255; n -= 255) block.push_back(std::byte{255});
            block.push_back(static_cast<std::byte>(n));
          };
          block.push_back(static_cast<std::byte>(least<std::size_t>(literals, 15) << 4 |
                                                 least<std::size_t>(length - 4, 15)));
          if (literals >= 15) extend(literals - 15);
          block.insert(block.end(), start.begin(),
                       start.begin() + static_cast<std::ptrdiff_t>(literals));
          block.push_back(static_cast<std::byte>(offset));
          block.push_back(static_cast<std::byte>(offset >> 8));
          if (length >= 19) extend(length - 19);
          block.push_back(std::byte{0xC0});
          for (int i = 0; i < 12; ++i) block.push_back(std::byte{7});
          CHECK(decoded(host_warp{}, block, literals + length + 12).what == status::corrupt_input);
          CHECK(decoded(host_warp{}, block, literals + length + 400).what == status::corrupt_input);
          if (literals < 100)
            CHECK(decoded(block, literals + length + 400).what == status::corrupt_input);
          CHECK(!support::slow_lz4(block).legal);
        }
  }

  TEST_CASE("every size up to 400 comes back, in memory of exactly that size")
  {
    for (std::size_t size = 0; size <= 400; ++size) {
      packed(support::noise(size, size));
      packed(text(size, size));
      if (size <= 300)
        for (std::size_t period = 1; period <= 16; ++period) {
          bytes const page = repeated(size, period);
          bytes const block = encoded(host_warp{}, page);
          auto const slow = support::slow_lz4(block);
          REQUIRE(slow.legal);
          REQUIRE(slow.ends_as_encoders_must);
          REQUIRE(slow.out == page);
          REQUIRE(decoded(host_warp{}, block, size).out == page);
        }
    }
    // Null pointers for nothing.
    bytes block(1);
    auto const n = encode<lz4<>>({}, block);
    REQUIRE(n);
    CHECK(*n == 1);
    CHECK(block[0] == std::byte{0});
    CHECK(decode<lz4<>>(block, view<std::byte>{}) == status::ok);
    CHECK(decode<lz4<>>({}, view<std::byte>{}) == status::corrupt_input);
    CHECK(decode<lz4<>>({}, view<std::byte>(block)) == status::corrupt_input);
  }

  TEST_CASE("pages of all kinds come back, with equal bytes from lanes and scalar code")
  {
    for (std::uint64_t seed = 0; seed < 300; ++seed) packed(mixture(seed * 7, seed));
    for (std::size_t size : {4096u, 16384u}) {
      packed(support::noise(size, 1));
      packed(support::patches(size, 2));
      packed(text(size, 3));
      packed(bytes(size));
      packed(mixture(size, 4));
      packed(mixture(size, 5));
    }
  }

  TEST_CASE("places beyond 64 KiB, long runs and their lengths")
  {
    for (std::size_t size : {65535u, 65536u, 65537u, 65549u, 200000u}) {
      packed(text(size, size));
      packed(mixture(size, size));
    }
    packed(bytes(300000));             // more than a warp's worth of extension bytes in a match
    packed(support::noise(70000, 1));  // and in literals
    packed(repeated(150000, 65535));
    packed(repeated(150000, 65536));  // out of reach by one
    packed(repeated(150000, 40000));
    bytes island = support::noise(120000, 9);
    std::copy(island.begin(), island.begin() + 20000, island.begin() + 60000);
    packed(island);
  }

  TEST_CASE("settings change the block, not what it decodes to")
  {
    bytes const page = text(20000, 8);
    bytes const usual = packed(page);
    bytes const four = packed<lz4<lz4_config{.hash_bytes = 4}>>(page);
    bytes const hasty = packed<lz4<lz4_config{.acceleration = 20}>, false>(page);
    bytes const small_table = packed<lz4<lz4_config{.hash_bits = 9}>, false>(page);
    bytes const soon_tired = packed<lz4<lz4_config{.skip_bits = 5}>, false>(page);
    CHECK(usual != four);
    CHECK(hasty.size() > usual.size());
    CHECK(small_table.size() > usual.size());
    CHECK(soon_tired != usual);
    CHECK(lz4<>::format() == lz4<lz4_config{.hash_bytes = 4}>::format());
  }

  TEST_CASE("too little room for the block is noticed, and nothing is written behind it")
  {
    for (bytes const& page : {text(700, 1), support::noise(300, 2), bytes(5000), bytes{}}) {
      bytes const block = encoded(host_warp{}, page);
      for (std::size_t room = 0; room <= block.size() + 20; ++room) {
        auto const at = [&](auto const& w) {
          exact_room const out(room, std::byte{0x33});
          auto const n = encode_to<lz4<>>(w, page, out.room());
          REQUIRE(n.has_value() == (room >= block.size()));
          if (!n)
            REQUIRE(n.error() == status::output_too_small);
          else
            REQUIRE(bytes(out.data.get(), out.data.get() + *n) == block);
        };
        at(host_warp{});
        at(support::kernel_like_warp{});
      }
    }
  }

  TEST_CASE("bounds: incompressible bytes grow by little, and the format's limit is kept")
  {
    for (std::size_t size : {0u, 1u, 15u, 255u, 256u, 5000u, 100000u}) {
      bytes const block = encoded(host_warp{}, support::noise(size, size));
      CHECK(block.size() <= size + size / 255 + 16);
    }
    CHECK(lz4<>::encoded_bound(0x7E000000) == 0x7E000000u + 0x7E000000u / 255 + 16);
    CHECK(lz4<>::encoded_bound(0x7E000001) == 0);
    // No byte of the input is looked at.
    std::byte only{};
    view<std::byte const> const huge(&only, 0x7E000001);
    CHECK(encode<lz4<>>(huge, {&only, 1}).error() == status::input_too_large);
    CHECK(encode<lz4_primed<>>(huge, {&only, 1}).error() == status::input_too_large);
  }

  TEST_CASE("a page of zeros 250 times its block, and no more room than is given")
  {
    bytes const page(8u << 20);
    bytes const block = encoded(host_warp{}, page);
    CHECK(block.size() < page.size() / 250);
    CHECK(decoded(host_warp{}, block, page.size()).out == page);
    CHECK(decoded(host_warp{}, block, page.size() - 1).what == status::output_too_small);
    CHECK(decoded(host_warp{}, block, 1000).what == status::output_too_small);
  }

  TEST_CASE("the front of a block decodes alone, also from the front of the block")
  {
    for (bytes const& page : {text(1500, 4), mixture(1500, 11), support::noise(400, 5)}) {
      bytes const block = encoded(host_warp{}, page);
      for (std::size_t target = 0; target <= page.size(); ++target) {
        bytes const front(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(target));
        REQUIRE(decoded(block, target, true) == outcome{status::ok, front});
      }
      CHECK(decoded(block, page.size() + 100, true) == outcome{status::ok, page});
      for (std::size_t cut = 1; cut < block.size(); cut += 13) {
        outcome const got = decoded({block.data(), cut}, page.size() / 3, true);
        if (got.what == status::ok) CHECK(std::equal(got.out.begin(), got.out.end(), page.begin()));
      }
    }
  }

#if defined(__unix__)
  TEST_CASE("nothing is touched behind input or output: both end at a page that faults")
  {
    guarded_room const in(2000), out(2000);
    for (std::size_t size = 1; size <= 300; ++size)
      for (bytes const& page :
           {support::noise(size, size), text(size, size), repeated(size, 1 + size % 20)}) {
        bytes const block = encoded(host_warp{}, page);
        view<std::byte> const from = in.last(block.size()), to = out.last(size);
        std::copy(block.begin(), block.end(), from.begin());
        on_warps([&](auto const& w) {
          std::fill(to.begin(), to.end(), std::byte{});
          REQUIRE(lz4<>::decode(w, from, to) == status::ok);
          REQUIRE(std::equal(to.begin(), to.end(), page.begin()));
        });
        std::copy(page.begin(), page.end(), in.last(size).begin());
        auto const n = encode_to<lz4<>>(host_warp{}, in.last(size), out.last(block.size()));
        REQUIRE(n);
        REQUIRE(std::equal(block.begin(), block.end(), out.last(block.size()).begin()));
      }
  }
#endif

  TEST_CASE(
      "damaged blocks: one verdict and the same bytes everywhere, whatever the output held before")
  {
    support::random_source next(77);
    std::size_t accepted = 0;
    for (int i = 0; i < 1000; ++i) {
      bytes const page =
          i % 2 == 0 ? mixture(100 + next.below(900), next()) : text(100 + next.below(900), next());
      bytes block = encoded(host_warp{}, page);
      for (std::uint32_t n = 1 + next.below(4); n > 0; --n) switch (next.below(3)) {
          case 0:
            block[next.below(static_cast<std::uint32_t>(block.size()))] ^=
                static_cast<std::byte>(1u << next.below(8));
            break;
          case 1:
            block[next.below(static_cast<std::uint32_t>(block.size()))] =
                static_cast<std::byte>(next());
            break;
          default: block.resize(1 + next.below(static_cast<std::uint32_t>(block.size()))); break;
        }
      std::size_t const capacity =
          next.below(3) == 0 ? page.size() : page.size() + next.below(2000);
      outcome const got = decoded(block, capacity);  // compares warps and old contents
      auto const slow = support::slow_lz4(block);
      bool const fits = slow.legal && slow.out.size() <= capacity;
      REQUIRE((got.what == status::ok) == fits);
      if (fits) REQUIRE(got.out == slow.out);
      accepted += fits;
      decoded(block, capacity / 2, true);
    }
    CHECK(accepted > 50);
    CHECK(accepted < 950);
  }

  TEST_CASE("with a dictionary: pages in any order, by lanes and scalar code alike")
  {
    bytes const sample = text(70000, 12);
    for (std::size_t size : {0u, 1u, 7u, 8u, 300u, 65535u, 65536u, 70000u}) {
      view<std::byte const> const words(sample.data(), size);
      auto const dictionary = std::make_unique<lz4_dictionary<>>(words);
      lz4_prefix const prefix = dictionary->reader();
      std::vector<bytes> pages, blocks;
      for (std::uint64_t i = 0; i < 100; ++i) {
        bytes page = text(i * 9, 100 + i);
        if (i % 4 == 1 && size > 100)  // matches that start in the dictionary and go on in the page
          page.insert(page.begin(), words.end() - 60, words.end());
        if (i % 10 == 3) page = mixture(3000, i);
        bytes const block = encoded<lz4_primed<>>(host_warp{}, page, prefix);
        if (i % 8 == 0)
          REQUIRE(encoded<lz4_primed<>>(support::kernel_like_warp{}, page, prefix) == block);
        auto const slow = support::slow_lz4(block, words);
        REQUIRE(slow.legal);
        REQUIRE(slow.ends_as_encoders_must);
        REQUIRE(slow.out == page);
        pages.push_back(page);
        blocks.push_back(block);
      }
      for (std::size_t i = 0; i < pages.size(); ++i) {
        std::size_t const j = i * 37 % pages.size();
        REQUIRE(decoded(blocks[j], pages[j].size(), false, words) == outcome{status::ok, pages[j]});
        bytes out(pages[j].size());
        REQUIRE(decode<lz4_primed<>>(blocks[j], view<std::byte>(out), prefix) == status::ok);
        REQUIRE(out == pages[j]);
      }
    }
  }

  TEST_CASE("a dictionary makes pages like it smaller")
  {
    bytes const sample = text(40000, 12);
    auto const dictionary = std::make_unique<lz4_dictionary<>>(view<std::byte const>(sample));
    bytes const page = text(4096, 13);
    CHECK(encoded<lz4_primed<>>(host_warp{}, page, dictionary->reader()).size() <
          encoded(host_warp{}, page).size() * 9 / 10);
  }

  TEST_CASE("a block names its dictionary and refuses another")
  {
    bytes const sample = text(5000, 1), other = text(5000, 2), page = text(3000, 3);
    auto const right = std::make_unique<lz4_dictionary<>>(view<std::byte const>(sample));
    auto const wrong = std::make_unique<lz4_dictionary<>>(view<std::byte const>(other));
    bytes block(block_bound<lz4_primed<>>(page.size())), out(page.size());
    auto const n =
        write_block<lz4_primed<>>(view<std::byte const>(page), block, {}, right->reader());
    REQUIRE(n);
    CHECK(*n < page.size());
    view<std::byte const> const stored(block.data(), *n);
    CHECK(read_block<lz4_primed<>>(stored, view<std::byte>(out), {}, wrong->reader()) ==
          status::wrong_table);
    CHECK(read_block<lz4<>>(stored, view<std::byte>(out)) == status::wrong_format);
    CHECK(read_block<lz4_primed<>>(stored, view<std::byte>(out), {}, right->reader()) ==
          status::ok);
    CHECK(out == page);
    // Without a table one can decode but not encode.
    auto const s = std::make_unique<lz4_primed<>::scratch<host_warp>>();
    CHECK(lz4_primed<>::encode(host_warp{}, *s, view<std::byte const>(page), block, {sample})
              .error() == status::wrong_table);
  }

  TEST_CASE("in a block every flipped bit and every cut is noticed")
  {
    bytes const page = text(400, 21);
    bytes block(block_bound<lz4<>>(page.size())), out(page.size());
    auto const n = write_block<lz4<>>(view<std::byte const>(page), block);
    REQUIRE(n);
    block.resize(*n);
    CHECK(*n < page.size());
    for (std::size_t bit = 0; bit < 8 * block.size(); ++bit) {
      block[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      CHECK(read_block<lz4<>>(block, view<std::byte>(out)) != status::ok);
      block[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    }
    for (std::size_t cut = 0; cut < block.size(); ++cut)
      CHECK(read_block<lz4<>>({block.data(), cut}, view<std::byte>(out)) != status::ok);
    CHECK(read_block<lz4<>>(block, view<std::byte>(out)) == status::ok);
    CHECK(out == page);
  }

  TEST_CASE("a warp that watches its memory finds nothing and writes the same bytes")
  {
    audit_log log;
    audit_warp const w(log);
    auto const s = std::make_unique<lz4<>::scratch<audit_warp>>();
    bytes const sample = text(900, 6);
    auto const dictionary = std::make_unique<lz4_dictionary<>>(view<std::byte const>(sample));
    for (bytes const& page :
         {text(1500, 6), support::noise(600, 7), repeated(700, 3), repeated(900, 45),
          mixture(1200, 3), bytes(9000), bytes(5), bytes{}}) {
      bytes const block = encoded(host_warp{}, page);
      bytes out(lz4<>::encoded_bound(page.size())), back(page.size());
      auto const n = lz4<>::encode(w, *s, view<std::byte const>(page), out);
      REQUIRE(n);
      CHECK(bytes(out.data(), out.data() + *n) == block);
      w.sync();
      CHECK(lz4<>::decode(w, *s, block, back) == status::ok);
      CHECK(back == page);
      bytes const primed = encoded<lz4_primed<>>(host_warp{}, page, dictionary->reader());
      out.assign(out.size(), std::byte{});
      auto const m =
          lz4_primed<>::encode(w, *s, view<std::byte const>(page), out, dictionary->reader());
      REQUIRE(m);
      CHECK(bytes(out.data(), out.data() + *m) == primed);
      back.assign(back.size(), std::byte{1});
      CHECK(lz4_primed<>::decode(w, *s, primed, back, dictionary->reader()) == status::ok);
      CHECK(back == page);
    }
    for (auto const& r : log.records()) MESSAGE(audit_fault_name(r.what));
    CHECK(log.count() == 0);
  }

  TEST_CASE("bytes of this version")
  {
    // One match of period 7, one that reaches back to its second round, and the last literals.
    bytes page;
    for (int i = 0; i < 30; ++i)
      for (char c : {'a', 'b', 'c', 'd', 'e', 'f', 'g'}) page.push_back(static_cast<std::byte>(c));
    for (char c : {'-', 'a', 'b', 'c', 'd', 'e', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9'})
      page.push_back(static_cast<std::byte>(c));
    unsigned char const expected[] = {0x7F, 'a', 'b',  'c', 'd', 'e',  'f',  'g', 7,
                                      0,    184, 0x11, '-', 204, 0x00, 0xA0, '-', '1',
                                      '2',  '3', '4',  '5', '6', '7',  '8',  '9'};
    bytes golden(sizeof expected);
    std::memcpy(golden.data(), expected, sizeof expected);
    CHECK(packed(page) == golden);
    CHECK(support::fnv1a(encoded(host_warp{}, text(20000, 1))) == 15502525154157176760u);
    CHECK(support::fnv1a(encoded(host_warp{}, support::patches(20000, 2))) ==
          16396625407417410235u);
    CHECK(support::fnv1a(encoded(host_warp{}, mixture(200000, 3))) == 16851808307542259695u);
    CHECK(support::fnv1a(encoded<lz4<lz4_config{.hash_bytes = 4}>>(host_warp{}, text(20000, 1))) ==
          7538795024761433458u);
    CHECK(lz4<>::format().value == 3342713029u);
    CHECK(lz4_primed<>::format().value == 3571114837u);
  }

#if defined(SORA2_HAS_LZ4)
  TEST_CASE("10,000 pages go through the reference library and back, both ways")
  {
    auto const chars = [](auto* p) { return reinterpret_cast<char*>(p); };
    auto const s = std::make_unique<lz4<>::scratch<host_warp>>();
    auto const both_ways = [&](view<std::byte const> page) {
      int const size = static_cast<int>(page.size);
      bytes block(lz4<>::encoded_bound(page.size)), back(page.size + 1);
      auto const n = lz4<>::encode(host_warp{}, *s, page, block);
      REQUIRE(n);
      REQUIRE(LZ4_decompress_safe(chars(block.data()), chars(back.data()), static_cast<int>(*n),
                                  size) == size);
      REQUIRE(std::equal(page.begin(), page.end(), back.begin()));
      std::fill(back.begin(), back.end(), std::byte{0xEE});
      int const m = LZ4_compress_default(reinterpret_cast<char const*>(page.data),
                                         chars(block.data()), size, static_cast<int>(block.size()));
      REQUIRE(m > 0);
      view<std::byte const> const theirs(block.data(), static_cast<std::size_t>(m));
      REQUIRE(decode<lz4<>>(theirs, view<std::byte>(back.data(), page.size)) == status::ok);
      REQUIRE(std::equal(page.begin(), page.end(), back.begin()));
      return theirs;
    };
    for (std::uint64_t seed = 0; seed < 9700; ++seed) {
      bytes const page = seed % 3 == 0 ? text(seed % 1500, seed) : mixture(seed % 1500, seed);
      bytes block(lz4<>::encoded_bound(page.size()));
      both_ways(page);
    }
    for (std::uint64_t seed = 0; seed < 300; ++seed) both_ways(mixture(4096 + 211 * seed, seed));
  }

  TEST_CASE("what the reference library refuses of damaged blocks, this decoder refuses")
  {
    support::random_source next(5);
    for (int i = 0; i < 2000; ++i) {
      bytes const page = mixture(50 + next.below(500), next());
      bytes block = encoded(host_warp{}, page), out(page.size());
      block[next.below(static_cast<std::uint32_t>(block.size()))] = static_cast<std::byte>(next());
      int const n = LZ4_decompress_safe(
          reinterpret_cast<char const*>(block.data()), reinterpret_cast<char*>(out.data()),
          static_cast<int>(block.size()), static_cast<int>(out.size()));
      outcome const got = decoded(host_warp{}, block, page.size());
      // Of blocks with a late match or few closing literals, which only encoders must not write, it refuses some.
      auto const slow = support::slow_lz4(block);
      if (n < 0 && slow.legal && slow.ends_as_encoders_must) CHECK(got.what != status::ok);
      if (n >= 0 && slow.legal) CHECK(got.out == bytes(out.begin(), out.begin() + n));
    }
  }

#if defined(SORA2_SHARED_DIR)
  TEST_CASE("real data goes through the reference library and back, both ways")
  {
    std::string const folder = SORA2_SHARED_DIR "/data/";
    std::size_t pages = 0, ours = 0, theirs = 0;
    for (char const* name :
         {"text/dpkg.log", "text/prose.txt", "text/records.json", "text/source.py",
          "text/tokenizer.json", "kv/chat_512.safetensors", "weights/pair_bf16_base.safetensors",
          "frames/bikes_luma.safetensors", "series/seis_1hz_day.safetensors"}) {
      bool found = false;
      bytes const file = support::file_bytes(folder + name, found);
      if (!found) {
        MESSAGE("skipped: no " << name);
        continue;
      }
      for (std::size_t size : {std::size_t{4096}, std::size_t{65536}, file.size()})
        for (std::size_t at = 0; at < least<std::size_t>(file.size(), 400000); at += size) {
          view<std::byte const> const page(file.data() + at, least(size, file.size() - at));
          bytes block(lz4<>::encoded_bound(page.size)), back(page.size);
          auto const n = encode<lz4<>>(page, block);
          REQUIRE(n);
          int const bytes_back = static_cast<int>(page.size);
          REQUIRE(LZ4_decompress_safe(reinterpret_cast<char*>(block.data()),
                                      reinterpret_cast<char*>(back.data()), static_cast<int>(*n),
                                      bytes_back) == bytes_back);
          REQUIRE(std::equal(page.begin(), page.end(), back.begin()));
          if (pages % 16 == 0 && page.size <= 65536)
            REQUIRE(encoded(support::kernel_like_warp{}, page) ==
                    bytes(block.data(), block.data() + *n));
          int const m = LZ4_compress_default(reinterpret_cast<char const*>(page.data),
                                             reinterpret_cast<char*>(block.data()), bytes_back,
                                             static_cast<int>(block.size()));
          std::fill(back.begin(), back.end(), std::byte{});
          REQUIRE(decode<lz4<>>({block.data(), static_cast<std::size_t>(m)},
                                view<std::byte>(back)) == status::ok);
          REQUIRE(std::equal(page.begin(), page.end(), back.begin()));
          ++pages;
          if (std::string(name).starts_with("text/")) {
            ours += *n;
            theirs += static_cast<std::size_t>(m);
          }
        }
    }
    MESSAGE(pages << " pages");
    CHECK(static_cast<double>(ours) <= static_cast<double>(theirs) / 0.98);
  }
#endif
#endif
}
